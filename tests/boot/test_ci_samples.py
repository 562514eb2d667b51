"""The samples for pipelines name commands and options that exist, and no key."""

import re
import shlex
from pathlib import Path

import pytest
import typer
import yaml

from horae.boot.cli import whole

SAMPLES = sorted((Path(__file__).parents[2] / "examples/ci").glob("*.yml"))


def texts(value):
    """Every text in a document, with its key."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from ((key, text) for _, text in texts(one)) if not isinstance(one, str) else [(key, one)]
            if key == "args":
                yield key, "horae " + " ".join(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)
    else:
        yield None, str(value)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.stem)
def test_a_sample_plans_or_applies_with_a_key_that_is_kept_elsewhere(sample, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.yaml").write_text("jobs: {}")
    text = sample.read_text()
    lines = [line for _, line in texts(yaml.safe_load(text)) if line.startswith("horae ")]
    assert any(line.startswith("horae apply") for line in lines), lines
    for line in lines:
        _, name, *words = shlex.split(line.replace("/schedules/jobs.yaml", "jobs.yaml"))
        typer.main.get_command(whole()).commands[name].make_context(line, words)
    assert "HORAE_URL" in text
    assert re.search(r"HORAE_KEY\b|HORAE_KEY_FILE", text)
    assert not re.search(r"horae_[a-z0-9]{20}", text), "a key is a secret of the pipeline"
    assert "HORAE_DSN" not in text

"""The real promtool accepts what `deploy/prometheus` has."""

import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "deploy/prometheus"


@pytest.mark.parametrize(
    "words",
    [
        ("check", "rules", "horae.rules.yml"),
        ("check", "config", "prometheus.yml"),
        ("test", "rules", "horae.rules.test.yml"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_promtool_accepts_the_rules_and_their_tests(words):
    done = subprocess.run(["promtool", *words], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

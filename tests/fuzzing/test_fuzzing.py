"""Every target takes thousands of inputs, led by coverage, without a crash; a million each in the long run."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzzing import TARGETS

ROOT = Path(__file__).parents[2]
WORDS = Path(__file__).parent / "words"
SEED, LONGEST, SECONDS = 7, 400, 30
"""The seed of the run, the longest input in bytes, and how many seconds one may take before it is a crash."""


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("runs", [5_000, pytest.param(1_000_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", TARGETS)
def test_no_input_breaks_it(name, runs, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzzing", name, *options(name, runs, tmp_path)],
        cwd=ROOT,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    assert int(re.search(r"Done (\d+) runs", done.stderr)[1]) >= runs
    assert covered(done.stderr) > 15, "it was led by coverage"


def options(name: str, runs: int, folder: Path) -> list[str]:
    """A fresh corpus that begins with the seeds, and the words that the target's language has."""
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(importlib.import_module(f"tests.fuzzing.{TARGETS[name]}").SEEDS):
        (corpus / f"seed-{number}").write_bytes(seed)
    words = WORDS / f"{name}.dict"
    return [
        *(f"-runs={runs}", f"-seed={SEED}", f"-max_len={LONGEST}", f"-timeout={SECONDS}", "-rss_limit_mb=2048"),
        *(f"-artifact_prefix={folder}/", "-print_final_stats=1"),
        *([f"-dict={words}"] if words.exists() else []),
        str(corpus),
    ]


def covered(said: str) -> int:
    """How many places of our code were seen, at the end."""
    return max(int(found) for found in re.findall(r"\bcov: (\d+)", said))

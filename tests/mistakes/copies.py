"""A copy of source and tests in a folder of its own, a mistake that is put into it, and a run of tests there."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.mistakes.plants import Plant

ROOT = Path(__file__).parents[2]
COPIED_FOLDERS = ("src", "tests")
LEFT_OUT = shutil.ignore_patterns("*-pytest-*.pyc")
"""Bytecode of the tests, which names the files that it was made from."""
WITH_US = ("setpriv", "--pdeathsig", "INT", "--")
"""The kernel interrupts a run whose outer run is gone."""
OWN_ASSERTION = re.compile(r"^tests/[\w/]+\.py:\d+: (AssertionError|Failed)$", re.MULTILINE)
"""The end of a traceback that a test itself ended, by an assertion or because nothing was raised."""
TIMEOUT = "from pytest-timeout"
GOODBYE_S = 60.0
"""Seconds that an interrupted run has to stop the servers that it started."""


class Report(NamedTuple):
    """The exit code of a run of pytest, and all that it printed."""

    exit_code: int
    text: str

    def imports_from(self, folder: Path) -> bool:
        """Whether the run imported the source of this folder."""
        return f"horae: {folder}/src/horae/__init__.py" in self.text

    def fails_by_assertion(self, test: str) -> bool:
        """Whether this test failed, and failed by an assertion: not by an error, a timeout or a missing name."""
        return f"FAILED {test}" in self.text and bool(OWN_ASSERTION.search(self.text)) and TIMEOUT not in self.text


def make_copy(folder: Path) -> None:
    """Copy source, tests and settings."""
    for name in COPIED_FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=LEFT_OUT)
    shutil.copy(ROOT / "pyproject.toml", folder)


def put_back(plant: Plant, folder: Path) -> None:
    """Replace the one place of the plant's file by its mistake; bytecode without it goes."""
    file = folder / plant.file
    source = file.read_text()
    assert source.count(plant.text) == 1, f"{plant.finding}: {plant.file} has changed; where is {plant.text!r}?"
    file.write_text(source.replace(plant.text, plant.mistake))
    shutil.rmtree(file.parent / "__pycache__", ignore_errors=True)


def run_tests(folder: Path, *tests: str) -> Report:
    """Run tests of the copy with the source of the copy, up to the first that fails."""
    options = ["-p", "no:cacheprovider", "-p", "tests.mistakes.origin", "-n", "0", "-x"]
    process = subprocess.Popen(
        [*WITH_US, sys.executable, "-m", "pytest", *options, *tests],
        cwd=folder,
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        text, _ = process.communicate()
    finally:
        _end(process)
    return Report(process.returncode, text)


def _environment(folder: Path) -> dict[str, str]:
    """Ours, without what an outer run of pytest tells its own tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return kept | {"PYTHONPATH": str(folder / "src")}


def _end(process: "subprocess.Popen[str]") -> None:
    """Interrupt a run that nobody waits for any more: it stops its own servers."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=GOODBYE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()

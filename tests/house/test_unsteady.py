"""The second try of `.ci/run`: once, alone, at the end, and shown."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unsteady import BEARABLE

ROOT = Path(__file__).parents[2]
CONFTEST = "from tests.unsteady import pytest_addoption, pytest_sessionfinish, pytest_terminal_summary\n"
TESTS = """
import pytest
from pathlib import Path

TRIES = Path(__file__).with_name("tries")


@pytest.mark.parametrize("number", range({many}))
def test_it_passes_in_its_last_try(number):
    with TRIES.open("a") as log:
        log.write(f"{{number}}\\n")
    assert TRIES.read_text().split().count(str(number)) == {tries}
"""


@pytest.mark.parametrize(
    ("many", "tries", "options", "passes", "tried"),
    [
        (1, 2, ["--again"], True, 2),
        (1, 2, [], False, 1),
        (1, 3, ["--again"], False, 2),
        (BEARABLE + 1, 2, ["--again"], False, BEARABLE + 1),
    ],
    ids=["passes alone", "nobody asked", "fails alone", "too many"],
)
def test_failed_tests_are_tried_once_more(tmp_path, many, tries, options, passes, tried):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_some.py").write_text(TESTS.format(many=many, tries=tries))
    command = [sys.executable, "-m", "pytest", "-n", "1", "-c", "/dev/null", "--rootdir", tmp_path, *options, "."]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode == 0) == passes, done.stdout
    assert len((tmp_path / "tries").read_text().split()) == tried
    assert ("unsteady: test_some.py::test_it_passes_in_its_last_try[0]" in done.stdout) == passes
    assert done.stdout.splitlines()[-1].count("unsteady") == passes, "the closing line counts it"

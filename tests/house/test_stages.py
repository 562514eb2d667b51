"""The three stages of the suite together run every test file, each in one stage."""

import ast
import shlex
import subprocess
import tomllib
from itertools import combinations
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = {path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py")}
STAGES = ("quick", "test", "proof")
IGNORE = "--ignore="
ANOTHER_SERVER = "HORAE_TEST_POSTGRES_BIN="
"""Part of a line that runs tests a second time, on another version of PostgreSQL."""
DATABASE = {"cluster", "store", "ctx"}
"""Fixtures that start PostgreSQL."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def pytest_arguments(target: str) -> list[str]:
    """The arguments with which a target of the Makefile starts pytest."""
    command = ["make", "--no-print-directory", "--dry-run", target]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = [line for line in printed.splitlines() if "/pytest " in line]
    (line,) = (line for line in lines if ANOTHER_SERVER not in line)
    return shlex.split(line)[1:]


def files_of(stage: str) -> set[Path]:
    """The test files that pytest finds with the paths of a stage."""
    arguments = pytest_arguments(stage)
    ignored = {Path(one.removeprefix(IGNORE)) for one in arguments if one.startswith(IGNORE)}
    named = {Path(one) for one in arguments if one.startswith("tests/")}
    assert all((ROOT / path).exists() for path in named | ignored)
    return {file for file in FILES if named & {file, *file.parents} and not ignored & {file, *file.parents}}


def options_of(target: str) -> list[str]:
    """The arguments that are not paths and do not name the file of the results."""
    return [one for one in pytest_arguments(target) if not one.startswith(("tests/", IGNORE, "--junitxml="))]


def test_the_stages_together_run_every_test_file():
    assert set().union(*map(files_of, STAGES)) == FILES


@pytest.mark.parametrize(("one", "other"), [*combinations(STAGES, 2)])
def test_no_test_file_is_in_two_stages(one, other):
    assert not files_of(one) & files_of(other)


def test_the_suite_runs_everything_in_one_process():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    assert settings["testpaths"] == ["tests"]
    assert not any(one.startswith(("tests/", IGNORE)) for one in pytest_arguments("suite"))


def test_every_stage_runs_with_the_options_of_the_suite():
    suite = options_of("suite")
    assert options_of("test") == options_of("proof") == suite
    assert options_of("quick") == [one for one in suite if not one.startswith("--durations")]


def test_the_quick_stage_needs_no_database():
    for file in files_of("quick"):
        functions = [node for node in ast.walk(ast.parse((ROOT / file).read_text())) if isinstance(node, FUNCTIONS)]
        tests = [node for node in functions if node.name.startswith("test_")]
        assert not [test.name for test in tests if DATABASE & {one.arg for one in test.args.args}], file

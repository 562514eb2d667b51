"""Every hardening row has a line in the table, and the table names tests and faults that are there."""

import ast
import re
from pathlib import Path

from tests.long.table import TABLE, read_rows

ROOT = Path(__file__).parents[2]
ALL_ROWS = [*(f"R-{n:02}" for n in range(1, 30)), *(f"S-{n:02}" for n in range(1, 19))]
ROWS_OF_INSTALLATION = [f"I-{n:02}" for n in range(1, 7)]
FOLDERS_OF_INSTALLATION = ("deploy", "start")
ROWS_OF_OPERATION = [f"O-{n:02}" for n in range(1, 9)]
FOLDERS_OF_OPERATION = ("certificates", "drills", "fire_audit")
ROWS_OF_WORKFLOWS = [f"W-{n:02}" for n in range(1, 7)]
ROWS = read_rows(TABLE.read_text())


def functions_of(path: Path) -> set[str]:
    found = ast.walk(ast.parse(path.read_text()))
    return {node.name for node in found if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def long_tests_of(path: Path) -> set[str]:
    """The tests of a file that are marked as long: each by itself, or all of them by `pytestmark`."""
    tree = ast.parse(path.read_text())
    whole = any(isinstance(node, ast.Assign) and "mark.long" in ast.unparse(node) for node in tree.body)
    tests = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {
        node.name
        for node in tests
        if node.name.startswith("test_")
        and (whole or any("mark.long" in ast.unparse(one) for one in node.decorator_list))
    }


def faults() -> set[str]:
    files = (ROOT / "tests" / "system" / "faults").glob("*.py")
    return {name for file in files for name in re.findall(r"^    name = \"([\w-]+)\"$", file.read_text(), re.MULTILINE)}


def test_there_are_forty_seven_rows_and_each_has_one_line():
    assert len(ALL_ROWS) == 47
    assert [row.name for row in ROWS] == [*ALL_ROWS, *ROWS_OF_INSTALLATION, *ROWS_OF_OPERATION, *ROWS_OF_WORKFLOWS]


def test_every_long_test_of_installation_and_operation_has_a_row():
    named = {test for row in ROWS for test in row.tests}
    folders = (*FOLDERS_OF_INSTALLATION, *FOLDERS_OF_OPERATION)
    files = [file for folder in folders for file in (ROOT / "tests" / folder).glob("test_*.py")]
    found = {f"{file.relative_to(ROOT)}::{name}" for file in files for name in long_tests_of(file)}
    assert found
    assert found <= named


def test_every_test_the_table_names_exists():
    for row in ROWS:
        assert row.tests, row.line
        for test in row.tests:
            path, _, name = test.partition("::")
            assert name in functions_of(ROOT / path), test


def test_everything_in_the_table_that_looks_like_a_test_is_read_as_one():
    for row in ROWS:
        assert len(row.tests) == row.line.count("`tests/"), row.line


def test_every_fault_the_table_names_exists():
    for row in ROWS:
        assert set(row.faults) <= faults(), row.line


def test_every_line_says_how_large_it_is_in_both_runs():
    for row in ROWS:
        cells = [cell.strip() for cell in row.line.strip("|").split(" | ")]
        assert len(cells) == 5, row.line
        assert all(cells)

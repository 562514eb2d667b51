"""The table of hardening rows names tests and faults that are there."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINES = [
    line for line in (ROOT / "docs" / "proof" / "hardening.md").read_text().splitlines() if line.startswith("| R-")
]
ROWS = {1, 2, 3, 6, *range(8, 15), *range(16, 19), 20, 21, 26, 27}


def functions_of(path: Path) -> set[str]:
    found = ast.walk(ast.parse(path.read_text()))
    return {node.name for node in found if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def faults() -> set[str]:
    files = (ROOT / "tests" / "system" / "faults").glob("*.py")
    return {name for file in files for name in re.findall(r"^    name = \"([\w-]+)\"$", file.read_text(), re.MULTILINE)}


def test_every_row_has_a_line():
    assert [int(re.match(r"\| R-(\d+)", line)[1]) for line in LINES] == sorted(ROWS)


def test_every_test_the_table_names_exists():
    for line in LINES:
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", line)
        assert named, line
        for path, name in named:
            assert name in functions_of(ROOT / path), f"{path}::{name}"


def test_every_fault_the_table_names_exists():
    for line in LINES:
        for words in re.findall(r"; faults? ((?:`[\w-]+`(?:, )?)+)", line):
            assert set(re.findall(r"`([\w-]+)`", words)) <= faults()


def test_every_line_says_how_large_it_is_in_both_runs():
    for line in LINES:
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        assert len(cells) == 5, line
        assert all(cells)

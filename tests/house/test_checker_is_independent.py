"""A second opinion that shares the product's code would share its mistakes."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECOND_OPINIONS = [
    *sorted((ROOT / "tests" / "system" / "checker").glob("*.py")),
    ROOT / "tests" / "system" / "evidence.py",
    ROOT / "tests" / "domain" / "cron" / "oracle.py",
]
MAY_IMPORT = {"tests.system.checker", "tests.system.evidence", "tests.domain.cron.oracle"}


def imported(file):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_the_history_checker_and_its_oracle_import_nothing_of_the_product():
    assert len(SECOND_OPINIONS) > 10
    for file in SECOND_OPINIONS:
        for name in imported(file):
            assert not name.startswith("horae"), f"{file.name} imports {name}"
            if name.startswith("tests"):
                ours = any(name == one or name.startswith(f"{one}.") for one in MAY_IMPORT)
                assert ours, f"{file.name} imports {name}"

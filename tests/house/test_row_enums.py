"""N4: a value out of a row is a plain number or text; it equals a member of its enum and is never that member."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "horae"
FILES = sorted(SOURCE.rglob("*.py"))
KINDS = {"IntEnum", "StrEnum"}


def enums() -> set[str]:
    """Every enum whose members equal a plain value."""
    return {
        node.name
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id in KINDS for base in node.bases)
    }


def enums_of_rows() -> set[str]:
    """Those that a module which knows tables names: their values stand in columns."""
    named = {
        alias.asname or alias.name
        for file in FILES
        if file.is_relative_to(SOURCE / "store") or file.is_relative_to(SOURCE / "repositories")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return named & enums()


def compared_by_identity(code: str, names: set[str]) -> list[int]:
    """The lines in which a member of one of these enums is compared by `is`."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Compare) and any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops)
        for side in (node.left, *node.comparators)
        if isinstance(side, ast.Attribute) and isinstance(side.value, ast.Name) and side.value.id in names
    ]


def test_the_enums_that_rows_hold_are_known():
    assert {"Lane", "Priority", "State", "Status"} <= enums_of_rows()


@pytest.mark.parametrize("code", ["if row.lane is Lane.RETRY: pass", "found = Lane.RETRY is not one.lane"])
def test_a_comparison_by_identity_is_found(code):
    assert compared_by_identity(code, {"Lane"}) == [1]
    assert compared_by_identity(code.replace("is not", "!=").replace(" is ", " == "), {"Lane"}) == []


def test_enums_that_rows_hold_are_compared_by_value():
    names = enums_of_rows()
    found = {str(file.relative_to(SOURCE)): compared_by_identity(file.read_text(), names) for file in FILES}
    assert {file: lines for file, lines in found.items() if lines} == {}

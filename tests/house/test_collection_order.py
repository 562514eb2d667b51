"""Tests are collected in one order: the workers of a run compare theirs, and run nothing where two differ."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(path for folder in ("tests", "sdk") for path in (ROOT / folder).rglob("test_*.py"))


def is_set(node: ast.expr) -> bool:
    """Whether an expression is a set of its own: its order differs from process to process."""
    match node:
        case ast.Set() | ast.SetComp() | ast.Call(func=ast.Name(id="set" | "frozenset")):
            return True
        case ast.BinOp(left=left, right=right):
            return is_set(left) or is_set(right)
        case _:
            return False


def parametrized_by_a_set(code: str) -> list[int]:
    """The lines in which the values of a parameter come out of a set."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("parametrize") and any(map(is_set, node.args))
    ]


def test_no_parameter_has_its_values_from_a_set():
    found = {str(path.relative_to(ROOT)): lines for path in FILES if (lines := parametrized_by_a_set(path.read_text()))}
    assert found == {}, "put them in a list, or sort them"


@pytest.mark.parametrize("values", ["{1, 2}", "set(Kind) - {Kind.A}", "{one for one in Kind}", "frozenset(Kind)"])
def test_a_set_is_seen(values):
    assert parametrized_by_a_set(f"@pytest.mark.parametrize('kind', {values})\ndef test_it(kind): ...") == [1]

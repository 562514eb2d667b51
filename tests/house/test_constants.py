"""A constant says its subject and its unit: `RETRY_PAUSE_S`, not `PAUSE`. One constant stands on one line."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "horae"
UNITS = (
    *("_S", "_MS", "_PER_S", "_TTLS"),
    *("_BYTES", "_RETRIES", "_TOKENS"),
    *("_SHARE", "_RATIO", "_FACTOR"),
)
"""The last word of a name. A TTL is the lifetime of a lease; shares, ratios and factors are parts of something else."""
WITHOUT_UNIT = {"P95": "a quantile has no unit, and its name is its value"}


def constants(source: str) -> Iterator[tuple[ast.Assign | ast.AnnAssign, list[str]]]:
    """Each assignment of constants at the top of a module, with their names."""
    for node in ast.parse(source).body:
        match node:
            case ast.Assign(targets=targets):
                pass
            case ast.AnnAssign(target=target, value=ast.expr()):
                targets = [target]
            case _:
                continue
        names = [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
        if any(name.isupper() for name in names):
            yield node, names


def is_float(value: ast.expr | None) -> bool:
    """Whether an expression is a float, or a calculation with numbers of which one is a float or that divides."""
    match value:
        case ast.Constant(value=number):
            return isinstance(number, float)
        case ast.UnaryOp(operand=operand):
            return is_float(operand)
        case ast.BinOp(left=ast.Constant(value=int()), op=ast.Div(), right=ast.Constant(value=int())):
            return True
        case ast.BinOp(left=left, right=right):
            return is_float(left) or is_float(right)
    return False


def without_unit(source: str) -> list[str]:
    """The constants with a float whose name does not end in a unit."""
    floats = [name for node, names in constants(source) if is_float(node.value) for name in names]
    return [name for name in floats if not name.endswith(UNITS) and name not in WITHOUT_UNIT]


def sharing_a_line(source: str) -> list[list[str]]:
    """The constants that are assigned together."""
    return [names for _, names in constants(source) if len(names) > 1]


def modules() -> Iterator[tuple[str, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield str(path.relative_to(SOURCE)), path.read_text()


def test_the_name_of_every_float_ends_in_its_unit():
    assert not {name: found for name, source in modules() if (found := without_unit(source))}


def test_every_constant_has_a_line_of_its_own():
    assert not {name: found for name, source in modules() if (found := sharing_a_line(source))}


def test_every_name_that_needs_no_unit_is_in_use():
    used = {
        name for _, source in modules() for node, names in constants(source) if is_float(node.value) for name in names
    }
    assert WITHOUT_UNIT.keys() <= used


@pytest.mark.parametrize(
    "source", ["PAUSE = 1.0", "PAUSE: Final = 1.0", "BEAT: Final = 1 / 4", "LONGEST = 366 * 86_400.0", "LEAST = -1.0"]
)
def test_a_float_without_a_unit_is_found(source):
    assert without_unit(source)


@pytest.mark.parametrize(
    "source", ["PAUSE_S = 1.0", "BEAT_TTLS: Final = 1 / 4", "P95 = 0.95", "TRIES = 5", "pause = 1.0"]
)
def test_a_float_with_a_unit_and_any_other_value_pass(source):
    assert not without_unit(source)


@pytest.mark.parametrize("source", ["PAUSE_S, TRIES = 1.0, 2", "ROLL_S = PULSE_S = 1.0"])
def test_constants_that_share_a_line_are_found(source):
    assert sharing_a_line(source)

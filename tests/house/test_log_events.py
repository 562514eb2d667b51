"""The names of log events are committed: operators search for them, so a review sees a rename.

`python -m tests.house.test_log_events` writes the list.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "horae"
EVENTS = Path(__file__).with_name("log_events.txt")
TELEMETRY = SOURCE / "runtime" / "telemetry.py"
"""It logs events whose names its callers give."""
LEVELS = {"debug", "info", "warning", "error", "exception", "critical"}
NAME = re.compile(r"[a-z_]+\.([a-z_]+|\{\w+\})")


def events_in(tree: ast.Module) -> Iterator[str]:
    """The event of each call of `log.<level>(…)` and `count(…)`."""
    imported = {one.name for node in tree.body if isinstance(node, ast.ImportFrom) for one in node.names}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="log"), attr=level), args=[event, *_]) if (
                level in LEVELS
            ):
                yield from names_of(event, tree)
            case ast.Call(func=ast.Name(id="count"), args=[event, *_]) if "count" in imported:
                yield from names_of(event, tree)


def names_of(event: ast.expr, tree: ast.Module) -> Iterator[str]:
    """The names that an expression may have; of a formatted one its pattern."""
    match event:
        case ast.Constant(value=str(name)):
            yield name
        case ast.IfExp(body=body, orelse=orelse):
            yield from names_of(body, tree)
            yield from names_of(orelse, tree)
        case ast.JoinedStr():
            yield ast.unparse(event)[2:-1]
        case ast.Name(id=variable):
            for node in ast.walk(tree):
                if isinstance(node, ast.Assign) and any(ast.unparse(one) == variable for one in node.targets):
                    yield from names_of(node.value, tree)


def events() -> list[str]:
    """Every event of the product, once."""
    files = [path for path in SOURCE.rglob("*.py") if path != TELEMETRY]
    return sorted({event for path in files for event in events_in(ast.parse(path.read_text()))})


def test_the_log_events_are_those_of_the_committed_list():
    assert EVENTS.read_text().splitlines() == events(), "run `python -m tests.house.test_log_events`"


def test_a_log_event_names_its_subject_and_what_happened():
    assert [event for event in events() if not NAME.fullmatch(event)] == []


if __name__ == "__main__":
    EVENTS.write_text("".join(f"{event}\n" for event in events()))

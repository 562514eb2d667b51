"""The names of log events are committed: operators search for them, so a review sees a rename.

docs/log-events.md has a row for each: its levels, as the code has them, and its meaning. `python -m
tests.house.test_log_events` writes the list and the rows, and keeps the meanings.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "horae"
EVENTS = Path(__file__).with_name("log_events.txt")
PAGE = Path(__file__).parents[2] / "docs" / "log-events.md"
TELEMETRY = SOURCE / "runtime" / "telemetry.py"
"""It logs events whose names its callers give."""
LEVELS = ("debug", "info", "warning", "error", "exception", "critical")
SHOWN = {"exception": "error"}
"""An exception is logged at the level of an error, and so it is shown."""
NAME = re.compile(r"[a-z_]+\.([a-z_]+|\{\w+\})")
ROW = re.compile(r"\| `(?P<event>[^`]+)` \| (?P<levels>[a-z, ]*) \| (?P<meaning>.*) \|")


def events_in(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The event and the level of each call of `log.<level>(…)` and `count(…)`."""
    imported = {one.name for node in tree.body if isinstance(node, ast.ImportFrom) for one in node.names}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="log"), attr=level), args=[event, *_]) if (
                level in LEVELS
            ):
                yield from ((name, SHOWN.get(level, level)) for name in names_of(event, tree))
            case ast.Call(func=ast.Name(id="count"), args=[event, *_]) if "count" in imported:
                yield from ((name, "info") for name in names_of(event, tree))


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


def levels() -> dict[str, str]:
    """Every event of the product with its levels, the lowest first."""
    files = [path for path in SOURCE.rglob("*.py") if path != TELEMETRY]
    found: dict[str, set[str]] = {}
    for event, level in (one for path in files for one in events_in(ast.parse(path.read_text()))):
        found.setdefault(event, set()).add(level)
    return {event: ", ".join(sorted(of, key=LEVELS.index)) for event, of in sorted(found.items())}


def rows() -> dict[str, re.Match[str]]:
    """The rows of the page, by event."""
    return {row["event"]: row for line in PAGE.read_text().splitlines() if (row := ROW.fullmatch(line))}


def page() -> str:
    """The page as it should be: a new event has a row without a meaning."""
    head = [line for line in PAGE.read_text().splitlines() if ROW.fullmatch(line) is None]
    known = {event: row["meaning"] for event, row in rows().items()}
    made = [f"| `{event}` | {level} | {known.get(event, '')} |" for event, level in levels().items()]
    return "\n".join([*head, *made]) + "\n"


def test_the_log_events_are_those_of_the_committed_list():
    assert EVENTS.read_text().splitlines() == list(levels()), "run `python -m tests.house.test_log_events`"


def test_a_log_event_names_its_subject_and_what_happened():
    assert [event for event in levels() if not NAME.fullmatch(event)] == []


def test_the_page_has_every_event_with_its_levels_and_what_it_means():
    assert PAGE.read_text() == page(), "run `python -m tests.house.test_log_events`"
    assert [event for event, row in rows().items() if len(row["meaning"]) < 20] == [], "say what it means"


if __name__ == "__main__":
    EVENTS.write_text("".join(f"{event}\n" for event in levels()))
    PAGE.write_text(page())

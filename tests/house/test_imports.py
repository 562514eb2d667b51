"""No two modules need each other: also not for types, and also not inside functions."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"


def modules() -> dict[str, Path]:
    """Every module of ours by its name."""
    found = {}
    for path in (SOURCE / "horae").rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(source: str) -> Iterator[tuple[str, str | None]]:
    """Each imported module, with the name that is taken from it."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from ((alias.name, None) for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from ((module, alias.name) for alias in names)


def needs(source: str, known: set[str]) -> set[str]:
    """The modules of ours that a module needs: `from a import b` needs `a.b` if that is a module, else `a`."""
    found = set()
    for module, name in imported(source):
        whole = f"{module}.{name}"
        found.add(whole if whole in known else module)
    return found & known


def circle(graph: dict[str, set[str]]) -> list[str]:
    """A circle of modules, if there is one."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_needs_itself_through_others():
    paths = modules()
    known = set(paths)
    assert circle({name: needs(path.read_text(), known) - {name} for name, path in paths.items()}) == []


@pytest.mark.parametrize(
    "source",
    [
        "from b import x",
        "import b",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from b import X",
        "def f():\n    import b",
    ],
)
def test_a_circle_is_found(source):
    assert circle({"a": needs(source, {"a", "b"}), "b": {"a"}})
    assert not circle({"a": needs("import c", {"a", "b"}), "b": {"a"}})

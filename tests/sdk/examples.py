"""Examples out of docstrings, run as a reader would type them; `await` and `async for` as on an asyncio prompt."""

import ast
import asyncio
import contextlib
import doctest
import importlib
import inspect
import io
import pkgutil
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import horae_client

FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


class Told(NamedTuple):
    """Something public, and what its docstring shows."""

    name: str
    thing: Any
    examples: list[doctest.Example]


def modules() -> Iterator[types.ModuleType]:
    """Every module of the package."""
    for found in pkgutil.walk_packages(horae_client.__path__, "horae_client."):
        yield importlib.import_module(found.name)


def public() -> Iterator[Told]:
    """Every public module, function, class and method of the package."""
    for module in modules():
        yield _told(module.__name__, module)
        for name, thing in vars(module).items():
            if name.startswith("_") or getattr(thing, "__module__", None) != module.__name__:
                continue
            if inspect.isfunction(thing):
                yield _told(f"{module.__name__}.{name}", thing)
            elif inspect.isclass(thing):
                yield _told(f"{module.__name__}.{name}", thing)
                yield from _methods(f"{module.__name__}.{name}", thing)


def _methods(name: str, kind: type) -> Iterator[Told]:
    for method, thing in vars(kind).items():
        called = getattr(thing, "__func__", thing)
        if not method.startswith("_") and inspect.isfunction(called):
            yield _told(f"{name}.{method}", called)


def _told(name: str, thing: Any) -> Told:
    return Told(name, thing, doctest.DocTestParser().get_examples(thing.__doc__ or ""))


def run(told: Told, names: dict[str, Any], loop: asyncio.AbstractEventLoop) -> None:
    """Type the examples one after the other, and compare."""
    check = doctest.OutputChecker()
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for one in told.examples:
        got = _typed(one, names, loop)
        if one.exc_msg is not None:
            assert check.check_output(one.exc_msg, got, options), f"{told.name}: {one.source}raised {got}"
        else:
            assert check.check_output(one.want, got, options), f"{told.name}: {one.source}said {got} not {one.want}"


def _typed(one: doctest.Example, names: dict[str, Any], loop: asyncio.AbstractEventLoop) -> str:
    said = io.StringIO()
    code = compile(one.source, "<example>", "single", FLAGS)
    with contextlib.redirect_stdout(said), _display():
        try:
            made = types.FunctionType(code, names)()
            if inspect.iscoroutine(made):
                loop.run_until_complete(made)
        except Exception as error:
            if one.exc_msg is None:
                raise
            return "".join(f"{type(error).__qualname__}: {error}\n")
    return said.getvalue()


@contextlib.contextmanager
def _display() -> Iterator[None]:
    shown, sys.displayhook = sys.displayhook, _show
    try:
        yield
    finally:
        sys.displayhook = shown


def _show(value: Any) -> None:
    if value is not None:
        sys.stdout.write(f"{value!r}\n")

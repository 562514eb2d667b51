"""Counts executed lines of our own code: work that needs no quiet machine and no mark in a loop to be seen."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any


class Steps:
    """How many lines of the watched modules were executed."""

    def __init__(self) -> None:
        self.lines = 0


@contextmanager
def counting(*modules: ModuleType) -> Iterator[Steps]:
    """Count every executed line of some modules, or of all modules of a package, inside the block."""
    watched = tuple(_place(module) for module in modules)
    steps = Steps()

    def line(_frame: FrameType, event: str, _arg: Any) -> Any:
        steps.lines += event == "line"
        return line

    def call(frame: FrameType, _event: str, _arg: Any) -> Any:
        return line if frame.f_code.co_filename.startswith(watched) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        yield steps
    finally:
        sys.settrace(before)


def _place(module: ModuleType) -> str:
    assert module.__file__ is not None
    path = Path(module.__file__)
    return f"{path.parent}/" if path.name == "__init__.py" else str(path)

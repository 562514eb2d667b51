"""Nobody takes a second connection: whoever holds one and asks for another is refused, in every test.

A test may hold a transaction open itself and ask for something meanwhile, or let another caller come in between: then
it is the test that holds it, not whoever is asked.
"""

import sys
from pathlib import Path
from traceback import format_stack
from types import FrameType
from typing import NamedTuple

TESTS = str(Path(__file__).parent)
STORE = str(Path(TESTS).parent / "src/horae/store/")


class SecondConnection(AssertionError):
    """A task that holds a connection asked for another one."""


class Taken(NamedTuple):
    """Who took a connection: the innermost function of the tests, and whether it did so with its own hands."""

    test: FrameType | None
    by_test: bool


class SecondConnections:
    """Refuses them, and remembers the stack of each, should somebody swallow the refusal."""

    def __init__(self) -> None:
        self.stacks: list[str] = []

    def __call__(self, held: list[object]) -> Taken:
        """Names a connection that is taken."""
        taken = _taken()
        if any(isinstance(one, Taken) and not one.by_test and one.test is taken.test for one in held):
            self.stacks.append("".join(format_stack()))
            raise SecondConnection("a task holds a connection and asks for another: read before, or hand the Tx in")
        return taken


def _taken() -> Taken:
    frame: FrameType | None = sys._getframe(2)
    outside = False  # of the store, and of what enters blocks for it
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(TESTS):
            return Taken(frame, by_test=not outside)
        outside = outside or not (name.startswith(STORE) or name.endswith("/contextlib.py"))
        frame = frame.f_back
    return Taken(None, by_test=False)

"""Prints answers: a table for people, JSON for programs (`--json` on every command); and defines the exit codes."""

import sys
from collections.abc import Callable, Collection
from contextvars import ContextVar
from enum import IntEnum
from typing import Any, Final

import msgspec
from rich.console import Console
from rich.text import Text

from horae.domain.errors import Conflict, HoraeError, NotFound, RetryLimited, Unavailable
from horae.domain.foreign import printable

WIDE: Final = 180  # a pipe has no width, and a truncated id is useless
_as_json: ContextVar[bool] = ContextVar("as_json", default=False)


class Terminal(Console):
    """Prints texts as they are, in tables too: without markup, emoji codes or control characters."""

    def __init__(self, **facts: Any) -> None:
        super().__init__(markup=False, emoji=False, **facts)

    def render_str(self, text: str, **facts: Any) -> Text:
        """Every text passes through here, including those of table cells."""
        return super().render_str(printable(text), **facts)


out = Terminal(width=None if sys.stdout.isatty() else WIDE)
err = Terminal(stderr=True, soft_wrap=True)


class Exit(IntEnum):
    """The exit codes of `horae` commands."""

    OK = 0
    REFUSED = 1
    USAGE = 2
    NOT_FOUND = 3
    CONFLICT = 4
    UNAVAILABLE = 5
    CHANGES = 6


MEANING: Final = {
    Exit.OK: "done",
    Exit.REFUSED: "refused: what was asked cannot be done as written, or something of it was refused",
    Exit.USAGE: "the command itself was not understood; `--help` shows how it is meant",
    Exit.NOT_FOUND: "nothing of that name or id is there",
    Exit.CONFLICT: "it is not in the state, or at the version, you thought; or a plan holds conflicts",
    Exit.UNAVAILABLE: "not now: no database, no node, or a limit; nothing was changed, ask again later",
    Exit.CHANGES: "`plan --check`: there is something to apply; `shadow report`: the two systems differ",
}


def answer(facts: object, show: Callable[[], None]) -> None:
    """Print an answer: `facts` as JSON if `--json` was given, or else by calling `show`."""
    if _as_json.get():
        sys.stdout.write(to_json(facts) + "\n")
        sys.stdout.flush()
    else:
        show()


def say(facts: object, text: str) -> None:
    """Print an answer of one line."""
    answer(facts, lambda: out.print(text, highlight=False, soft_wrap=True))


def wants_json() -> bool:
    """Whether `--json` was given."""
    return _as_json.get()


def set_json(*, wanted: bool) -> None:
    """Note whether `--json` was given."""
    _as_json.set(wanted)


def to_json(facts: object) -> str:
    """Values as JSON; models of the API as the API returns them."""
    return msgspec.json.encode(facts, enc_hook=_plain).decode()


def status_of(error: HoraeError) -> Exit:
    """The exit code of a refusal."""
    match error:
        case NotFound():
            return Exit.NOT_FOUND
        case Conflict():
            return Exit.CONFLICT
        case Unavailable() | RetryLimited():
            return Exit.UNAVAILABLE
        case _:
            return Exit.REFUSED


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):  # a model of the API; a command over HTTP does without the library of these
        return value.model_dump(mode="json")
    raise NotImplementedError(f"{type(value).__name__} has no form in JSON")


def name_cells_down(cells_down: Collection[str]) -> None:
    """Print on stderr which cells did not answer, because their rows are missing from the answer."""
    if cells_down:
        names = ", ".join(sorted(cells_down))
        err.print("not reached:", style="yellow", end=" ")
        err.print(f"{names}; what lies there is missing from this answer")

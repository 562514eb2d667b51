"""How an answer is told: a table for people, JSON for programs (`--json` on every verb), and what exit codes mean."""

import functools
import inspect
import sys
from collections.abc import Callable
from contextvars import ContextVar
from enum import IntEnum
from typing import Annotated, Any, Final, TypeVar

import msgspec
import typer
from pydantic import BaseModel
from rich.console import Console
from rich.text import Text

from horae.domain.errors import Conflict, HoraeError, NotFound, RetryLimited, Unavailable
from horae.domain.foreign import printable

Verb = TypeVar("Verb", bound=Callable[..., Any])
WIDE: Final = 180  # a pipe has no width of its own, and a cut-off id is no id
_as_json: ContextVar[bool] = ContextVar("as_json", default=False)


class Terminal(Console):
    """Prints texts as they are, in tables too: no markup, no codes of emoji, nothing that steers a terminal."""

    def __init__(self, **facts: Any) -> None:
        super().__init__(markup=False, emoji=False, **facts)

    def render_str(self, text: str, **facts: Any) -> Text:
        """Every text comes through here, also that of a cell."""
        return super().render_str(printable(text), **facts)


out = Terminal(width=None if sys.stdout.isatty() else WIDE)
err = Terminal(stderr=True, soft_wrap=True)


class Exit(IntEnum):
    """What the status of a `horae` command says."""

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


class Verbs(typer.Typer):
    """A noun whose every verb answers in JSON when asked to."""

    def command(self, name: str | None = None, **facts: Any) -> Callable[[Verb], Verb]:
        """Register a verb, and give it `--json`."""
        register = super().command(name, **facts)

        def take(verb: Verb) -> Verb:
            register(_with_json(verb))
            return verb

        return take


def answer(facts: object, shown: Callable[[], None]) -> None:
    """Tell what came of it: `facts` as JSON where that was asked for, else as `shown` shows it."""
    if _as_json.get():
        sys.stdout.write(encoded(facts) + "\n")
        sys.stdout.flush()
    else:
        shown()


def say(facts: object, text: str) -> None:
    """The same for an answer of a few words."""
    answer(facts, lambda: out.print(text, highlight=False, soft_wrap=True))


def wants_json() -> bool:
    """Whether a program listens."""
    return _as_json.get()


def encoded(facts: object) -> str:
    """Values as JSON, models of the API as the API shows them."""
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
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise NotImplementedError(f"{type(value).__name__} has no form in JSON")


def _with_json(verb: Verb) -> Verb:
    @functools.wraps(verb)
    def asked(*args: Any, as_json: bool = False, **facts: Any) -> Any:
        _as_json.set(as_json)
        return verb(*args, **facts)

    flag = Annotated[bool, typer.Option("--json", help="Answer in JSON, for programs.")]
    signature = inspect.signature(verb, eval_str=True)
    extra = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=flag)
    asked.__signature__ = signature.replace(parameters=[*signature.parameters.values(), extra])  # type: ignore[attr-defined]
    asked.__annotations__ = {**inspect.get_annotations(verb, eval_str=True), "as_json": flag}
    return asked  # type: ignore[return-value]

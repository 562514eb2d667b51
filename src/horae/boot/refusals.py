"""Turns errors into a line for people and an exit code. Every command runs inside of `exit_on_refusal`."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple, TypeVar

import typer
import uvloop

from horae.boot.output import Exit, err, status_of
from horae.domain.errors import HoraeError

Result = TypeVar("Result")


class Refusal(NamedTuple):
    """What is printed about an error, and the exit code of the command."""

    code: str
    text: str
    status: Exit


def refusal_of(error: HoraeError) -> Refusal:
    """The refusal of an error of our own."""
    return Refusal(error.code, str(error), status_of(error))


TRANSLATIONS: Final[list[Callable[[Exception], Refusal | None]]] = [
    lambda error: refusal_of(error) if isinstance(error, HoraeError) else None
]
"""How errors become refusals. A module that speaks to PostgreSQL or HTTP adds how its errors are printed: so a command
loads only what it uses."""


@contextmanager
def exit_on_refusal() -> Iterator[None]:
    """Print a refusal with its code, and end the process with the exit code that `docs/cli.md` lists."""
    try:
        yield
    except Exception as error:
        refusal = next((found for translate in TRANSLATIONS if (found := translate(error)) is not None), None)
        if refusal is None:
            raise
        err.print(refusal.code, style="red", end=" ")
        err.print(refusal.text, highlight=False)
        raise typer.Exit(refusal.status) from error


def run(work: Callable[[], Awaitable[Result]]) -> Result:
    """Run a command and print its refusal, if any."""

    async def main() -> Result:
        return await work()

    with exit_on_refusal():
        return uvloop.run(main())

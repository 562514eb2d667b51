"""From settings to objects: an open store, a caller, and a place where refusals become exit codes."""

import getpass
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

import typer
import uvloop

from horae.boot.sealing import opened_store
from horae.boot.telling import err, out, status_of
from horae.boot.transports import check_dsns
from horae.domain.errors import HoraeError, Invalid, Unavailable
from horae.runtime import telemetry
from horae.runtime.settings import Settings
from horae.service import tenants
from horae.service.context import Context
from horae.store.tx import UNMIGRATED, UNREACHABLE

__all__ = ["caller", "err", "load", "name_cells_down", "out", "refusing", "run"]
Result = TypeVar("Result")


def load(*, doors: bool = False, checked: bool = True) -> Settings:
    """The settings of this process, with its logs set up. `doors`: an API process, which may know its own role only.

    `checked`: in production a DSN that leads over a network without a verified certificate is refused.
    """
    settings = Settings()
    telemetry.configure(as_json=settings.log_json, level=settings.log_level)
    cells = settings.door_cells() if doors else settings.all_cells()
    if not cells:
        raise Invalid(
            "no cell is configured; set HORAE_DSN, for example postgresql://horae@localhost/horae, "
            "or run `horae dev`, which shows one of its own"
        )
    if checked:
        check_dsns(settings, cells)
    return settings


@asynccontextmanager
async def caller(tenant: str | None = None) -> AsyncIterator[Context]:
    """An open store and who asks: the person at this terminal, for the given or the configured tenant."""
    settings = load()
    async with opened_store(settings, settings.all_cells()) as store:
        found = await tenants.find(store, tenant or settings.tenant)
        ctx = Context.of(store, found, getpass.getuser())
        yield ctx
        name_cells_down(ctx.cells_down)


def name_cells_down(cells_down: Collection[str]) -> None:
    """Say on the error stream which cells an answer had to do without: what lies there is missing from it."""
    if cells_down:
        names = ", ".join(sorted(cells_down))
        err.print("not reached:", style="yellow", end=" ")
        err.print(f"{names}; what lies there is missing from this answer")


@contextmanager
def refusing() -> Iterator[None]:
    """A refusal is printed with its code and ends the process with the status that `docs/cli.md` names."""
    try:
        yield
    except HoraeError as error:
        raise _told(error) from error
    except UNMIGRATED as error:
        raise _told(Unavailable("the database is not at this release: run `horae migrate`")) from error
    except UNREACHABLE as error:
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        advice = "no database answers; is it running, and is HORAE_DSN (or HORAE_CELLS) right?"
        raise _told(Unavailable(f"{advice} ({said})")) from error


def _told(error: HoraeError) -> typer.Exit:
    err.print(error.code, style="red", end=" ")
    err.print(str(error), highlight=False)
    return typer.Exit(status_of(error))


def run(work: Callable[[], Awaitable[Result]]) -> Result:
    """Run a command; refusals are told."""

    async def main() -> Result:
        return await work()

    with refusing():
        return uvloop.run(main())

"""Builds an open store and a caller from settings, and turns refusals into exit codes."""

import getpass
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final, TypeVar

import typer
import uvloop

from horae.boot.archive import archive_reader_of
from horae.boot.encryption import open_store
from horae.boot.output import err, out, status_of
from horae.boot.transports import check_dsns
from horae.domain.errors import HoraeError, Invalid, Unavailable, Unfit
from horae.runtime import telemetry
from horae.runtime.settings import Settings, read_settings
from horae.service.context import Context, PlatformContext
from horae.service.memory import Memory
from horae.service.tenants import tenants
from horae.store.connections.unreachable import explain
from horae.store.store import Store
from horae.store.tx import FORBIDDEN, UNMIGRATED, UNREACHABLE

__all__ = ["PAGE", "all_pages", "caller", "err", "exit_on_refusal", "load", "name_cells_down", "out", "platform", "run"]
Result = TypeVar("Result")
Item = TypeVar("Item")
PAGE: Final = 200
"""Items that a command reads at once."""


def load(*, api_server: bool = False, checked: bool = True) -> Settings:
    """The settings of this process, with logging configured.

    `api_server`: an API process, which may know only the DSN of its own role. `checked`: in production, refuse a DSN
    that leads over a network without a verified certificate.
    """
    settings = read_settings()
    telemetry.configure(as_json=settings.logs_json(), level=settings.log_level)
    cells = settings.api_server_cells() if api_server else settings.all_cells()
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
    """An open store and a caller: the user of this terminal, for the given or the configured tenant."""
    settings = load()
    async with open_store(settings, settings.all_cells()) as store:
        found = await tenants.find(store, tenant or settings.tenant)
        reader = archive_reader_of(settings)
        ctx = Context.of(store, found, getpass.getuser(), Memory(reader, settings.service_level))
        yield ctx
        name_cells_down(ctx.cells_down)
        if reader is not None:
            await reader.close()


@asynccontextmanager
async def platform() -> AsyncIterator[PlatformContext]:
    """An open store and a caller without a tenant: the command line itself."""
    async with Store.of(load().all_cells()) as store:
        ctx = PlatformContext(store, "cli")
        yield ctx
        name_cells_down(ctx.cells_down)


async def all_pages(read: Callable[[Item | None], Awaitable[list[Item]]]) -> list[Item]:
    """All items of a list. `read` returns the items after one, or the first ones after None."""
    found: list[Item] = []
    while page := await read(found[-1] if found else None):
        found += page
    return found


def name_cells_down(cells_down: Collection[str]) -> None:
    """Print on stderr which cells did not answer, because their rows are missing from the answer."""
    if cells_down:
        names = ", ".join(sorted(cells_down))
        err.print("not reached:", style="yellow", end=" ")
        err.print(f"{names}; what lies there is missing from this answer")


@contextmanager
def exit_on_refusal() -> Iterator[None]:
    """Print a refusal with its code, and end the process with the exit code that `docs/cli.md` lists."""
    try:
        yield
    except HoraeError as error:
        raise _code_and_text(error) from error
    except UNMIGRATED as error:
        raise _code_and_text(Unavailable("the database is not at this release: run `horae migrate`")) from error
    except FORBIDDEN as error:
        advice = "the role of this DSN lacks a right; docs/database-roles.md says which process needs which role"
        raise _code_and_text(Unfit(f"{advice} ({error})")) from error
    except UNREACHABLE as error:
        raise _code_and_text(Unavailable(explain(error))) from error


def _code_and_text(error: HoraeError) -> typer.Exit:
    err.print(error.code, style="red", end=" ")
    err.print(str(error), highlight=False)
    return typer.Exit(status_of(error))


def run(work: Callable[[], Awaitable[Result]]) -> Result:
    """Run a command and print its refusal, if any."""

    async def main() -> Result:
        return await work()

    with exit_on_refusal():
        return uvloop.run(main())

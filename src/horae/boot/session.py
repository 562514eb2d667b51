"""Builds an open store and a caller from settings, for commands that open PostgreSQL."""

import getpass
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from typing import Final, TypeVar

from horae.boot.archive import archive_reader_of
from horae.boot.encryption import open_store
from horae.boot.output import err, out
from horae.boot.refusals import TRANSLATIONS, Refusal, exit_on_refusal, refusal_of, run
from horae.boot.transports import check_dsns
from horae.domain.errors import Invalid, Unavailable
from horae.runtime import telemetry
from horae.runtime.settings import Settings
from horae.service.context import Context, PlatformContext
from horae.service.memory import Memory
from horae.service.tenants import tenants
from horae.store.store import Store
from horae.store.tx import UNMIGRATED, UNREACHABLE

__all__ = ["PAGE", "all_pages", "caller", "err", "exit_on_refusal", "load", "name_cells_down", "out", "platform", "run"]
Item = TypeVar("Item")
PAGE: Final = 200
"""Items that a command reads at once."""


def load(*, api_server: bool = False, checked: bool = True) -> Settings:
    """The settings of this process, with logging configured.

    `api_server`: an API process, which may know only the DSN of its own role. `checked`: in production, refuse a DSN
    that leads over a network without a verified certificate.
    """
    settings = Settings()
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


def _refusal_of(error: Exception) -> Refusal | None:
    """The refusal of an error of PostgreSQL; None for any other error."""
    if isinstance(error, UNMIGRATED):
        return refusal_of(Unavailable("the database is not at this release: run `horae migrate`"))
    if isinstance(error, UNREACHABLE):
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        advice = "no database answers; is it running, and is HORAE_DSN (or HORAE_CELLS) right?"
        return refusal_of(Unavailable(f"{advice} ({said})"))
    return None


TRANSLATIONS.append(_refusal_of)

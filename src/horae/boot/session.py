"""From settings to objects: an open store, a caller, and a place where refusals become exit codes."""

import getpass
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

import typer
import uvloop
from rich.console import Console

from horae.domain.errors import HoraeError, Invalid
from horae.runtime import telemetry
from horae.runtime.settings import Settings
from horae.service import tenants
from horae.service.context import Context
from horae.store.cells import Store

Result = TypeVar("Result")
WIDE = 180  # a pipe has no width of its own, and a cut-off id is no id
out = Console(width=None if sys.stdout.isatty() else WIDE)
err = Console(stderr=True, soft_wrap=True)


def load(*, doors: bool = False) -> Settings:
    """The settings of this process, with its logs set up. `doors`: an API process, which may know its own role only."""
    settings = Settings()
    telemetry.configure(as_json=settings.log_json, level=settings.log_level)
    if not (settings.door_cells() if doors else settings.all_cells()):
        raise Invalid("no cell is configured; set HORAE_DSN, for example postgresql://horae@localhost/horae")
    return settings


@asynccontextmanager
async def caller(tenant: str | None = None) -> AsyncIterator[Context]:
    """An open store and who asks: the person at this terminal, for the given or the configured tenant."""
    settings = load()
    async with Store.of(settings.all_cells()) as store:
        found = await tenants.find(store, tenant or settings.tenant)
        yield Context.of(store, found, getpass.getuser())


@contextmanager
def refusing() -> Iterator[None]:
    """A refusal is printed with its code and ends the process with status 1."""
    try:
        yield
    except HoraeError as error:
        err.print(f"[red]{error.code}[/red] {error}", highlight=False)
        raise typer.Exit(1) from error


def run(work: Callable[[], Awaitable[Result]]) -> Result:
    """Run a command; refusals are told."""

    async def main() -> Result:
        return await work()

    with refusing():
        return uvloop.run(main())

"""Builds an open store and a caller from settings, for commands that open PostgreSQL."""

import os
import pwd
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from horae.boot.archive import archive_reader_of
from horae.boot.encryption import open_store
from horae.boot.output import err, name_cells_down, out
from horae.boot.owner_cells import owner_cells
from horae.boot.refusals import TRANSLATIONS, Refusal, exit_on_refusal, refusal_of, run
from horae.boot.transports import check_dsns
from horae.domain.errors import Invalid, Unavailable, Unfit
from horae.runtime import telemetry
from horae.runtime.settings import Settings, read_settings
from horae.service.context import Context, PlatformContext
from horae.service.memory import Memory
from horae.service.tenants import tenants
from horae.store.connections.unreachable import explain
from horae.store.tx import FORBIDDEN, UNMIGRATED, UNREACHABLE

__all__ = ["caller", "err", "exit_on_refusal", "load", "out", "platform_caller", "run", "system_user"]


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


def system_user() -> str:
    """The user of the operating system who runs this command, as the audit log names them.

    The kernel says who it is: `LOGNAME` can name anybody.
    """
    uid = os.getuid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:  # a container may run as a number without a name
        name = "unknown"
    return f"{name} (uid {uid})"


@asynccontextmanager
async def caller(tenant: str | None = None, *, owner: bool = False) -> AsyncIterator[Context]:
    """An open store and a caller: the user of this terminal, for the given or the configured tenant.

    `owner`: connect as the owner of the tables, where the settings name that role.
    """
    settings = load()
    cells = settings.all_cells()
    async with open_store(settings, owner_cells(cells) if owner else cells) as store:
        found = await tenants.find(store, tenant or settings.tenant)
        reader = archive_reader_of(settings)
        ctx = Context.of(store, found, system_user(), Memory(reader, settings.service_level))
        yield ctx
        name_cells_down(ctx.cells_down)
        if reader is not None:
            await reader.close()


@asynccontextmanager
async def platform_caller() -> AsyncIterator[PlatformContext]:
    """An open store and the user of this terminal, who rescues the platform as the owner of the tables."""
    settings = load()
    async with open_store(settings, owner_cells(settings.all_cells())) as store:
        yield PlatformContext(store, system_user())


def _refusal_of(error: Exception) -> Refusal | None:
    """The refusal of an error of PostgreSQL; None for any other error."""
    if isinstance(error, UNMIGRATED):
        return refusal_of(Unavailable("the database is not at this release: run `horae migrate`"))
    if isinstance(error, FORBIDDEN):
        advice = "the role of this DSN lacks a right; docs/database-roles.md says which process needs which role"
        return refusal_of(Unfit(f"{advice} ({error})"))
    if isinstance(error, UNREACHABLE):
        return refusal_of(Unavailable(explain(error)))
    return None


TRANSLATIONS.append(_refusal_of)

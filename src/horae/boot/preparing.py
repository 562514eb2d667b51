"""Prepares cells: migrates them to this release and creates the configured tenant."""

from horae.boot.encryption import open_store
from horae.boot.owner_cells import owner_cells
from horae.domain.errors import NotFound
from horae.runtime.settings import Settings
from horae.service.context import PlatformContext
from horae.service.tenants import tenants
from horae.store import migrations


async def prepare(settings: Settings) -> list[str]:
    """Migrate every cell and create the tenant on the first run; returns what was done, line by line."""
    cells = owner_cells(settings.all_cells())
    done = await migrations.migrate(cells, settings.environment)
    async with open_store(settings, cells) as store:
        try:
            await tenants.find(store, settings.tenant)
        except NotFound:
            await tenants.create(PlatformContext(store, "migrate"), settings.tenant)
            done.append(f"tenant {settings.tenant} created")
    return done

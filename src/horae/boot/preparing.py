"""Cells made ready: brought up to this release, with the configured tenant."""

from horae.boot.sealing import opened_store
from horae.domain.errors import NotFound
from horae.runtime.settings import Settings
from horae.service import tenants
from horae.store import migrations


async def prepare(settings: Settings) -> list[str]:
    """Migrate every cell and make the tenant on the first run; returns what was done, line by line."""
    done = await migrations.migrate(settings.all_cells(), settings.environment)
    async with opened_store(settings, settings.all_cells()) as store:
        try:
            await tenants.find(store, settings.tenant)
        except NotFound:
            await tenants.create(store, settings.tenant, "migrate")
            done.append(f"tenant {settings.tenant} created")
    return done

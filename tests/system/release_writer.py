"""Puts tasks by whichever release is in PYTHONPATH: `python -m tests.system.release_writer TENANT TYPE PREFIX MANY`."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from horae.runtime.settings import Settings
from horae.service.context import Context

try:
    from horae.boot.encryption import open_store
    from horae.service.tasks import tasks
    from horae.service.tenants import tenants
except ImportError:  # a release whose modules were not yet in folders
    from horae.boot.sealing import opened_store as open_store

    from horae.service import tasks, tenants

SPREAD_S = 10.0


@asynccontextmanager
async def writing_to(tenant: str) -> AsyncIterator[Context]:
    """A caller in a tenant, over the cells of this process's settings."""
    settings = Settings()
    async with open_store(settings, settings.all_cells()) as store:
        yield Context.of(store, await tenants.find(store, tenant), "writer")


async def main(tenant: str, type_name: str, prefix: str, many: int) -> None:
    """Put them into the cells of this process's settings."""
    async with writing_to(tenant) as ctx:
        await put_tasks(ctx, type_name, prefix, many)


async def put_tasks(ctx: Context, type_name: str, prefix: str, many: int) -> None:
    """Tasks that are due one after the other within the next seconds."""
    begin = ctx.store.cells[0].clock.now()
    for number in range(many):
        at = begin + timedelta(seconds=SPREAD_S * number / many)
        await tasks.schedule(ctx, type_name, f"{prefix}-{number}", at=at, payload={"number": number})


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4], int(sys.argv[4])))

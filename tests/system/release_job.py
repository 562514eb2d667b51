"""Creates a job by whichever release is in PYTHONPATH: `python -m tests.system.release_job TENANT JOB EXPRESSION`.

Its payload is `{"shop": 7}`.
"""

import asyncio
import sys

from horae.boot.encryption import open_store
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import cron
from horae.domain.targets.targets import QueueTarget
from horae.runtime.settings import Settings
from horae.service.context import Context
from horae.service.jobs import jobs
from horae.service.tenants import tenants


async def main(tenant: str, name: str, expression: str) -> None:
    """Create it in the cells of this process's settings."""
    settings = Settings()
    async with open_store(settings, settings.all_cells()) as store:
        ctx = Context.of(store, await tenants.find(store, tenant), "writer")
        definition = Definition(trigger=cron(expression), target=QueueTarget(name), payload={"shop": 7})
        await jobs.create(ctx, name, definition)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))

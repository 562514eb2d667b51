"""Creates a job by whichever release is in PYTHONPATH: `python -m tests.system.release_job TENANT JOB EXPRESSION`.

Its payload is `{"shop": 7}`.
"""

import asyncio
import sys

from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import cron
from horae.domain.targets.targets import QueueTarget
from horae.service.jobs import jobs
from tests.system.release_writer import writing_to


async def main(tenant: str, name: str, expression: str) -> None:
    """Create it in the cells of this process's settings."""
    async with writing_to(tenant) as ctx:
        definition = Definition(trigger=cron(expression), target=QueueTarget(name), payload={"shop": 7})
        await jobs.create(ctx, name, definition)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))

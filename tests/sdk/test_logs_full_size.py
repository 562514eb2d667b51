"""A hundred workers that log, and tails that follow them: how old a line is when it is read."""

import asyncio
import time
from datetime import UTC, datetime

import pytest

from horae_client import AsyncClient, Keyed, Worker
from tests.sdk.test_worker import working

WORKERS = 100
LINES_PER_SECOND = 10
SECONDS = 20
TAILS = 10


@pytest.mark.long
async def test_a_hundred_workers_log_ten_lines_a_second_and_a_tail_has_them_within_a_second(home, record_property):
    worker = Worker(home.url, home.key, wait=1, concurrency=WORKERS)

    @worker.task("T")
    async def handle(ctx):
        began = time.monotonic()
        for number in range(LINES_PER_SECOND * SECONDS):
            ctx.log(f"line {number} of {ctx.key}")
            await asyncio.sleep(max(0.0, began + (number + 1) / LINES_PER_SECOND - time.monotonic()))

    async with AsyncClient(home.url, home.key) as asked:
        await asked.jobs.create("T", trigger=Keyed())
        async with working(worker):
            for number in range(WORKERS):
                await asked.tasks.schedule("T", str(number))
            ids = [one.id async for one in asked.instances.list(limit=200)]
            ages = await asyncio.gather(*(ages_of(asked, id_) for id_ in ids[:TAILS]))
        stored = [len([line async for line in asked.instances.logs(id_, limit=200)]) for id_ in ids]
    every = sorted(age for some in ages for age in some)
    p95 = every[int(len(every) * 0.95)]
    record_property("lines", sum(stored))
    record_property("tail_p95_ms", round(p95 * 1000))
    assert stored == [LINES_PER_SECOND * SECONDS] * WORKERS
    assert [len(some) for some in ages] == [LINES_PER_SECOND * SECONDS] * TAILS
    assert p95 <= 1.0


async def ages_of(asked: AsyncClient, id_: str) -> list[float]:
    """How old each line of an instance was when its tail had it, in seconds."""
    found = []
    async for line in asked.instances.tail(id_):
        assert line.at is not None
        found.append((datetime.now(UTC) - line.at).total_seconds())
    return found

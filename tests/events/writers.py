"""Many writers at once, each in transactions that end late: what a feed must not pass over."""

import asyncio
import random

import asyncpg

from horae.domain.ids import shard_in
from horae.runtime.chance import mint
from horae.store.cells import Cell

OUTBOX = """
insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
select $1, $2, $3, $4, null, 'TASK_MOVED', jsonb_build_object('writer', $5::int, 'step', n)
from generate_series($6::int, $7::int) n
"""
HISTORY = """
insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, generation, shard_id,
                              priority, lane, id, tenant_id, job_id, state, idem_key, business_key)
select $1, $1, $1, 1, 1, 0, n, $2, 1, 0, gen_random_uuid(), $3, $4, 'SUCCESS', 'k', 'writer-' || $5::int
from generate_series($6::int, $7::int) n
"""


async def write(cell: Cell, shards: list[int], tenant_id, writers: int, each: int, seconds: float, rows: int = 10):
    """So many writers write `each` events of a job of their own, some to history; returns the jobs by writer."""
    jobs = {}

    async def one(number: int) -> None:
        dice = random.Random(number)
        shard = shards[number % len(shards)]
        jobs[number] = job = mint(shard, cell.clock.now())
        connection = await asyncpg.connect(cell.dsn)
        try:
            for step in range(0, each, rows):
                await asyncio.sleep(dice.random() * seconds)
                async with connection.transaction():
                    facts = (cell.clock.now(), shard_in(job), tenant_id, job, number, step, min(step + rows, each) - 1)
                    await connection.execute(HISTORY if dice.random() < 0.5 else OUTBOX, *facts)
                    await asyncio.sleep(dice.random() ** 4 * seconds * 4)  # most end soon, some late
        finally:
            await connection.close()

    await asyncio.gather(*(one(number) for number in range(writers)))
    return jobs

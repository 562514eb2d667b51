"""Many writers at once, each in transactions that end late: what a feed must not pass over."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import asyncpg

from horae.domain.ids import shard_in
from horae.runtime.randomness import new_id
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
COMMITTED = """
select job_id, array_agg(step order by step) as steps
from (select job_id, (body ->> 'step')::int as step from outbox where body ? 'writer'
      union all select job_id, generation from instance_history where business_key like 'writer-%') told
group by job_id
"""


class Pace(NamedTuple):
    """How a writer goes: how many rows a transaction has, how long it rests before it, and how late it ends at most.

    `ends` is the share of transactions that write ends of instances; one in `given_up` is rolled back and made anew.
    Every other waits for `held` before it ends, however busy the machine.
    """

    rows: int = 10
    rest: float = 0.05
    late: float = 0.2
    ends: float = 0.5
    given_up: int = 10
    held: Callable[[], Awaitable[None]] | None = None


async def write(cell: Cell, shards: list[int], tenant_id, writers: int, each: int, pace: Pace):
    """So many writers write `each` events of a job of their own, in order; returns the jobs by writer."""
    jobs = {}

    async def one(number: int) -> None:
        dice = random.Random(number)
        shard = shards[number % len(shards)]
        jobs[number] = job = new_id(shard, cell.clock.now())
        connection = await asyncpg.connect(cell.dsn)
        try:
            for step in range(0, each, pace.rows):
                last = min(step + pace.rows, each) - 1
                while not await once(dice, connection, number, job, step, last):
                    pass
        finally:
            await connection.close()

    async def once(dice, connection, number, job, first, last) -> bool:
        await asyncio.sleep(dice.random() * pace.rest)
        transaction = connection.transaction()
        await transaction.start()
        facts = (cell.clock.now(), shard_in(job), tenant_id, job, number, first, last)
        await connection.execute(HISTORY if dice.random() < pace.ends else OUTBOX, *facts)
        await asyncio.sleep(dice.random() ** 4 * pace.late)  # most end soon, some late
        if pace.held is not None and dice.random() < 0.5:
            await pace.held()
        kept = dice.randrange(pace.given_up) > 0
        await (transaction.commit() if kept else transaction.rollback())
        return kept

    await asyncio.gather(*(one(number) for number in range(writers)))
    return jobs


async def committed(cell: Cell) -> dict:
    """What the rows say that happened: each job's steps, from its tables."""
    connection = await asyncpg.connect(cell.dsn)
    try:
        return {row["job_id"]: row["steps"] for row in await connection.fetch(COMMITTED)}
    finally:
        await connection.close()

"""What many tests do: move the clock, make a job, claim, settle."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg

from horae.domain.instances import Instance, Lane, Priority
from horae.domain.jobs import Definition, Job
from horae.domain.outcomes import Outcome
from horae.domain.targets import HttpTarget
from horae.domain.triggers import IntervalTrigger, KeyedTrigger, Trigger, cron
from horae.engine.front import BEGINNING
from horae.engine.territory import Territory
from horae.runtime.chance import token
from horae.service import jobs
from horae.service.context import Context
from horae.store import clock
from horae.store.cells import Cell, Store
from horae.store.instances import Claim
from horae.store.settle import Result, Settled, Settler

NOWHERE = HttpTarget("http://127.0.0.1:9/")


async def move_clock(store: Store, **by: float) -> None:
    """Move time in every cell at once."""
    for cell in store.cells:
        async with cell.tx() as tx:
            await clock.move(tx, timedelta(**by))
        await cell.sync_clock()


async def a_job(ctx: Context, name: str = "job", trigger: Trigger | None = None, **facts: Any) -> Job:
    facts = {"target": NOWHERE} | facts
    return await jobs.create(ctx, name, Definition(trigger=trigger or cron("* * * * *"), **facts))


async def a_type(ctx: Context, name: str = "ARTICLE_PUBLISH", **facts: Any) -> Job:
    return await a_job(ctx, name, KeyedTrigger(), **facts)


def every(ctx: Context, seconds: float, name: str = "job") -> IntervalTrigger:
    return IntervalTrigger(seconds, ctx.store.cell(ctx.tenant.shard(name)).clock.now().replace(microsecond=0))


async def claim(
    cell: Cell,
    store: Store,
    limit: int = 100,
    *,
    lane: Lane = Lane.FIRST,
    owner: UUID | None = None,
    held_jobs: Sequence[UUID] = (),
) -> list[Instance]:
    """Claim whatever of normal priority is due in a cell."""
    async with cell.statement() as tx:
        ask = Claim(Priority.NORMAL, lane, BEGINNING, limit, token(), owner or token(), held_jobs)
        return (await Territory(store.shards_of(cell)).claim(tx, ask)).taken


async def claim_everywhere(store: Store, *, lane: Lane = Lane.FIRST) -> list[Instance]:
    return [ran for cell in store.cells for ran in await claim(cell, store, lane=lane)]


async def settle(store: Store, ran: Instance, outcome: Outcome) -> Settled:
    return await Settler(store.cell(ran.shard)).settle([Result(ran, None, outcome)])


async def query(target: Cell | Store, text: str, *args: object) -> list[asyncpg.Record]:
    """Look into the tables directly, in one cell or in all."""
    cells = target.cells if isinstance(target, Store) else [target]
    found: list[asyncpg.Record] = []
    for cell in cells:
        async with cell.pool.acquire() as connection:
            found += await connection.fetch(text, *args)
    return found

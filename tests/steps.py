"""What many tests do: move the clock, wait for a condition, make a job, claim, settle."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

import asyncpg

from horae.domain.instances.instances import Instance, Lane, Priority
from horae.domain.instances.outcomes import Outcome
from horae.domain.jobs.jobs import Definition, Job
from horae.domain.schedules.triggers import IntervalTrigger, KeyedTrigger, Trigger, cron
from horae.domain.targets.targets import HttpTarget
from horae.engine.admission.target import CallDispatcher, DueCall, Target
from horae.engine.agenda import Agenda
from horae.engine.feeder import Feeder
from horae.engine.fire import Firer
from horae.engine.territory import Territory
from horae.repositories.definitions import Definitions
from horae.repositories.settle import AttemptOutcome, SettleCount, Settler
from horae.runtime.randomness import new_token
from horae.service.context import Context
from horae.service.jobs import jobs
from horae.store.cells import Cell
from horae.store.databases import clock
from horae.store.instances import instances
from horae.store.instances.instances import Claim
from horae.store.nodes.scans import ScanMark, ScanRange
from horae.store.store import Store

NOWHERE = HttpTarget("http://127.0.0.1:9/")


async def move_clock(store: Store, **by: float) -> None:
    """Move time in every cell at once."""
    for cell in store.cells:
        async with cell.tx() as tx:
            await clock.move(tx, timedelta(**by))
        await cell.sync_clock()


async def amid(store: Store, seconds: float) -> None:
    """Go on to the middle of a minute, an hour or a day, given in seconds: none begins while a test counts them."""
    now = store.cells[0].clock.now().timestamp()
    await move_clock(store, seconds=1.5 * seconds - now % seconds)


PATIENCE_S = 45.0
"""Seconds after which a wait has hung: several times what any takes on a busy machine, and less than the minute after
which a node reads everything again, so that what only such a sweep finds is not taken for found."""


async def until(condition: Callable[[], bool | Awaitable[bool]], seconds: float = PATIENCE_S) -> float:
    """Wait for a condition, but not for ever; returns how long it took. A promise has a limit of its own."""
    began = time.monotonic()
    while True:
        holds = condition()
        if holds is True or (isinstance(holds, Awaitable) and await holds):
            return time.monotonic() - began
        assert time.monotonic() - began < seconds, f"not within {seconds} s"
        await asyncio.sleep(0.005)


NEWEST = "select txid_current() as xid"
HORIZON = "select txid_snapshot_xmin(txid_current_snapshot()) as horizon"


async def below_horizon(where: Store | Cell) -> None:
    """Wait until everything that was written so far may be read by those who read below the horizon.

    It is that of all transactions of the server, of which an autovacuum may have one.
    """
    newest = max(row["xid"] for row in await query(where, NEWEST))

    async def is_below() -> bool:
        return all(row["horizon"] > newest for row in await query(where, HORIZON))

    await until(is_below)


async def a_job(ctx: Context, name: str = "job", trigger: Trigger | None = None, **facts: Any) -> Job:
    facts = {"target": NOWHERE} | facts
    return await jobs.create(ctx, name, Definition(trigger=trigger or cron("* * * * *"), **facts))


def name_in(ctx: Context, cell: Cell, stem: str) -> str:
    """A name of a job, beginning so, whose shard is in this cell."""
    return next(name for n in range(1000) if ctx.store.cell(ctx.tenant.shard(name := f"{stem}{n}")) is cell)


async def a_type(ctx: Context, name: str = "ARTICLE_PUBLISH", **facts: Any) -> Job:
    return await a_job(ctx, name, KeyedTrigger(), **facts)


def every(ctx: Context, seconds: float, name: str = "job") -> IntervalTrigger:
    return IntervalTrigger(seconds, ctx.store.cell(ctx.tenant.shard(name)).clock.now().replace(microsecond=0))


class Looker:
    """Looks at one cell's rows and fires what is due, as a node does; nothing is sent, every fire waits in its row."""

    def __init__(self, store: Store, cell: Cell) -> None:
        self.cell = cell
        self.agenda = Agenda(cell.clock.now)
        self.feeder = Feeder(cell, Territory(store.shards_of(cell)), self.agenda)
        self.firer = Firer(cell, new_token(), self.feeder.announce)
        self.definitions = Definitions(store.cipher)
        self.feeder.scanners = (self.feeder.cursors,)  # what waits in its row is not claimed here

    async def once(self) -> int:
        await self.feeder.look()
        due = self.agenda.take(1_000_000)
        jobs = await self.definitions.of(self.cell, due)
        desk = cast("CallDispatcher", None)
        readies = [
            DueCall(timer, job, desk, Target()) for timer, job in zip(due, jobs, strict=True) if timer.fired is not None
        ]
        try:
            if readies:
                fired = await self.firer.fire(readies, slots=False)
                for ready in fired.alone:
                    await self.firer.fire_alone(ready, slot=False)
                await self.firer.catch_up(fired.behind)
        finally:
            for timer in due:
                self.agenda.forget(timer)
        return len(readies)


async def claim(
    cell: Cell,
    store: Store,
    limit: int = 100,
    *,
    lane: Lane = Lane.FIRST,
    owner: UUID | None = None,
) -> list[Instance]:
    """Claim whatever of normal priority is due in a cell."""
    async with cell.statement() as tx:
        marks = [ScanMark(Priority.NORMAL, lane)]
        page = await Territory(store.shards_of(cell)).instances(tx, ScanRange(tx.now, limit=limit), marks)
        if not page.timers:
            return []
        return await instances.claim(tx, page.timers, Claim(new_token(), owner or new_token()))


async def claim_everywhere(store: Store, *, lane: Lane = Lane.FIRST) -> list[Instance]:
    return [ran for cell in store.cells for ran in await claim(cell, store, lane=lane)]


async def settle(store: Store, ran: Instance, outcome: Outcome) -> SettleCount:
    return await Settler(store.cell(ran.shard)).settle([AttemptOutcome(ran, None, outcome)])


async def count_statements(where: Store | Cell) -> None:
    """Let PostgreSQL count statements from here on.

    It keeps five thousand and forgets the rarest: those of earlier tests on this server would push out new ones.
    """
    await query(where, "create extension if not exists pg_stat_statements")
    await query(where, "select pg_stat_statements_reset()")


async def query(target: Cell | Store, text: str, *args: object) -> list[asyncpg.Record]:
    """Look into the tables directly, in one cell or in all."""
    cells = target.cells if isinstance(target, Store) else [target]
    found: list[asyncpg.Record] = []
    for cell in cells:
        async with cell.pool.acquire() as connection:
            found += await connection.fetch(text, *args)
    return found

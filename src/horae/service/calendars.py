"""Calendars: put one, and every job that uses it is planned anew."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from horae.domain.calendars import Calendar
from horae.domain.errors import ShardClosed, Unavailable
from horae.domain.events import Event
from horae.domain.ids import shard_in
from horae.domain.jobs import Job
from horae.domain.schedule import first_wake
from horae.domain.steps import Steps
from horae.runtime.chance import mint
from horae.runtime.heavy import run_in_slices
from horae.service import counts
from horae.service.context import Context
from horae.store import audit, calendars, cursors, jobs, outbox, references
from horae.store.cells import Cell
from horae.store.each import UNSERVED, ask_each, ask_first
from horae.store.tx import TRY_AGAIN, Tx

PAGE: Final = 500
JOBS_PER_TRANSACTION: Final = 20
"""Cursors that are locked together: nodes that fire them wait so long."""
MOST_LISTED: Final = 500
NOT_PLANNED: Final[tuple[type[Exception], ...]] = (Unavailable, *UNSERVED, *TRY_AGAIN)
Move = tuple[Job, datetime]
"""A job, and where its cursor goes."""


async def put(ctx: Context, calendar: Calendar) -> list[str]:
    """Write a calendar and move the cursors it changes; returns the names of the jobs whose next fire moved.

    Once the calendar is written, whatever fails is told as that: asked again, the rest is done.
    """
    await counts.check_calendar(ctx, calendar)
    shard = _shard(ctx, calendar.name)

    async def work(tx: Tx) -> None:
        id_ = await calendars.put(tx, shard, mint(shard, tx.now), ctx.tenant.id, calendar)
        if id_ is None:
            raise ShardClosed(f"the shard of calendar {calendar.name!r} is moving; nothing was changed")
        await references.publish(tx, "calendar", id_, ctx.tenant.id, shard, calendar.name, calendar)
        detail = {"name": calendar.name, "first": calendar.first, "last": calendar.last}
        await outbox.append(tx, shard, ctx.tenant.id, Event.CALENDAR_PUT, detail, job_id=None)
        await audit.append(
            tx,
            shard,
            mint(shard, tx.now),
            ctx.tenant.id,
            actor=ctx.actor,
            action="calendar.put",
            resource=f"calendar/{calendar.name}",
            detail=detail,
        )

    await ctx.store.run(shard, work)
    try:
        await _carry(ctx, calendar.name)
        planned = await ask_each(ctx.store.cells, partial(_plan_anew, ctx, calendar.name))
        missing = [name for name in planned.down if name in _cells_of_jobs(ctx)]
    except NOT_PLANNED as error:
        raise Unavailable("the calendar is written; not all of its jobs could be planned anew, ask again") from error
    if missing:
        raise Unavailable(f"the calendar is written; jobs in {', '.join(missing)} could not be planned anew, ask again")
    return [name for moved in planned.found.values() for name in moved]


def _cells_of_jobs(ctx: Context) -> set[str]:
    """The names of the cells in which the tenant may have jobs; a shard that is open nowhere is refused."""
    return {ctx.store.cell(shard).name for shard in ctx.tenant.shards()}


async def known(ctx: Context, names: Sequence[str]) -> dict[str, Calendar]:
    """The tenant's calendars of these names, from the cell each is at home in: one read of each such cell."""
    homes: dict[Cell, list[str]] = {}
    for name in names:
        homes.setdefault(ctx.store.home_first(_shard(ctx, name))[0], []).append(name)
    found: dict[str, Calendar] = {}
    for here in homes.values():
        cells = ctx.store.home_first(_shard(ctx, here[0]))  # where the home is down, any copy will do
        copies = await ask_first(cells, partial(calendars.copies, tenant_id=ctx.tenant.id, names=here)) or {}
        found |= {name: copy.calendar for name, copy in copies.items()}
    return found


async def page(ctx: Context, *, after: str = "", limit: int) -> list[Calendar]:
    """The tenant's calendars behind a name, by name."""
    look = partial(calendars.page, tenant_id=ctx.tenant.id, after=after, limit=limit)
    found: dict[str, calendars.CalendarCopy] = {}
    for copies in await ctx.ask_each(look):
        for name, copy in copies.items():
            if name not in found or found[name].version < copy.version:
                found[name] = copy
    return [found[name].calendar for name in sorted(found)[:limit]]


async def listing(ctx: Context) -> list[Calendar]:
    """All calendars of the tenant, by name."""
    found: list[Calendar] = []
    while True:
        here = await page(ctx, after=found[-1].name if found else "", limit=MOST_LISTED)
        found += here
        if len(here) < MOST_LISTED:
            return found


def _shard(ctx: Context, name: str) -> int:
    return ctx.tenant.fixed().shard(shard_in(ctx.tenant.id), f"calendar/{name}")


async def _carry(ctx: Context, name: str) -> None:
    """Bring a calendar to every cell now: the plans below must not be older than the answer."""
    async with ctx.store.statement(_shard(ctx, name)) as tx:
        news = await references.named(tx, ctx.tenant.id, "calendar", name)
    await ctx.ask_each(lambda tx: references.copy(tx, news))  # one that is down gets its copy when it is back


async def _plan_anew(ctx: Context, name: str, cell: Cell) -> list[str]:
    """Move the cursors of a cell's jobs that name a calendar; returns the names of those that moved.

    1. The jobs are read by pages, and where each cursor goes is found without a connection.
    2. Cursors are moved a few in a transaction, in the order in which nodes lock them: no node waits long for one.
    3. Nodes are told of a new time after it is committed.
    """
    moved: list[str] = []
    after = UUID(int=0)
    while True:
        async with cell.statement() as tx:
            page = await jobs.with_calendar(tx, ctx.tenant.id, name, after, PAGE)
        moves = await run_in_slices(_moves(page, cell.clock.now()))
        moves.sort(key=lambda move: (move[0].shard, move[0].id))
        for first in range(0, len(moves), JOBS_PER_TRANSACTION):
            done = await cell.run(partial(_move_all, moves[first : first + JOBS_PER_TRANSACTION]))
            for job, wake in done:
                ctx.wakes.wake(job.shard, wake)
                moved.append(job.name)
        if len(page) < PAGE:
            return moved
        after = page[-1].id


def _moves(page: Sequence[Job], now: datetime) -> Steps[list[Move]]:
    """The jobs whose cursor goes elsewhere, to the first expected fire from now on: a day that opened may come sooner.

    A fire that has come due already is still owed: the cursor stays at it, and whoever walks it leaves its row. Which
    days are open is asked when a fire comes due, not here.
    """
    found: list[Move] = []
    for job in page:
        if job.next_fire_at is None or job.next_fire_at > now:
            wake = first_wake(job.schedule({}), now)
            if wake is not None and wake != job.next_fire_at:
                found.append((job, wake))
        yield
    return found


async def _move_all(moves: Sequence[Move], tx: Tx) -> list[Move]:
    """Put cursors there, except those that were moved, or whose fires have come due, meanwhile."""
    return [(job, wake) for job, wake in moves if await _move(tx, job, wake)]


async def _move(tx: Tx, job: Job, wake: datetime) -> bool:
    is_due = job.next_fire_at is not None and job.next_fire_at <= tx.now
    return not is_due and await cursors.revise(tx, job, job.version, wake)

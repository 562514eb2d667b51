"""Calendars: write one, and update the next fires of the jobs that use it."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from horae.domain.errors import ShardClosed, Unavailable
from horae.domain.events.events import Event
from horae.domain.ids import shard_in
from horae.domain.jobs.jobs import Job
from horae.domain.schedules import wake_after_change
from horae.domain.schedules.calendars import Calendar
from horae.domain.steps import Steps
from horae.runtime.heavy import run_in_slices
from horae.runtime.randomness import new_id
from horae.service.context import Context
from horae.service.limits import counts
from horae.store.audit import audit
from horae.store.connections.each_cell import UNSERVED, ask_each, ask_first
from horae.store.events import outbox
from horae.store.jobs import jobs
from horae.store.protocol import CellProtocol
from horae.store.schedules import calendars, cursors
from horae.store.tenants import references
from horae.store.tx import TRY_AGAIN, Tx

PAGE: Final = 500
"""Jobs per page."""
JOBS_PER_TRANSACTION: Final = 20
"""Cursors that one transaction locks; a node that fires one of them waits for that transaction."""
MOST_LISTED: Final = 500
"""Calendars per page of a full list."""
NOT_PLANNED: Final[tuple[type[Exception], ...]] = (Unavailable, *UNSERVED, *TRY_AGAIN)
"""Errors after which the calendar is written, but some of its jobs are not planned again."""
Move = tuple[Job, datetime]
"""A job and the new time of its cursor."""


async def put(ctx: Context, calendar: Calendar) -> list[str]:
    """Write a calendar and move the affected cursors. Returns the names of the jobs whose next fire moved.

    A failure after the calendar is written is reported as such. The same request again completes the rest.
    """
    await counts.check_calendar(ctx, calendar)
    shard = _shard(ctx, calendar.name)

    async def work(tx: Tx) -> None:
        id_ = await calendars.put(tx, shard, new_id(shard, tx.now), ctx.tenant.id, calendar)
        if id_ is None:
            raise ShardClosed(f"the shard of calendar {calendar.name!r} is moving; nothing was changed")
        await references.publish(tx, "calendar", id_, ctx.tenant.id, shard, calendar.name, calendar)
        detail = {"name": calendar.name, "first": calendar.first, "last": calendar.last}
        await outbox.append(tx, shard, ctx.tenant.id, Event.CALENDAR_PUT, detail, job_id=None)
        await audit.append(
            tx,
            shard,
            new_id(shard, tx.now),
            ctx.tenant.id,
            actor=ctx.actor,
            action="calendar.put",
            resource=f"calendar/{calendar.name}",
            detail=detail,
        )

    await ctx.store.run(shard, work)
    try:
        await _copy_to_cells(ctx, calendar.name)
        planned = await ask_each(ctx.store.cells, partial(_replan, ctx, calendar.name))
        missing = [name for name in planned.down if name in _cells_of_jobs(ctx)]
    except NOT_PLANNED as error:
        raise Unavailable("the calendar is written; not all of its jobs could be planned anew, ask again") from error
    if missing:
        raise Unavailable(f"the calendar is written; jobs in {', '.join(missing)} could not be planned anew, ask again")
    return [name for moved in planned.found.values() for name in moved]


def _cells_of_jobs(ctx: Context) -> set[str]:
    """Returns the names of the cells in which the tenant may have jobs. Raises for a shard that no cell has open."""
    return {ctx.store.cell(shard).name for shard in ctx.tenant.shards()}


async def by_names(ctx: Context, names: Sequence[str]) -> dict[str, Calendar]:
    """Returns the tenant's calendars of these names. Each home cell of some of them is read once."""
    homes: dict[CellProtocol, list[str]] = {}
    for name in names:
        homes.setdefault(ctx.store.home_first(_shard(ctx, name))[0], []).append(name)
    found: dict[str, Calendar] = {}
    for here in homes.values():
        cells = ctx.store.home_first(_shard(ctx, here[0]))  # if the home cell is down, any copy is good enough
        copies = await ask_first(cells, partial(calendars.copies, tenant_id=ctx.tenant.id, names=here)) or {}
        found |= {name: copy.calendar for name, copy in copies.items()}
    return found


async def page(ctx: Context, *, after: str = "", limit: int) -> list[Calendar]:
    """Returns the tenant's calendars `after` a name, by name."""
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
    return ctx.tenant.fixed_placement().shard(shard_in(ctx.tenant.id), f"calendar/{name}")


async def _copy_to_cells(ctx: Context, name: str) -> None:
    """Copy a calendar to every cell now, because the fires planned next must use it."""
    async with ctx.store.statement(_shard(ctx, name)) as tx:
        news = await references.named(tx, ctx.tenant.id, "calendar", name)
    await ctx.ask_each(lambda tx: references.copy(tx, news))  # a cell that is down gets its copy later


async def _replan(ctx: Context, name: str, cell: CellProtocol) -> list[str]:
    """Move the cursors of a cell's jobs that use a calendar. Returns the names of the jobs whose cursor moved.

    1. Read the jobs page by page, and compute each new cursor time without holding a connection.
    2. Move a few cursors per transaction, in the lock order of nodes, so that no node waits long.
    3. Wake nodes for a new time after it is committed.
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
    """Returns the jobs whose cursor moves to the first expected fire from now on. A newly opened day may be earlier.

    A fire that is due is still owed, so its cursor stays and a node writes the row. Which days are open is checked when
    a fire is due, not here.
    """
    found: list[Move] = []
    for job in page:
        if job.next_fire_at is None or job.next_fire_at > now:
            schedule = job.schedule({})
            wake = wake_after_change(schedule, schedule, job.next_fire_at, now)
            if wake is not None and wake != job.next_fire_at:
                found.append((job, wake))
        yield
    return found


async def _move_all(moves: Sequence[Move], tx: Tx) -> list[Move]:
    """Move cursors, except where a cursor moved or became due in the meantime."""
    return [(job, wake) for job, wake in moves if await _move(tx, job, wake)]


async def _move(tx: Tx, job: Job, wake: datetime) -> bool:
    is_due = job.next_fire_at is not None and job.next_fire_at <= tx.now
    return not is_due and await cursors.revise(tx, job, job.version, wake)

"""Calendars: put one, and every job that uses it is planned anew."""

from collections.abc import Mapping, Sequence
from datetime import datetime
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
from horae.service.context import Context
from horae.store import audit, calendars, cursors, jobs, outbox, references
from horae.store.cells import Cell
from horae.store.each import ask_each, ask_first
from horae.store.tx import Tx

PAGE: Final = 500


async def put(ctx: Context, calendar: Calendar) -> list[str]:
    """Write a calendar and move the cursors it changes; returns the names of the jobs whose next fire moved."""
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
    await _carry(ctx)
    planned = await ask_each(ctx.store.cells, lambda cell: _plan_anew(ctx, cell, calendar))
    if any(name in planned.down for name in _cells_of_jobs(ctx)):
        raise Unavailable(
            f"the calendar is written; jobs in {', '.join(planned.down)} could not be planned anew, ask again"
        )
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
        copies = await ask_first(cells, lambda tx: calendars.copies(tx, [ctx.tenant.id])) or {}
        found |= {name: copies[ctx.tenant.id, name] for name in here if (ctx.tenant.id, name) in copies}
    return found


async def listing(ctx: Context) -> list[Calendar]:
    """All calendars of the tenant, by name."""
    found: dict[str, Calendar] = {}
    for copies in await ctx.ask_each(lambda tx: calendars.copies(tx, [ctx.tenant.id])):
        found |= {name: calendar for (_, name), calendar in copies.items()}
    return [found[name] for name in sorted(found)]


def _shard(ctx: Context, name: str) -> int:
    return ctx.tenant.fixed().shard(shard_in(ctx.tenant.id), f"calendar/{name}")


async def _carry(ctx: Context) -> None:
    """Bring the tenant's calendars to every cell now: the plans below must not be older than the answer."""
    found = await ctx.ask_each(lambda tx: references.of_kind(tx, ctx.tenant.id, "calendar"))
    news = list({row.id: row for here in found for row in sorted(here, key=lambda row: row.version)}.values())
    if news:
        await ctx.ask_each(lambda tx: references.copy(tx, news))  # one that is down gets its copies when it is back


async def _plan_anew(ctx: Context, cell: Cell, calendar: Calendar) -> list[str]:
    moved: list[str] = []
    after = UUID(int=0)
    while True:
        async with cell.statement() as tx:
            page = await jobs.with_calendar(tx, ctx.tenant.id, calendar.name, after, PAGE)
        days = await known(ctx, sorted({name for job in page for name in job.calendars}))
        wakes = await run_in_slices(_wakes(page, days, cell.clock.now()))
        if wakes:
            async with cell.statement() as tx:
                moved += [job.name for job, wake in wakes if await _move(ctx, tx, job, wake)]  # each its own commit
        if len(page) < PAGE:
            return moved
        after = page[-1].id


def _wakes(page: Sequence[Job], days: Mapping[str, Calendar], now: datetime) -> Steps[list[tuple[Job, datetime]]]:
    """The jobs whose cursor goes elsewhere, to the first expected fire from now on: a day that opened may come sooner.

    A fire that has come due already is still owed: the cursor stays at it, and whoever walks it leaves its row.
    """
    found: list[tuple[Job, datetime]] = []
    for job in page:
        if job.next_fire_at is None or job.next_fire_at > now:
            wake = first_wake(job.schedule({name: days[name] for name in job.calendars if name in days}), now)
            if wake is not None and wake != job.next_fire_at:
                found.append((job, wake))
        yield
    return found


async def _move(ctx: Context, tx: Tx, job: Job, wake: datetime) -> bool:
    """Put a cursor there, unless it was moved, or its fire has come due, meanwhile."""
    if job.next_fire_at is not None and job.next_fire_at <= tx.now:
        return False
    moved = await cursors.revise(tx, job, job.version, wake)
    if moved:
        ctx.wakes.wake(job.shard, wake)
    return moved

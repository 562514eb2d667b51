"""Whoever changes a calendar drops no fire that has come due already (F4), and keeps no node and no other waiting."""

import asyncio
from datetime import date, timedelta

import asyncpg
import pytest
from msgspec.structs import replace

from horae.domain.errors import Unavailable
from horae.domain.schedules import Misfire, OnMisfire, Policies
from horae.domain.schedules.calendars import Calendar, CalendarUse
from horae.domain.schedules.triggers import cron
from horae.service.context import Context
from horae.service.schedules import calendars
from horae.store.connections import held_connections
from horae.store.nodes.wakes import Wakes
from horae.store.row_level_security import Behalf, restrict
from horae.store.schedules import calendars as rows
from horae.store.schedules import cursors
from tests.steps import Looker, a_job, amid, move_clock, query

EVERY_DAY = frozenset(range(1, 8))
ROWS = "select fire_time from instance_live union all select fire_time from instance_history order by 1"


def days(*removed: date) -> Calendar:
    return Calendar(
        name="days", first=date(2020, 1, 1), last=date(2040, 12, 31), weekdays=EVERY_DAY, removed={*removed}
    )


@pytest.mark.parametrize("put", [False, True], ids=["nobody touches it", "it is put"])
async def test_fires_that_came_due_while_no_node_ran_leave_rows_whatever_happens_to_their_calendar(ctx, store, put):
    await amid(store, 86400)
    await calendars.put(ctx, days())
    policies = Policies(calendars=(CalendarUse("days"),), misfire=Misfire(OnMisfire.ALL))
    job = await a_job(ctx, "every-minute", cron("* * * * *"), policies=policies)
    await move_clock(store, minutes=5)
    if put:
        assert await calendars.put(ctx, days(date(2030, 1, 1))) == [], "a holiday years ahead moves no cursor"
    for cell in store.cells:
        await Looker(store, cell).once()
    due = [job.next_fire_at + timedelta(minutes=n) for n in range(5)]
    assert [row["fire_time"] for row in await query(store, ROWS)] == due


class Watched(Wakes):
    """Wakes that note whether the caller holds a connection."""

    def __init__(self):
        self.times, self.connections = [], 0

    def wake(self, _shard, at):
        self.times.append(at)
        self.connections += len(held_connections._held.get(asyncio.current_task(), ()))


async def many_jobs(ctx, store, many):
    """Jobs that fire once a day, on days that are closed now: their cursors stand at tomorrow's fires."""
    await calendars.put(ctx, days())
    for n in range(many):
        await a_job(ctx, f"job-{n}", cron("0 * * * *"), policies=Policies(calendars=(CalendarUse("days"),)))
    await query(store, "update job_cursor set next_fire_at = next_fire_at + interval '1 day'")


async def test_jobs_are_planned_anew_in_short_transactions_in_one_order_and_told_after_them(ctx, store, monkeypatch):
    await many_jobs(ctx, store, 25)
    monkeypatch.setattr(calendars, "JOBS_PER_TRANSACTION", 5)
    walled = restrict(store, Behalf(ctx.tenant.id))
    walled.wakes = wakes = Watched()
    revise, by_transaction = cursors.revise, {}

    async def noted(tx, job, *args):
        by_transaction.setdefault(tx, []).append((job.shard, job.id))
        return await revise(tx, job, *args)

    monkeypatch.setattr(cursors, "revise", noted)
    moved = await calendars.put(Context.of(walled, ctx.tenant, "test"), days(date(2030, 1, 1)))
    assert len(moved) == len(wakes.times) == 25
    assert wakes.connections == 0, "a node that is told of a time finds it committed"
    assert max(map(len, by_transaction.values())) == 5
    assert all(locked == sorted(locked) for locked in by_transaction.values())


async def test_a_calendar_that_is_written_is_said_to_be_so_whatever_becomes_of_its_jobs(ctx, store, monkeypatch):
    await many_jobs(ctx, store, 2)
    revise, failed = cursors.revise, []

    async def deadlocked(*args):
        failed.append(True)
        raise asyncpg.DeadlockDetectedError("deadlock detected")

    monkeypatch.setattr(cursors, "revise", deadlocked)
    with pytest.raises(Unavailable, match="is written"):
        await calendars.put(ctx, days(date(2030, 1, 1)))
    assert len(failed) > 1, "it is tried more than once"
    monkeypatch.setattr(cursors, "revise", revise)
    assert len(await calendars.put(ctx, days(date(2030, 1, 1)))) == 2


async def test_a_change_reads_the_calendars_it_names_and_no_others(ctx, store, monkeypatch):
    for n in range(4):
        await calendars.put(ctx, replace(days(), name=f"c{n}"))
    copies, read = rows.copies, []

    async def noted(*args, **kwargs):
        found = await copies(*args, **kwargs)
        read.extend(sorted(found))
        return found

    monkeypatch.setattr(rows, "copies", noted)
    assert sorted(await calendars.by_names(ctx, ["c1", "c3"])) == sorted(read) == ["c1", "c3"]


async def test_calendars_are_listed_by_pages(ctx, monkeypatch):
    monkeypatch.setattr(calendars, "MOST_LISTED", 2)
    for n in range(5):
        await calendars.put(ctx, replace(days(), name=f"c{n}"))
    assert [one.name for one in await calendars.page(ctx, after="c1", limit=2)] == ["c2", "c3"]
    assert [one.name for one in await calendars.listing(ctx)] == [f"c{n}" for n in range(5)]

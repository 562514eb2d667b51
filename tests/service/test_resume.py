"""A job that is resumed goes on where its answer says, by the schedule that it has then."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from horae.domain.schedule import first_wake
from horae.domain.triggers import cron
from horae.service import jobs, schedules
from tests.steps import Looker, a_job, move_clock, query

READS_BEFORE_CHANGE = 2
"""A resume reads its job for the calendars that it names, and again in its transaction."""


async def to(store, moment):
    await move_clock(store, seconds=(moment - store.cells[0].clock.now()).total_seconds())


async def fire(store):
    for cell in store.cells:
        await Looker(store, cell).once()


async def cursor_of(store):
    [cursor] = await query(store, "select version, next_fire_at from job_cursor")
    return tuple(cursor)


async def test_a_schedule_that_was_changed_in_the_pause_fires_nothing_of_the_one_before(ctx, store):
    job = await a_job(ctx, "often", cron("* * * * *"))
    minute = job.next_fire_at + timedelta(minutes=2)
    await to(store, minute - timedelta(seconds=90))
    await fire(store)
    await query(store, "truncate instance_live, instance_history")
    await jobs.pause(ctx, "often")
    other = cron(f"{(minute + timedelta(minutes=30)).minute} * * * *")
    await schedules.update(ctx, "often", replace(job.definition, trigger=other))
    await to(store, minute + timedelta(seconds=20))
    resumed = await jobs.resume(ctx, "often")
    assert resumed.next_fire_at > minute + timedelta(minutes=25)
    assert await cursor_of(store) == (2, resumed.next_fire_at)
    await fire(store)
    assert await query(store, "select fire_time from instance_live") == []


@pytest.mark.parametrize("minutes", [1, 90], ids=["nothing passed", "something passed"])
async def test_a_change_that_is_committed_beside_a_resume_is_what_it_goes_by(ctx, store, monkeypatch, minutes):
    job = await a_job(ctx, "hourly", cron("0 * * * *"))
    await to(store, job.next_fire_at + timedelta(seconds=70))
    await fire(store)
    await jobs.pause(ctx, "hourly")
    await move_clock(store, minutes=minutes)
    other = replace(job.definition, trigger=cron("*/7 * * * *"))
    find_in, reads = jobs.find_in, []

    async def overtaken(*args):
        found = await find_in(*args)
        reads.append(found.version)
        if len(reads) == READS_BEFORE_CHANGE:
            await asyncio.create_task(schedules.update(ctx, "hourly", other))
        return found

    monkeypatch.setattr(jobs, "find_in", overtaken)
    resumed = await jobs.resume(ctx, "hourly")
    assert await cursor_of(store) == (resumed.version, resumed.next_fire_at)
    assert resumed.definition.trigger == other.trigger
    assert resumed.next_fire_at == first_wake(resumed.schedule({}), store.cells[0].clock.now())

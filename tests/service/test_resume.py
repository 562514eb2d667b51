"""A job that is resumed goes on where its answer says, by the schedule that it has then."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from horae.domain.jobs.jobs import Status
from horae.domain.schedules import first_wake
from horae.domain.schedules.calendars import CalendarMode, CalendarUse, calendar_of_days
from horae.domain.schedules.triggers import cron
from horae.service.jobs import jobs
from horae.service.schedules import calendars, schedules
from tests.steps import Looker, a_job, move_clock, query

READS_BEFORE_LOCK = 1
"""A resume reads its job for the calendars that it names, locks its cursor, and reads it again."""


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


@pytest.fixture(params=[1, 90], ids=["nothing passed", "something passed"])
async def paused(ctx, store, request):
    """An hourly job that fired, and has been paused for so many minutes."""
    job = await a_job(ctx, "hourly", cron("0 * * * *"))
    await to(store, job.next_fire_at + timedelta(seconds=70))
    await fire(store)
    await jobs.pause(ctx, "hourly")
    await move_clock(store, minutes=request.param)
    return job


@pytest.fixture
def overtaken(ctx, paused, monkeypatch):
    """Asks for another schedule when a resume has read the job so often: the change is a task of the list it gives."""
    other = replace(paused.definition, trigger=cron("*/7 * * * *"))
    find_in, asked = jobs.find_in, []

    def overtake(reads, *, awaited):
        async def find(*args, **named):
            nonlocal reads
            found, reads = await find_in(*args, **named), reads - 1
            if reads == 0:
                asked.append(asyncio.create_task(schedules.update(ctx, "hourly", other)))
                await (asked[0] if awaited else asyncio.sleep(0))
            return found

        monkeypatch.setattr(jobs, "find_in", find)
        return asked

    return overtake


async def test_a_change_that_is_committed_beside_a_resume_is_what_it_goes_by(ctx, store, overtaken):
    asked = overtaken(READS_BEFORE_LOCK, awaited=True)
    resumed = await jobs.resume(ctx, "hourly")
    [change] = asked
    assert await cursor_of(store) == (resumed.version, resumed.next_fire_at)
    assert resumed.definition.trigger == change.result().definition.trigger
    assert resumed.next_fire_at == first_wake(resumed.schedule({}), store.cells[0].clock.now())


async def test_a_change_that_is_asked_for_within_a_resume_waits_for_its_end(ctx, store, overtaken):
    asked = overtaken(READS_BEFORE_LOCK + 1, awaited=False)
    resumed = await jobs.resume(ctx, "hourly")
    changed = await asked[0]
    assert changed.version == resumed.version + 1
    assert changed.status is Status.ACTIVE
    assert await cursor_of(store) == (changed.version, changed.next_fire_at)


@pytest.fixture
async def made_early(ctx, store):
    """An hourly job whose next fire was moved forward by half an hour, and was made."""
    job = await a_job(ctx, "hourly", cron("0 * * * *"))
    await to(store, job.next_fire_at - timedelta(minutes=50))
    await schedules.move(ctx, "hourly", job.next_fire_at, job.next_fire_at - timedelta(minutes=30))
    await to(store, job.next_fire_at - timedelta(minutes=20))
    await fire(store)
    return job


async def pause_and_resume(ctx):
    await jobs.pause(ctx, "hourly")
    await jobs.resume(ctx, "hourly")


async def put_calendar(ctx):
    job = await jobs.find(ctx, "hourly")
    day = job.next_fire_at.date()
    await calendars.put(ctx, calendar_of_days("none", day - timedelta(days=9), day + timedelta(days=9), []))
    policies = replace(job.definition.policies, calendars=(CalendarUse("none", CalendarMode.EXCLUDE),))
    await schedules.update(ctx, "hourly", replace(job.definition, policies=policies))
    await calendars.put(ctx, calendar_of_days("none", day - timedelta(days=9), day + timedelta(days=8), []))


@pytest.mark.parametrize(
    "change",
    [
        lambda ctx, _at: schedules.label(ctx, "hourly", {"a": "b"}),
        lambda ctx, at: schedules.restore(ctx, "hourly", at),
        lambda ctx, at: schedules.skip(ctx, "hourly", at),
        lambda ctx, _at: pause_and_resume(ctx),
        lambda ctx, _at: put_calendar(ctx),
    ],
    ids=["label", "restore", "skip", "pause", "calendar"],
)
async def test_a_fire_that_was_moved_forward_and_made_is_recorded_once_whatever_changes(ctx, store, made_early, change):
    await change(ctx, made_early.next_fire_at)
    await fire(store)
    await to(store, made_early.next_fire_at + timedelta(minutes=2))
    await fire(store)
    rows = "select fire_time from instance_live union all select fire_time from instance_history"
    assert [row["fire_time"] for row in await query(store, rows)] == [made_early.next_fire_at]
    assert (await cursor_of(store))[1] == made_early.next_fire_at + timedelta(hours=1)

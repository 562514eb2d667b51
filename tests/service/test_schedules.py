"""Calendars, single occurrences, previews and forecasts, over real rows and a node that fires by them."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from horae.domain.errors import InvalidSchedule
from horae.domain.schedules import FireVerdict, Misfire, OnMisfire, OnOverlap, Policies, SkipVerdict, Spread
from horae.domain.schedules.calendars import Calendar, CalendarMode, CalendarUse
from horae.domain.schedules.triggers import cron
from horae.domain.zones.zones import tzdata_version
from horae.engine.calendars import Almanac
from horae.service.jobs import jobs
from horae.service.schedules import calendars, forecasts, schedules
from horae.upkeep.copies import Copier
from horae.upkeep.partitions import Partitioner
from tests.steps import Looker, a_job, move_clock, query

NINE = cron("0 9 * * *")


def firers(store):
    return [Looker(store, cell) for cell in store.cells]


async def fire(store, workers):
    for worker in workers:
        while await worker.once():
            pass


async def to(store, moment):
    """Move the clock to a moment, and have the days' partitions."""
    await move_clock(store, seconds=(moment - store.cells[0].clock.now()).total_seconds())
    await Partitioner(store).once()


def open_days(now, *days, name="open"):
    first = now.date() - timedelta(days=1)
    added = frozenset((now + timedelta(days=day)).date() for day in days)
    return Calendar(name=name, first=first, last=first + timedelta(days=60), added=added)


async def next_nine(store):
    now = store.cells[0].clock.now()
    nine = now.replace(hour=9, minute=0, second=0, microsecond=0)
    return nine if nine > now else nine + timedelta(days=1)


async def test_a_calendar_decides_and_every_skipped_day_leaves_its_reason(ctx, store):
    nine = await next_nine(store)
    await calendars.put(ctx, open_days(nine, 1, 3))
    await a_job(ctx, "daily", NINE, policies=Policies(calendars=(CalendarUse("open"),)))
    workers = firers(store)
    for day in range(4):
        await to(store, nine + timedelta(days=day, seconds=1))
        await fire(store, workers)
    born = await query(store, "select fire_time from instance_live order by 1")
    assert [row["fire_time"] for row in born] == [nine + timedelta(days=day) for day in (1, 3)]
    told = await query(store, "select fire_time, reason from instance_history order by 1")
    assert [(row["fire_time"], row["reason"]) for row in told] == [
        (nine, "CALENDAR"),
        (nine + timedelta(days=2), "CALENDAR"),
    ]


async def test_a_day_that_opens_later_is_not_missed(ctx, store):
    """The cursor had gone past it; putting the calendar sends it back."""
    nine = await next_nine(store)
    await calendars.put(ctx, open_days(nine, 5))
    await a_job(ctx, "hourly", cron("0 * * * *"), policies=Policies(calendars=(CalendarUse("open"),)))
    workers = firers(store)
    await to(store, nine - timedelta(minutes=30))
    await fire(store, workers)  # on time again
    await to(store, nine + timedelta(seconds=1))
    await fire(store, workers)
    [cursor] = await query(store, "select next_fire_at from job_cursor")
    assert cursor["next_fire_at"] >= nine + timedelta(hours=12), "a closed day is passed in one step"
    assert await calendars.put(ctx, open_days(nine, 0, 1, 5)) == ["hourly"]
    for worker in workers:
        worker.firer.almanac = Almanac(worker.cell)  # two seconds have passed
    await to(store, nine + timedelta(hours=1, seconds=1))
    await fire(store, workers)
    born = await query(store, "select fire_time from instance_live")
    assert [row["fire_time"] for row in born] == [nine + timedelta(hours=1)]


async def test_calendars_reach_every_cell_and_unknown_ones_are_refused(ctx, store):
    await calendars.put(ctx, open_days(store.cells[0].clock.now(), 1))
    await Copier(store).once()
    assert len(await query(store, "select * from reference where kind = 'calendar'")) == 2
    assert [one.name for one in await calendars.listing(ctx)] == ["open"]
    with pytest.raises(InvalidSchedule, match="nothing"):
        await a_job(ctx, "x", NINE, policies=Policies(calendars=(CalendarUse("nothing", CalendarMode.EXCLUDE),)))
    audited = await query(store, "select action from audit_log where action like 'calendar%'")
    assert [row["action"] for row in audited] == ["calendar.put"]


@pytest.mark.parametrize("hours", [-3, 3])
async def test_a_moved_occurrence_fires_at_its_new_time_under_its_own_key(ctx, store, hours):
    await a_job(ctx, "daily", NINE)
    nine = await next_nine(store)
    second = nine + timedelta(days=1)
    moved = await schedules.move(ctx, "daily", second, second + timedelta(hours=hours))
    assert moved.version == 2
    workers = firers(store)
    for moment in (nine, min(second, second + timedelta(hours=hours)), second + timedelta(days=1)):
        await to(store, moment + timedelta(seconds=1))
        await fire(store, workers)
    rows = await query(store, "select fire_time, due_at, idem_key from instance_live order by 1")
    assert [row["fire_time"] for row in rows] == [nine, second, second + timedelta(days=1)]
    assert rows[1]["due_at"] == second + timedelta(hours=hours)
    assert rows[1]["idem_key"].endswith(f":{int(second.timestamp())}")


async def moved_forward(ctx, store, **facts):
    """A daily job whose next occurrence happens three hours early; returns the job and the nominal time."""
    job = await a_job(ctx, "daily", NINE, **facts)
    second = await next_nine(store) + timedelta(days=1)
    await to(store, second - timedelta(hours=12))
    await fire(store, firers(store))
    await query(store, "truncate instance_live, instance_history")  # the first occurrence is of no interest
    await schedules.move(ctx, "daily", second, second - timedelta(hours=3))
    return job, second


async def told_and_next(store):
    [told] = await query(store, "select reason, fire_time from instance_history")
    [cursor] = await query(store, "select next_fire_at from job_cursor")
    return told["reason"], told["fire_time"], cursor["next_fire_at"]


async def test_a_fire_moved_forward_that_the_database_refuses_is_told_and_the_cursor_goes_on(ctx, store):
    job, nine = await moved_forward(ctx, store)
    await query(store, f"alter table instance_live add constraint spite check (job_id <> '{job.id}')")
    await to(store, nine - timedelta(hours=3) + timedelta(seconds=1))
    await fire(store, firers(store))
    assert await told_and_next(store) == ("REFUSED", nine, nine + timedelta(days=1))


async def test_a_fire_moved_forward_that_was_missed_is_told_and_the_cursor_goes_on(ctx, store):
    _, nine = await moved_forward(ctx, store, policies=Policies(misfire=Misfire(OnMisfire.SKIP)))
    await to(store, nine + timedelta(hours=3))
    await fire(store, firers(store))
    assert await told_and_next(store) == ("MISFIRE", nine, nine + timedelta(days=1))


async def test_a_fire_moved_forward_that_passed_in_a_pause_is_told_under_its_own_time(ctx, store):
    _, nine = await moved_forward(ctx, store)
    await jobs.pause(ctx, "daily")
    await to(store, nine + timedelta(hours=3))
    await jobs.resume(ctx, "daily")
    assert await told_and_next(store) == ("PAUSED", nine, nine + timedelta(days=1))


async def test_a_skipped_occurrence_can_be_restored_and_versions_tell_the_story(ctx, store):
    await a_job(ctx, "daily", NINE)
    nine = await next_nine(store)
    await schedules.skip(ctx, "daily", nine)
    preview = await schedules.preview(ctx, await jobs.find(ctx, "daily"), many=2)
    assert [type(verdict) for verdict in preview.verdicts] == [SkipVerdict, FireVerdict]
    restored = await schedules.restore(ctx, "daily", nine)
    assert (restored.version, restored.definition.overrides) == (3, ())
    await schedules.skip(ctx, "daily", nine)
    await to(store, nine + timedelta(seconds=1))
    await fire(store, firers(store))
    [told] = await query(store, "select reason, fire_time from instance_history")
    assert tuple(told) == ("REQUESTED", nine)
    versions = await query(store, "select version from job_version order by 1")
    assert [row["version"] for row in versions] == [1, 2, 3, 4]
    with pytest.raises(InvalidSchedule):
        await schedules.skip(ctx, "daily", nine + timedelta(hours=1))
    with pytest.raises(InvalidSchedule):
        await schedules.move(ctx, "daily", nine + timedelta(days=1), nine + timedelta(days=3))


async def test_a_changed_schedule_goes_on_from_now_with_its_new_version(ctx, store):
    job = await a_job(ctx, "daily", NINE)
    changed = await schedules.update(ctx, "daily", replace(job.definition, trigger=cron("0 * * * *")))
    [cursor] = await query(store, "select version, next_fire_at from job_cursor")
    assert (cursor["version"], cursor["next_fire_at"]) == (2, changed.next_fire_at)
    assert changed.next_fire_at - store.cells[0].clock.now() <= timedelta(hours=1)


async def test_what_came_due_before_a_schedule_changed_has_its_rows_and_the_new_one_owes_only_what_follows(ctx, store):
    job = await a_job(ctx, "minutely", cron("* * * * *"), policies=Policies(misfire=Misfire(OnMisfire.ALL, cap=3)))
    began = job.next_fire_at
    await to(store, began + timedelta(minutes=9, seconds=30))
    changed = await schedules.update(ctx, "minutely", replace(job.definition, trigger=cron("*/2 * * * *")))
    born = await query(store, "select fire_time, job_version, state from instance_live order by 1")
    assert [row["fire_time"] for row in born] == [began + timedelta(minutes=n) for n in (6, 7, 8, 9)]
    assert {(row["job_version"], row["state"]) for row in born} == {(1, "INIT")}
    [told] = await query(store, "select fire_time, range_count, reason from instance_history")
    assert (told["fire_time"], told["range_count"], told["reason"]) == (began, 6, "OVER_CAP")
    await fire(store, firers(store))
    assert len(await query(store, "select from instance_live")) == len(born)
    assert changed.next_fire_at > store.cells[0].clock.now()


async def test_a_fire_that_is_due_when_its_schedule_changes_runs_once(ctx, store):
    job = await a_job(ctx, "daily", NINE)
    await to(store, await next_nine(store) + timedelta(seconds=1))
    await schedules.update(ctx, "daily", replace(job.definition, trigger=cron("0 10 * * *")))
    await fire(store, firers(store))
    assert [row["fire_time"] for row in await query(store, "select fire_time from instance_live")] == [job.next_fire_at]
    assert not await query(store, "select from instance_history")


@pytest.mark.parametrize(("overlap", "states"), [(OnOverlap.FORBID, ["INIT"]), (OnOverlap.QUEUE_ONE, ["INIT"])])
async def test_of_what_an_exclusive_job_owes_one_runs_and_the_others_say_why_not(ctx, store, overlap, states):
    job = await a_job(ctx, "alone", cron("* * * * *"), policies=Policies(overlap=overlap))
    await to(store, job.next_fire_at + timedelta(minutes=4, seconds=10))
    await schedules.update(ctx, "alone", replace(job.definition, trigger=cron("0 0 1 1 *")))
    born = await query(store, "select state, exclusive from instance_live order by fire_time")
    told = await query(store, "select range_count, reason from instance_history")
    assert [row["state"] for row in born] == states
    assert len(born) + sum(row["range_count"] for row in told) == 5
    assert {row["reason"] for row in told} == {"MISFIRE", "OVERLAP"}


async def test_a_new_target_alone_leaves_what_is_owed_to_the_new_version(ctx, store):
    job = await a_job(ctx, "minutely", cron("* * * * *"))
    await to(store, job.next_fire_at + timedelta(seconds=30))
    await schedules.label(ctx, "minutely", {"team": "a"})
    await fire(store, firers(store))
    [row] = await query(store, "select fire_time, job_version from instance_live")
    assert (row["fire_time"], row["job_version"]) == (job.next_fire_at, 2)


async def test_a_window_moves_the_due_time_and_not_the_name(ctx, store):
    await a_job(ctx, "daily", NINE, policies=Policies(spread=Spread(window=1800)))
    nine = await next_nine(store)
    await to(store, nine + timedelta(seconds=1))
    await fire(store, firers(store))
    [row] = await query(store, "select fire_time, due_at, state from instance_live")
    assert (row["fire_time"], row["state"]) == (nine, "INIT")
    assert nine < row["due_at"] < nine + timedelta(seconds=1800)


async def test_max_count_ends_a_job(ctx, store):
    await a_job(ctx, "thrice", cron("0 * * * *"), policies=Policies(max_count=3, misfire=Misfire(OnMisfire.ALL)))
    await to(store, store.cells[0].clock.now() + timedelta(hours=9))
    await fire(store, firers(store))
    assert len(await query(store, "select * from instance_live")) == 3
    assert [row["status"] for row in await query(store, "select status from job")] == ["COMPLETED"]


async def test_an_outage_leaves_one_verdict_for_each_fire(ctx, store):
    await a_job(ctx, "minutely", cron("* * * * *"))
    began = (await jobs.find(ctx, "minutely")).next_fire_at
    await to(store, began + timedelta(minutes=99, seconds=30))
    await fire(store, firers(store))
    born = await query(store, "select fire_time from instance_live order by 1")
    told = await query(store, "select * from instance_history")
    assert sum(row["range_count"] for row in told) + len(born) == 100
    assert {row["reason"] for row in told} == {"MISFIRE"}
    assert born[-1]["fire_time"] == began + timedelta(minutes=99)


async def test_the_answer_says_the_dialect_a_sentence_in_two_languages_and_five_fires(ctx):
    job = await a_job(ctx, "coupon_job", cron("0 */5 * * * ?"))
    said = await schedules.preview(ctx, job)
    assert said.dialect == "spring6"
    assert job.definition.trigger.tzdata == tzdata_version()
    assert said.english
    assert any("一" <= letter <= "鿿" for letter in said.chinese)
    assert len(said.verdicts) == 5
    assert said.verdicts[0].fire_time == job.next_fire_at


async def test_a_forecast_counts_what_will_fire(ctx):
    for n in range(3):
        await a_job(ctx, f"j{n}", cron("0 * * * *"))
    found = await forecasts.forecast(ctx, hours=24)
    assert (found.forecast.total, found.jobs, found.complete) == (72, 3, True)
    assert (found.worst[0].fires, found.worst[0].jobs) == (3, ["j0", "j1", "j2"])


async def test_a_resumed_job_tells_what_passed_as_one_range(ctx, store):
    await a_job(ctx, "per-second", cron("* * * * * ?"))
    await jobs.pause(ctx, "per-second")
    await to(store, store.cells[0].clock.now() + timedelta(days=40))
    await jobs.resume(ctx, "per-second")
    [told] = await query(store, "select reason, range_count from instance_history")
    assert told["reason"] == "PAUSED"
    assert abs(told["range_count"] - 40 * 86400) < 120


async def test_a_job_has_so_many_single_occurrences_and_what_is_above_can_be_taken_away(ctx, monkeypatch):
    monkeypatch.setattr("horae.domain.schedules.overrides.MOST_OVERRIDES", 3)
    job = await a_job(ctx, "hourly", cron("0 * * * *"))
    occurrences = [job.next_fire_at + timedelta(hours=n) for n in range(1, 5)]
    for at in occurrences[:3]:
        await schedules.skip(ctx, "hourly", at)
    with pytest.raises(InvalidSchedule, match="at most 3"):
        await schedules.skip(ctx, "hourly", occurrences[3])
    with pytest.raises(InvalidSchedule, match="at most 3"):
        await schedules.move(ctx, "hourly", occurrences[3], occurrences[3] + timedelta(minutes=1))
    await schedules.move(ctx, "hourly", occurrences[0], occurrences[0] + timedelta(minutes=1))
    await schedules.restore(ctx, "hourly", occurrences[1])
    assert len((await schedules.skip(ctx, "hourly", occurrences[3])).definition.overrides) == 3

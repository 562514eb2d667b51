"""Walking a cursor to the end tells the same story as the plan: every expected fire gets exactly one verdict."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.domain.cron import Gap
from horae.domain.errors import InvalidSchedule
from horae.domain.instances.outcomes import SkipReason
from horae.domain.schedules import (
    FireVerdict,
    Misfire,
    OnMisfire,
    Override,
    Policies,
    Schedule,
    SkipVerdict,
    Spread,
    advance,
    check,
    fires,
    first_wake,
    skip_until,
    wake_after_change,
)
from horae.domain.schedules.calendars import CalendarMode, CalendarUse, workdays
from horae.domain.schedules.triggers import CronTrigger, IntervalTrigger, cron
from horae.domain.schedules.verdicts import LAST

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)  # a Monday
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
DAILY = cron("0 9 * * *")
WORKDAYS = workdays("w", date(2026, 1, 1), date(2026, 12, 31), holidays=[date(2026, 3, 4)])
ALWAYS = Misfire(OnMisfire.ALL)


def a_schedule(trigger=DAILY, overrides=(), **policies):
    return Schedule(trigger=trigger, key="k", policies=Policies(**policies), overrides=tuple(overrides))


def walk(schedule, since, until, lateness=timedelta(seconds=1)):
    """Let a cursor go its way, always looked at a little after its time."""
    told, fired = [], 0
    wake = first_wake(schedule, since)
    while wake is not None and wake < until:
        step = advance(schedule, wake, wake + lateness, fired=fired)
        told += step.verdicts
        fired += sum(isinstance(verdict, FireVerdict) for verdict in step.verdicts)
        assert step.wake is None or step.wake > wake, "a cursor always moves on"
        wake = step.wake
    return told


def counted(verdicts):
    return sum(verdict.fires if isinstance(verdict, SkipVerdict) else 1 for verdict in verdicts)


def test_a_plain_schedule_fires_and_goes_on():
    step = advance(a_schedule(), NOW, NOW)
    assert step.verdicts == (FireVerdict(NOW, NOW),)
    assert step.wake == NOW + DAY


def test_a_calendar_skips_with_its_reason_and_the_days_around_it_fire():
    told = walk(_on_workdays(), NOW - HOUR, NOW + 5 * DAY)
    days = {verdict.fire_time.day: verdict for verdict in told}
    assert [day for day, verdict in days.items() if isinstance(verdict, FireVerdict)] == [2, 3, 5, 6]
    assert isinstance(days[4], SkipVerdict)
    assert days[4].reason is SkipReason.CALENDAR


def _on_workdays(trigger=DAILY):
    return Schedule(
        trigger=trigger,
        key="k",
        policies=Policies(calendars=(CalendarUse("w", CalendarMode.INCLUDE),)),
        calendars={"w": WORKDAYS},
    )


def test_a_weekend_of_seconds_is_a_few_verdicts_not_thousands():
    told = walk(
        _on_workdays(cron("*/10 * * * * ?")),
        NOW + 4 * DAY + 14 * HOUR - timedelta(seconds=1),
        NOW + 6 * DAY + 16 * HOUR,
    )
    assert len([verdict for verdict in told if isinstance(verdict, SkipVerdict)]) <= 3
    assert counted(told) == (2 * DAY + 2 * HOUR) // timedelta(seconds=10)


def test_an_unknown_year_is_skipped_and_said_to_be_unknown():
    [first, *_] = walk(_on_workdays(), datetime(2027, 1, 1, tzinfo=UTC), datetime(2027, 1, 3, tzinfo=UTC))
    assert first.reason is SkipReason.CALENDAR_UNKNOWN


@pytest.mark.parametrize(("hours", "due"), [(-3, 6), (3, 12)])
def test_a_moved_occurrence_is_due_at_its_new_time_and_keeps_its_name(hours, due):
    moved = a_schedule(overrides=[Override(NOW + DAY, NOW + DAY + hours * HOUR)])
    step = advance(moved, NOW, NOW)
    assert step.wake == min(NOW + DAY, NOW + DAY + hours * HOUR)
    step = advance(moved, step.wake, step.wake)
    assert step.verdicts == (FireVerdict(NOW + DAY, (NOW + DAY).replace(hour=due)),)
    assert step.wake == NOW + 2 * DAY


def test_a_skipped_occurrence_says_that_it_was_asked_for():
    told = walk(a_schedule(overrides=[Override(NOW + DAY)]), NOW - HOUR, NOW + 3 * DAY)
    assert [type(verdict) for verdict in told] == [FireVerdict, SkipVerdict, FireVerdict]
    assert told[1].reason is SkipReason.REQUESTED


def test_a_time_that_the_clocks_jump_over_leaves_a_verdict_where_it_is_skipped():
    trigger = CronTrigger("30 2 * * *", DAILY.dialect, "America/New_York", dst_gap=Gap.SKIP)
    told = walk(a_schedule(trigger), datetime(2026, 3, 6, tzinfo=UTC), datetime(2026, 3, 10, tzinfo=UTC))
    assert [type(verdict) for verdict in told] == [FireVerdict, FireVerdict, SkipVerdict, FireVerdict]
    assert told[2].reason is SkipReason.DST_GAP


def test_start_end_and_count_bound_a_schedule():
    told = walk(a_schedule(start=NOW + 2 * DAY, end=NOW + 5 * DAY), NOW, NOW + 30 * DAY)
    assert [verdict.fire_time for verdict in told] == [NOW + n * DAY for n in (2, 3, 4)]
    assert len(walk(a_schedule(max_count=4), NOW, NOW + 30 * DAY)) == 4


@pytest.mark.parametrize(
    ("misfire", "fired", "skipped"),
    [
        (Misfire(OnMisfire.SKIP), 0, {SkipReason.MISFIRE: 10}),
        (Misfire(OnMisfire.ONCE), 1, {SkipReason.MISFIRE: 9}),
        (Misfire(OnMisfire.ALL), 10, {}),
        (Misfire(OnMisfire.ALL, cap=4), 4, {SkipReason.OVER_CAP: 6}),
        (Misfire(OnMisfire.ALL, max_lateness=3 * 86400.0 + 60), 3, {SkipReason.TOO_LATE: 7}),
    ],
)
def test_ten_missed_days_follow_the_policy_and_each_has_a_verdict(misfire, fired, skipped):
    step = advance(a_schedule(misfire=misfire), NOW, NOW + 9 * DAY + HOUR / 2)
    told = {}
    for verdict in step.verdicts:
        if isinstance(verdict, SkipVerdict):
            told[verdict.reason] = told.get(verdict.reason, 0) + verdict.fires
    assert sum(isinstance(verdict, FireVerdict) for verdict in step.verdicts) == fired
    assert told == skipped
    assert step.wake == NOW + 10 * DAY


def test_a_pace_spreads_what_is_made_up_for():
    now = NOW + 3 * DAY + HOUR
    step = advance(a_schedule(misfire=Misfire(OnMisfire.ALL, pace=60)), NOW, now)
    assert [verdict.due_at - now for verdict in step.verdicts] == [timedelta(minutes=n) for n in range(4)]


@given(
    minutes=st.integers(1, 600),
    lateness=st.integers(0, 7200),
    window=st.integers(0, 300),
    skipped=st.sets(st.integers(1, 20), max_size=3),
    excluded=st.booleans(),
)
def test_walking_late_or_on_time_gives_every_expected_fire_exactly_one_verdict(
    minutes, lateness, window, skipped, excluded
):
    trigger = IntervalTrigger(minutes * 60.0, NOW)
    every = timedelta(minutes=minutes)
    schedule = Schedule(
        trigger=trigger,
        key="k",
        policies=Policies(
            misfire=ALWAYS,
            spread=Spread(window=float(window)),
            calendars=(CalendarUse("w", CalendarMode.EXCLUDE if excluded else CalendarMode.INCLUDE),),
        ),
        overrides=tuple(Override(NOW + n * every) for n in sorted(skipped)),
        calendars={"w": WORKDAYS},
    )
    until = NOW + 30 * every
    told = walk(schedule, NOW - timedelta(seconds=1), until, timedelta(seconds=lateness))
    covered = []
    for verdict in told:
        last = verdict.until if isinstance(verdict, SkipVerdict) else verdict.fire_time
        covered += [verdict.fire_time + n * every for n in range((last - verdict.fire_time) // every + 1)]
    assert covered == [NOW + n * every for n in range(len(covered))], "in order, none twice, none left out"
    assert len(covered) >= 30
    if lateness <= 60:
        plan = {verdict.fire_time for verdict in fires(schedule, NOW, until) if isinstance(verdict, FireVerdict)}
        assert {
            verdict.fire_time for verdict in told if isinstance(verdict, FireVerdict) and verdict.fire_time < until
        } == plan


def test_a_cursor_at_no_fire_of_its_schedule_any_more_just_moves_on():
    step = advance(a_schedule(max_count=9), NOW + HOUR, NOW + HOUR)
    assert step.verdicts == ()
    assert step.wake == NOW + DAY
    assert advance(a_schedule(end=NOW), NOW, NOW).wake is None


@pytest.mark.parametrize("stands_at", [NOW + 2 * HOUR, NOW + 2 * HOUR + 10 * MINUTE], ids=["before it", "at it"])
def test_a_fire_moved_into_a_pause_is_passed_with_it_and_the_cursor_goes_on_behind(stands_at):
    noon = NOW + 3 * HOUR
    schedule = a_schedule(cron("0 * * * *"), [Override(noon, NOW + 2 * HOUR + 10 * MINUTE)])
    step = skip_until(schedule, stands_at, NOW + 2 * HOUR + 30 * MINUTE, SkipReason.PAUSED)
    first = min(stands_at, noon) if stands_at.minute == 0 else noon
    assert step.verdicts == (SkipVerdict(first, noon, 1 + (first < noon), SkipReason.PAUSED),)
    assert step.wake == noon + HOUR


def test_due_times_of_a_catch_up_end_where_time_does():
    pace = Misfire(OnMisfire.ALL, cap=10_000, pace=366 * 86_400)
    schedule = a_schedule(IntervalTrigger(1, NOW), misfire=pace)
    step = advance(schedule, NOW, NOW + 3 * HOUR)
    assert max(verdict.due_at for verdict in step.verdicts if isinstance(verdict, FireVerdict)) == LAST


def test_a_catch_up_that_would_take_more_than_a_year_is_refused():
    check(a_schedule(misfire=Misfire(OnMisfire.ALL, cap=10_000, pace=60)), NOW)
    with pytest.raises(InvalidSchedule, match="a year"):
        check(a_schedule(misfire=Misfire(OnMisfire.ALL, cap=10_000, pace=366 * 86_400)), NOW)


def test_a_fire_that_was_moved_forward_and_made_is_not_made_again_after_a_change():
    noon = NOW + 3 * HOUR
    moved = a_schedule(cron("0 12 * * *"), [Override(noon, noon - 2 * HOUR)])
    later = noon - HOUR  # an hour after it was made
    assert first_wake(moved, later) == noon - 2 * HOUR
    assert wake_after_change(moved, moved, noon + DAY, later) == noon + DAY
    restored, often = a_schedule(cron("0 12 * * *")), a_schedule(cron("*/30 * * * *"))
    assert wake_after_change(moved, restored, noon + DAY, later) == noon + DAY
    assert wake_after_change(moved, often, noon + DAY, later) == later + 30 * MINUTE
    assert wake_after_change(moved, moved, noon, later) == noon - 2 * HOUR, "the cursor has not passed it"
    assert wake_after_change(restored, moved, noon, later) == noon - 2 * HOUR, "it was moved while nobody fired"

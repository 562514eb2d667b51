"""Every expected fire has a verdict before anything happens."""

import itertools
from datetime import UTC, date, datetime, timedelta

import msgspec
import pytest

from horae.domain.cron import Gap
from horae.domain.errors import InvalidSchedule
from horae.domain.instances.outcomes import SkipReason
from horae.domain.schedules import (
    FireVerdict,
    Misfire,
    OnMisfire,
    OnOverlap,
    Override,
    Policies,
    Schedule,
    SkipVerdict,
    Spread,
    check,
    fires,
    next_running_fire,
)
from horae.domain.schedules.calendars import CalendarMode, CalendarUse, calendar_of_days, workdays
from horae.domain.schedules.triggers import IntervalTrigger, OnceTrigger, cron

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)
DAILY = cron("0 9 * * *", zone_name="Europe/Berlin")
YEAR = (date(2026, 1, 1), date(2026, 12, 31))


def a_schedule(trigger=DAILY, **fields):
    policies = Policies(**{k: v for k, v in fields.items() if k in Policies.__struct_fields__ and k != "calendars"})
    if "rules" in fields:
        policies = Policies(calendars=fields["rules"])
    rest = {k: v for k, v in fields.items() if k in {"overrides", "calendars"}}
    return Schedule(trigger=trigger, key="acme/report", policies=policies, **rest)


def times(schedule, days=5, **more):
    return [v.fire_time for v in fires(schedule, NOW, NOW + days * DAY, **more) if isinstance(v, FireVerdict)]


def test_without_policies_the_trigger_alone_decides():
    assert times(a_schedule()) == [NOW + timedelta(hours=8) + k * DAY for k in range(5)]


def test_nothing_fires_before_the_start_or_from_the_end_on():
    schedule = a_schedule(start=NOW + DAY, end=NOW + 3 * DAY)
    assert [at.day for at in times(schedule)] == [2, 3]
    assert next_running_fire(schedule, NOW).fire_time.day == 2
    assert next_running_fire(schedule, NOW + 3 * DAY) is None


def test_a_schedule_stops_after_its_last_count():
    assert len(times(a_schedule(max_count=3))) == 3
    assert len(times(a_schedule(max_count=3), fired=2)) == 1
    assert next_running_fire(a_schedule(max_count=3), NOW, fired=3) is None


def test_a_time_that_the_clocks_jump_over_leaves_a_verdict_when_it_is_skipped():
    half_past_two = msgspec.structs.replace(cron("30 2 * * *", zone_name="America/New_York"), dst_gap=Gap.SKIP)
    jump = datetime(2026, 3, 8, 7, tzinfo=UTC)
    verdicts = list(fires(a_schedule(half_past_two), jump - DAY, jump + DAY))
    assert [type(v) for v in verdicts] == [FireVerdict, SkipVerdict, FireVerdict]
    assert verdicts[1] == SkipVerdict(jump, jump, 1, SkipReason.DST_GAP)
    hourly = msgspec.structs.replace(cron("30 * * * *", zone_name="America/New_York"), dst_gap=Gap.SKIP)
    assert all(isinstance(v, FireVerdict) for v in fires(a_schedule(hourly), jump - DAY, jump + DAY))


def test_a_time_that_exists_at_the_jump_fires_even_where_others_are_skipped():
    three = msgspec.structs.replace(cron("0 2,3 * * *", zone_name="America/New_York"), dst_gap=Gap.SKIP)
    jump = datetime(2026, 3, 8, 7, tzinfo=UTC)
    assert list(fires(a_schedule(three), jump, jump + timedelta(hours=1))) == [FireVerdict(jump, jump)]


def test_a_once_job_has_one_fire():
    once = a_schedule(OnceTrigger(NOW + DAY))
    assert times(once) == [NOW + DAY]
    assert next_running_fire(once, NOW + DAY) is None


def test_an_interval_keeps_to_its_anchor():
    schedule = a_schedule(IntervalTrigger(7 * 3600, NOW - timedelta(days=99, minutes=3)))
    found = times(schedule)
    assert {b - a for a, b in itertools.pairwise(found)} == {timedelta(hours=7)}
    assert (found[0] - (NOW - timedelta(days=99, minutes=3))) % timedelta(hours=7) == timedelta(0)


def test_days_a_calendar_forbids_are_one_verdict_with_its_reason():
    office = workdays("office", *YEAR, holidays=[date(2026, 3, 2)])
    schedule = a_schedule(cron("*/10 * * * *"), rules=(CalendarUse("office"),), calendars={"office": office})
    verdicts = list(fires(schedule, NOW, NOW + 3 * DAY))
    assert verdicts[0] == SkipVerdict(NOW, NOW + 2 * DAY - timedelta(minutes=10), 288, SkipReason.CALENDAR)
    assert verdicts[1] == FireVerdict(NOW + 2 * DAY, NOW + 2 * DAY)
    assert len(verdicts) == 1 + 144
    assert next_running_fire(schedule, NOW).fire_time == NOW + 2 * DAY


def test_days_nobody_has_published_are_skipped_and_said_so():
    short = calendar_of_days("holidays", date(2026, 1, 1), date(2026, 3, 2), [])
    schedule = a_schedule(rules=(CalendarUse("holidays", CalendarMode.EXCLUDE),), calendars={"holidays": short})
    verdicts = list(fires(schedule, NOW, NOW + 5 * DAY))
    assert [v.fire_time.day for v in verdicts if isinstance(v, FireVerdict)] == [1, 2]
    assert verdicts[-1].reason is SkipReason.CALENDAR_UNKNOWN
    assert verdicts[-1].fires == 3


def test_a_calendar_day_begins_at_midnight_where_the_schedule_lives():
    shanghai = cron("30 0 * * *", zone_name="Asia/Shanghai")  # 16:30 UTC the day before
    free = calendar_of_days("free", *YEAR, [date(2026, 3, 3)])
    schedule = a_schedule(shanghai, rules=(CalendarUse("free", CalendarMode.EXCLUDE),), calendars={"free": free})
    skipped = [v for v in fires(schedule, NOW, NOW + 5 * DAY) if isinstance(v, SkipVerdict)]
    assert [v.fire_time for v in skipped] == [datetime(2026, 3, 2, 16, 30, tzinfo=UTC)]


def test_a_single_occurrence_is_skipped_or_moved_and_keeps_its_name():
    first, second = NOW + timedelta(hours=8), NOW + DAY + timedelta(hours=8)
    moved = second + timedelta(hours=5)
    schedule = a_schedule(overrides=(Override(first), Override(second, moved)))
    check(schedule, NOW)
    verdicts = list(fires(schedule, NOW, NOW + 2 * DAY))
    assert verdicts == [SkipVerdict(first, first, 1, SkipReason.REQUESTED), FireVerdict(second, moved)]


@pytest.mark.parametrize(
    ("override", "why"),
    [
        (Override(NOW), "not a fire"),
        (Override(NOW + timedelta(hours=8), NOW + DAY + timedelta(hours=8)), "next fire"),
        (Override(NOW + DAY + timedelta(hours=8), NOW + timedelta(hours=8)), "before it"),
    ],
)
def test_an_occurrence_that_is_none_or_would_pass_its_neighbour_is_refused(override, why):
    with pytest.raises(InvalidSchedule, match=why):
        check(a_schedule(overrides=(override,)), NOW)


def test_a_window_moves_all_fires_of_a_job_alike_and_jitter_each_by_itself():
    windowed = [v.due_at - v.fire_time for v in fires(a_schedule(spread=Spread(600)), NOW, NOW + 9 * DAY)]
    jittered = [v.due_at - v.fire_time for v in fires(a_schedule(spread=Spread(0, 600)), NOW, NOW + 9 * DAY)]
    assert len(set(windowed)) == 1
    assert len(set(jittered)) == 9
    assert all(timedelta(0) <= late < timedelta(minutes=10) for late in windowed + jittered)
    again = [v.due_at - v.fire_time for v in fires(a_schedule(spread=Spread(0, 600)), NOW, NOW + 9 * DAY)]
    assert again == jittered


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Policies(start=NOW, end=NOW), "ends before"),
        (lambda: Policies(max_count=0), "1 or more"),
        (lambda: Misfire(OnMisfire.SKIP, cap=3), "belong to misfire 'all'"),
        (lambda: Misfire(OnMisfire.ONCE, pace=3), "belong to misfire 'all'"),
        (lambda: Misfire(OnMisfire.SKIP, max_lateness=600), "makes up for nothing"),
        (lambda: Misfire(max_lateness=5), "must exceed"),
        (lambda: Misfire(OnMisfire.ALL, cap=0), "a cap is"),
        (lambda: Misfire(OnMisfire.ALL, pace=-1), "a pace is"),
        (lambda: Policies(misfire=Misfire(OnMisfire.ALL), overlap=OnOverlap.REPLACE), "would drop most"),
        (lambda: Policies(misfire=Misfire(OnMisfire.ALL), overlap=OnOverlap.QUEUE_ONE), "would drop most"),
        (lambda: Policies(misfire=Misfire(OnMisfire.ALL), overlap=OnOverlap.FORBID), "needs a pace"),
        (lambda: Spread(-1), "a window or jitter"),
        (lambda: check(a_schedule(OnceTrigger(NOW), max_count=2), NOW), "fires once"),
        (lambda: check(a_schedule(OnceTrigger(NOW), start=NOW + DAY), NOW), "never fires"),
        (lambda: check(a_schedule(cron("* * * * *"), spread=Spread(0, 60)), NOW), "mix up"),
        (lambda: check(a_schedule(IntervalTrigger(30, NOW), spread=Spread(0, 31)), NOW), "mix up"),
        (lambda: check(a_schedule(start=NOW, end=NOW + timedelta(hours=1)), NOW), "never fires"),
        (
            lambda: check(
                a_schedule(rules=(CalendarUse("none"),), calendars={"none": calendar_of_days("none", *YEAR, [])}),
                NOW,
            ),
            "never fires",
        ),
    ],
)
def test_contradictions_are_refused_by_name(make, why):
    with pytest.raises(InvalidSchedule, match=why):
        make()


def test_what_makes_sense_is_let_through():
    check(a_schedule(spread=Spread(3600, 600), max_count=5, start=NOW), NOW)
    check(a_schedule(OnceTrigger(NOW - DAY)), NOW)

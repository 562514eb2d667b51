"""After an outage nothing is dropped in silence: every expected fire has exactly one verdict."""

import random
from datetime import UTC, date, datetime, timedelta

import pytest

from horae.domain.instances.outcomes import SkipReason
from horae.domain.schedules import (
    FireVerdict,
    Misfire,
    OnMisfire,
    Policies,
    Schedule,
    SkipVerdict,
    catch_up,
    expected,
)
from horae.domain.schedules.calendars import CalendarUse, workdays
from horae.domain.schedules.triggers import IntervalTrigger, OnceTrigger, cron

NOW = datetime(2026, 3, 2, 12, 0, 30, tzinfo=UTC)  # a Monday
MINUTELY = cron("* * * * *")


def after_outage(misfire, hours=1.0, trigger=MINUTELY, **policies):
    schedule = Schedule(trigger=trigger, key="acme/a", policies=Policies(misfire=misfire, **policies))
    return catch_up(schedule, NOW - timedelta(hours=hours), NOW)


def test_skip_drops_what_was_missed_and_fires_what_is_on_time():
    verdicts = after_outage(Misfire(OnMisfire.SKIP))
    assert [type(v) for v in verdicts] == [SkipVerdict, FireVerdict]
    assert (verdicts[0].fires, verdicts[0].reason) == (59, SkipReason.MISFIRE)
    assert verdicts[1].fire_time == NOW - timedelta(seconds=30)


def test_once_makes_up_for_all_with_the_newest_missed_one():
    verdicts = after_outage(Misfire(OnMisfire.ONCE))
    assert [type(v) for v in verdicts] == [SkipVerdict, FireVerdict, FireVerdict]
    assert verdicts[0].fires == 58
    assert verdicts[1] == FireVerdict(NOW - timedelta(seconds=90), NOW)


def test_all_makes_up_one_by_one_newest_up_to_the_cap_at_its_pace():
    verdicts = after_outage(Misfire(OnMisfire.ALL, max_lateness=1800, cap=10, pace=2))
    assert [type(v) for v in verdicts] == [SkipVerdict, SkipVerdict] + [FireVerdict] * 11
    assert [(v.fires, v.reason) for v in verdicts[:2]] == [(30, SkipReason.TOO_LATE), (19, SkipReason.OVER_CAP)]
    made = verdicts[2:-1]
    assert [v.due_at for v in made] == [NOW + timedelta(seconds=2 * k) for k in range(10)]


def test_once_makes_up_for_nothing_that_is_too_late():
    verdicts = after_outage(Misfire(OnMisfire.ONCE, max_lateness=7200), 48, cron("0 6 * * *"))
    assert [(type(v), v.reason) for v in verdicts] == [(SkipVerdict, SkipReason.TOO_LATE)]


def test_days_a_calendar_forbids_are_not_made_up_for():
    office = workdays("office", date(2026, 1, 1), date(2026, 12, 31), [])
    policies = Policies(misfire=Misfire(OnMisfire.ALL, cap=3), calendars=(CalendarUse("office"),))
    schedule = Schedule(trigger=cron("0 9 * * *"), key="a", policies=policies, calendars={"office": office})
    verdicts = catch_up(schedule, NOW - timedelta(days=7), NOW)
    assert [v.fire_time.day for v in verdicts if isinstance(v, FireVerdict)] == [26, 27, 2]
    assert [(v.fires, v.reason) for v in verdicts if isinstance(v, SkipVerdict)] == [
        (2, SkipReason.OVER_CAP),
        (2, SkipReason.CALENDAR),
    ]


def test_a_year_of_seconds_becomes_a_short_list():
    verdicts = after_outage(Misfire(OnMisfire.ONCE), 365 * 24, cron("* * * * * *"))
    assert len(verdicts) == 2 + 61
    assert verdicts[0].fires == 365 * 86_400 - 61


def test_a_schedule_with_a_count_makes_up_for_no_more_than_is_left():
    schedule = Schedule(
        trigger=MINUTELY, key="a", policies=Policies(misfire=Misfire(OnMisfire.ALL, cap=50), max_count=10)
    )
    verdicts = catch_up(schedule, NOW - timedelta(hours=1), NOW, fired=7)
    assert sum(isinstance(v, FireVerdict) for v in verdicts) == 3


@pytest.mark.parametrize("seed", range(60))
def test_every_expected_fire_has_exactly_one_verdict(seed):
    chance = random.Random(seed)
    trigger = chance.choice(
        [
            cron(
                chance.choice(["* * * * *", "*/7 * * * *", "0 3 * * *", "30 2 * * 1-5"]), zone_name="America/New_York"
            ),
            IntervalTrigger(chance.choice([1.0, 90.0, 5000.0]), NOW - timedelta(days=9)),
            OnceTrigger(NOW - timedelta(minutes=chance.randrange(300))),
        ]
    )
    misfire = chance.choice(
        [
            Misfire(OnMisfire.SKIP),
            Misfire(OnMisfire.ONCE, chance.choice([None, 1000.0])),
            Misfire(OnMisfire.ALL, chance.choice([None, 1000.0]), chance.choice([None, 5]), chance.choice([0.0, 3.0])),
        ]
    )
    office = workdays("office", date(2026, 1, 1), date(2026, 3, 2), [date(2026, 2, 27)])
    rules = chance.choice([(), (CalendarUse("office"),)])
    schedule = Schedule(
        trigger=trigger, key="a", policies=Policies(misfire=misfire, calendars=rules), calendars={"office": office}
    )
    since = NOW - timedelta(minutes=chance.randrange(1, 6000))
    verdicts = catch_up(schedule, since, NOW)
    total = sum(1 if isinstance(v, FireVerdict) else v.fires for v in verdicts)
    assert total == expected.count_between(trigger, since, NOW + expected.TIME_RESOLUTION)
    assert total == sum(1 for _ in expected.between(trigger, since, NOW + expected.TIME_RESOLUTION))
    ordered = [v.fire_time for v in verdicts]
    assert ordered == sorted(set(ordered))
    for verdict in verdicts:
        if isinstance(verdict, SkipVerdict):
            assert verdict.fires == expected.count_between(
                trigger, verdict.fire_time, verdict.until + expected.TIME_RESOLUTION
            )

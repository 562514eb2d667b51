"""Portions of a backfill: every fire of the range once, oldest or newest first, as fast as the rate allows."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from msgspec.structs import replace

from horae.domain.cron import Dialect
from horae.domain.errors import Invalid
from horae.domain.schedules import FireVerdict, Schedule, fires
from horae.domain.schedules.backfills import (
    MAX_WAITING,
    Backfill,
    allowed_by_rate,
    check_rate,
    max_waiting,
    next_portion,
    paced_until,
)
from horae.domain.schedules.calendars import CalendarUse, workdays
from horae.domain.schedules.policies import Policies
from horae.domain.schedules.triggers import CronTrigger, IntervalTrigger

ID = UUID(int=1)
SINCE = datetime(2026, 3, 27, 10, 30, 7, 500_000, tzinfo=UTC)
UNTIL = SINCE + timedelta(days=4, seconds=11)


def a_backfill(until=UNTIL, *, newest_first=False, rate=None):
    return Backfill(
        shard=1,
        id=ID,
        tenant_id=ID,
        job_id=ID,
        since=SINCE,
        until=until,
        cursor=SINCE,
        cap=1_000_000,
        planned=1,
        created_at=SINCE,
        created_by="test",
        decided_from=until if newest_first else None,
        rate=rate,
    )


def walked(schedule, backfill, many):
    """All fires of a backfill in the order of its portions."""
    found = []
    while backfill.cursor < backfill.upper:
        portion = next_portion(schedule, backfill, many)
        assert len(portion.times) <= many
        left = portion.upper - portion.cursor
        assert left < backfill.upper - backfill.cursor, "each portion leaves less"
        found += portion.times
        decided_from = portion.upper if backfill.newest_first else None
        backfill = replace(backfill, cursor=portion.cursor, decided_from=decided_from)
    return found


SCHEDULES = {
    "every minute": Schedule(trigger=IntervalTrigger(60, SINCE - timedelta(seconds=1)), key="k"),
    "cron over a change of the clocks": Schedule(
        trigger=CronTrigger("*/7 * * * *", Dialect.UNIX5, zone="Europe/Berlin"), key="k"
    ),
    "once a day": Schedule(trigger=CronTrigger("0 3 * * *", Dialect.UNIX5, zone="Asia/Shanghai"), key="k"),
    "a maximal count": Schedule(trigger=IntervalTrigger(3600, SINCE), key="k", policies=Policies(max_count=2)),
    "working days": Schedule(
        trigger=IntervalTrigger(600, SINCE),
        key="k",
        policies=Policies(calendars=(CalendarUse("work"),)),
        calendars={"work": workdays("work", SINCE.date() - timedelta(days=9), UNTIL.date() + timedelta(days=9), [])},
    ),
    "an end": Schedule(trigger=IntervalTrigger(60, SINCE), key="k", policies=Policies(end=SINCE + timedelta(hours=30))),
}


@pytest.mark.parametrize("many", [1, 7, 200])
@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("name", SCHEDULES)
def test_every_fire_of_the_range_comes_once_and_in_order(name, newest_first, many):
    schedule = SCHEDULES[name]
    until = UNTIL if many > 1 else SINCE + timedelta(hours=30)
    plain = replace(schedule, policies=replace(schedule.policies, max_count=None))
    wanted = [one.fire_time for one in fires(plain, SINCE, until) if isinstance(one, FireVerdict)]
    found = walked(schedule, a_backfill(until, newest_first=newest_first), many)
    assert found == (wanted[::-1] if newest_first else wanted)
    assert wanted


def test_a_rate_allows_what_it_says_however_rounds_come():
    one, now, inserted = a_backfill(rate=7.5), SINCE, 0
    for step in range(1, 301):
        now = SINCE + timedelta(seconds=step * 0.37)
        many = min(allowed_by_rate(one, now), 200)
        inserted += many
        one = replace(one, paced_to=paced_until(one, now, many))
        assert inserted <= 7.5 * step * 0.37 + 1
    assert inserted >= 7.5 * 300 * 0.37 - 1


def test_what_a_rate_did_not_use_for_long_is_lost():
    one = a_backfill(rate=10.0)
    assert allowed_by_rate(one, SINCE + timedelta(hours=1)) == 20
    assert max_waiting(one) == 100
    slow = a_backfill(rate=0.01)
    assert allowed_by_rate(slow, SINCE + timedelta(seconds=99)) == 0
    assert allowed_by_rate(slow, SINCE + timedelta(seconds=100)) == 1
    assert max_waiting(slow) == 1


def test_without_a_rate_only_what_waits_bounds_it():
    one = a_backfill()
    assert (allowed_by_rate(one, SINCE), max_waiting(one), paced_until(one, SINCE, 5)) == (
        MAX_WAITING,
        MAX_WAITING,
        None,
    )


@pytest.mark.parametrize("rate", [0.0, -1.0, 0.001, 10_001.0, float("inf"), float("nan")])
def test_a_rate_out_of_bounds_is_refused(rate):
    with pytest.raises(Invalid):
        check_rate(rate)

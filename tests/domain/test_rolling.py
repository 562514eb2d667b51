"""When subjects are refreshed, how their calls are spread, and how well a set is covered."""

from datetime import UTC, datetime, timedelta

import pytest

from horae.domain.errors import InvalidSchedule
from horae.domain.rolling.rolling import (
    BATCH,
    OCCUPIED_AHEAD,
    CoverageCount,
    count_from_rows,
    judge,
    pace_of,
    since_when,
)
from horae.domain.schedules.triggers import RollingTrigger

START = datetime(2026, 11, 15, 2, tzinfo=UTC)
DAY, HOUR = 86400.0, timedelta(hours=1)
DAILY = RollingTrigger(window=10 * DAY, every=DAY, anchor=START, budget=4 * 3600)


def test_a_tick_is_counted_from_its_anchor_and_ends_with_its_budget():
    assert DAILY.tick(START - HOUR) is None
    assert DAILY.tick(START) == DAILY.tick(START + 3 * HOUR) == START
    assert DAILY.tick(START + 4 * HOUR) is None
    assert DAILY.tick(START + 49 * HOUR) == START + 48 * HOUR
    assert DAILY.refreshed_before(START) == START - timedelta(days=10)


@pytest.mark.parametrize(
    "facts",
    [
        {"window": 1, "every": 2},
        {"window": 1, "every": 0.5},
        {"window": 9, "every": 2, "budget": 3},
        {"window": 9, "every": 2, "budget": 0},
        {"window": 9, "every": 2, "share": 0},
        {"window": 9, "every": 2, "fresh": 8},
    ],
)
def test_a_set_that_cannot_roll_is_refused(facts):
    with pytest.raises(InvalidSchedule):
        RollingTrigger(anchor=START, **facts)


def test_calls_are_spread_over_what_is_left_of_the_tick_and_never_faster_than_the_target_bears():
    assert pace_of(DAILY, 1, START, START, 12_960, None).gap == 1.0
    assert pace_of(DAILY, 1, START, START + 2 * HOUR, 12_960, None).gap == 0.5
    assert pace_of(DAILY, 1, START, START, 12_960, 0.5).gap == 2.0
    assert pace_of(DAILY, 1, START, START, 0, None).gap == 0.0


def test_subjects_are_occupied_a_little_ahead_of_their_calls_and_no_further():
    pace = pace_of(DAILY, 1, START, START, 12_960, None)
    assert pace.batch(START) == 5
    assert pace.times(START, 3) == [START + timedelta(seconds=n) for n in range(3)]
    ahead = pace.after(START, 5)
    assert ahead.due == START + OCCUPIED_AHEAD
    assert ahead.batch(START) == 0
    assert ahead.batch(START + timedelta(seconds=2)) == 0, "enough for a while"
    assert ahead.batch(START + timedelta(seconds=3)) == 3
    assert pace_of(DAILY, 1, START, START, 10**8, None).batch(START) == BATCH
    assert ahead.times(START + HOUR, 1) == [START + HOUR], "what is late is not made up for in a crowd"


def test_a_target_slower_than_its_rate_is_given_no_more_than_it_can_take():
    pace = pace_of(DAILY, 1, START, START, 12_960, 10.0)
    assert (pace.gap, pace.room(0), pace.room(20), pace.room(25), pace.room(26)) == (1.0, 25, 5, 0, 0)
    assert pace_of(DAILY, 1, START, START, 0, None).room(10**6) == BATCH


def test_coverage_says_whether_enough_is_fresh_and_when_it_will_be():
    now, before = START + HOUR, START
    assert judge(DAILY, CoverageCount(now, 0, 0, 0), None).met
    assert judge(DAILY, CoverageCount(now, 1000, 999, 0), None).met
    lost = judge(DAILY, CoverageCount(now, 1000, 899, 0), CoverageCount(before, 1000, 799, 0))
    assert (lost.met, lost.share, lost.estimate_at) == (False, 0.899, now + HOUR)
    assert judge(DAILY, CoverageCount(now, 1000, 899, 0), None).estimate_at is None
    assert judge(DAILY, CoverageCount(now, 1000, 899, 0), CoverageCount(before, 1000, 900, 0)).estimate_at is None


def test_every_subject_is_counted_under_one_age_and_the_fresh_are_those_before_the_stale():
    found = count_from_rows(START, [(5, 3, 1), (1, 2, 0), (0, 4, 1), (None, 5, 0)])
    assert found == CoverageCount(START, 14, 5, 2, (3, 0, 0, 0, 2, 4, 5))
    assert found.plus(count_from_rows(START, [(2, 1, 1)])) == CoverageCount(START, 15, 6, 3, (3, 0, 0, 1, 2, 4, 5))
    assert since_when(DAILY, START) == sorted(since_when(DAILY, START))

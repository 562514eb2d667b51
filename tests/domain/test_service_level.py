"""Error budgets: what is left, how fast it burns, and when that is too fast."""

from datetime import UTC, datetime, timedelta

import pytest

from horae.domain.health.service_level import BURN_RULES, SPANS, LevelCount, ServiceLevel, begin_of, spread_range

NOW = datetime(2030, 1, 1, 12, 30, 20, tzinfo=UTC)


def a_level(**late_of_1000):
    counts = {
        span: LevelCount(1000 - late_of_1000.get(f"m{span}", 0), late_of_1000.get(f"m{span}", 0)) for span in SPANS
    }
    return ServiceLevel(0.999, counts)


def test_one_late_of_a_thousand_uses_the_whole_budget():
    level = a_level(m30d=1)
    assert level.availability == 0.999
    assert level.budget_remaining == pytest.approx(0.0, abs=1e-9)
    assert a_level(m30d=2).budget_remaining == pytest.approx(-1.0)
    assert a_level().budget_remaining == 1.0


def test_without_due_times_nothing_is_late_and_nothing_burns():
    level = ServiceLevel(0.999, {})
    assert (level.availability, level.budget_remaining, level.burning) == (None, 1.0, [])


@pytest.mark.parametrize("rule", BURN_RULES, ids=lambda rule: rule.name)
def test_a_budget_burns_too_fast_when_the_long_and_the_short_span_say_so(rule):
    late = {f"m{rule.long}": 20, f"m{rule.short}": 20}
    assert rule in a_level(**late).burning
    for span in late:
        assert rule not in a_level(**{span: 20}).burning, "one that is over, or has only begun"


def test_what_is_overdue_counts_as_late_at_once():
    level = ServiceLevel(0.999, {"30d": LevelCount(999_000, 0)}, overdue=10)
    assert [rule.name for rule in level.burning] == ["fast", "slow", "steady"]
    assert level.count_of("5m") == LevelCount(0, 10)


def test_a_skipped_range_is_spread_over_its_minutes_and_nothing_is_lost():
    first, last = NOW - timedelta(minutes=10), NOW - timedelta(minutes=1)
    found = list(spread_range(first, last, 10, NOW))
    assert [many for _, many in found] == [1] * 10
    assert found[0][0] == datetime(2030, 1, 1, 12, 20, tzinfo=UTC)
    for many in (1, 3, 599, 601):
        assert sum(share for _, share in spread_range(first, last, many, NOW)) == many


@pytest.mark.parametrize(("ago", "stretches"), [(timedelta(days=2), 49), (timedelta(days=20), 21)])
def test_a_long_range_is_spread_over_hours_or_days(ago, stretches):
    found = list(spread_range(NOW - ago, NOW, 100_000, NOW))
    assert len(found) == stretches
    assert sum(many for _, many in found) == 100_000


def test_what_lies_before_the_budget_is_left_out():
    assert all(at >= NOW - timedelta(days=32) for at, _ in spread_range(NOW - timedelta(days=400), NOW, 400, NOW))


def test_stretches_begin_at_whole_minutes_hours_and_days():
    begins = [begin_of(NOW, timedelta(minutes=minutes)) for minutes in (1, 60, 1440)]
    assert begins == [NOW.replace(second=0), NOW.replace(minute=0, second=0), NOW.replace(hour=0, minute=0, second=0)]

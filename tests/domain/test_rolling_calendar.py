"""Rolling sets with ticks by a cron schedule and windows in days or calendar months, where clocks change."""

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from horae.domain.cron import DstPolicy, parse
from horae.domain.errors import InvalidSchedule
from horae.domain.rolling.rolling import since_when
from horae.domain.schedules.calendar_windows import CalendarWindow
from horae.domain.schedules.cron_ticks import last_fire
from horae.domain.schedules.triggers import RollingTrigger, cron
from horae.domain.zones.zones import zone

BERLIN, YORK, SHANGHAI = "Europe/Berlin", "America/New_York", "Asia/Shanghai"
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)
ANCHOR = datetime(2026, 1, 1, tzinfo=UTC)


def local(name, *parts, fold=0):
    """A time on the clocks of a zone."""
    return datetime(*parts, tzinfo=ZoneInfo(name), fold=fold).astimezone(UTC)


def a_set(window, expression="0 2 * * *", name=BERLIN, **facts):
    return RollingTrigger(window, cron(expression, zone_name=name), ANCHOR, **facts)


@pytest.mark.parametrize(
    ("name", "window", "at", "before"),
    [
        (BERLIN, {"days": 1}, (2026, 3, 29, 12), (2026, 3, 28, 12)),  # this day has 23 hours
        (BERLIN, {"days": 1}, (2026, 10, 25, 12), (2026, 10, 24, 12)),  # this day has 25
        (BERLIN, {"days": 10}, (2026, 4, 3, 2), (2026, 3, 24, 2)),
        (YORK, {"months": 1}, (2026, 3, 31, 2), (2026, 2, 28, 2)),
        (YORK, {"months": 1}, (2028, 3, 30, 2), (2028, 2, 29, 2)),
        (SHANGHAI, {"months": 12}, (2028, 2, 29, 2), (2027, 2, 28, 2)),
        (SHANGHAI, {"months": 1}, (2026, 1, 15, 2), (2025, 12, 15, 2)),
    ],
)
def test_a_window_is_counted_on_the_clocks_of_its_zone(name, window, at, before):
    assert CalendarWindow(zone=name, **window).before(local(name, *at)) == local(name, *before)


def test_days_have_as_many_hours_as_the_clocks_give_them():
    day = CalendarWindow(zone=BERLIN, days=1)
    spring, autumn = local(BERLIN, 2026, 3, 29, 12), local(BERLIN, 2026, 10, 25, 12)
    assert (spring - day.before(spring), autumn - day.before(autumn)) == (23 * HOUR, 25 * HOUR)


def test_a_time_that_clocks_show_twice_or_never_is_read_as_the_earlier_one():
    """A window is never shorter than it says."""
    day = CalendarWindow(zone=BERLIN, days=1)
    assert day.before(local(BERLIN, 2026, 10, 26, 2, 30)) == local(BERLIN, 2026, 10, 25, 2, 30, fold=0)
    assert day.before(local(BERLIN, 2026, 3, 30, 2, 30)) == local(BERLIN, 2026, 3, 29, 1, 30)


@pytest.mark.parametrize("name", [BERLIN, YORK, SHANGHAI, "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo"])
def test_who_was_refreshed_is_due_when_the_window_is_over_and_never_before(name):
    dice = random.Random(name)
    for _ in range(300):
        window = CalendarWindow(
            zone=name, **dice.choice([{"days": dice.randrange(1, 40)}, {"months": 1}, {"months": 3}])
        )
        ended = datetime(2011, 1, 1, tzinfo=UTC) + dice.random() * timedelta(days=6000)
        due = window.after(ended)
        assert window.before(due) >= ended
        length = (due - ended).total_seconds()
        shift = 86_400 + 3600  # Apia once left out a whole day
        assert window.shortest_s - shift <= length <= window.longest_s + 4 * 86_400 * bool(window.months) + shift


def test_ticks_follow_the_clocks_of_the_zone():
    daily = a_set(864_000.0)
    for day in ((2026, 3, 28), (2026, 3, 30), (2026, 10, 25), (2026, 10, 26)):
        tick = local(BERLIN, *day, 2)
        assert daily.tick(tick) == daily.tick(tick + 5 * HOUR) == tick
        assert daily.tick(tick - SECOND) == daily.tick(tick - 5 * HOUR) != tick
    assert daily.tick(local(BERLIN, 2026, 3, 29, 12)) == local(BERLIN, 2026, 3, 29, 3), "clocks jumped over two"
    assert daily.end(local(BERLIN, 2026, 3, 28, 2)) - local(BERLIN, 2026, 3, 28, 2) == 24 * HOUR
    assert daily.end(local(BERLIN, 2026, 3, 29, 3)) == local(BERLIN, 2026, 3, 30, 2)
    assert daily.tick(ANCHOR - SECOND) is None


def test_a_budget_ends_a_tick_before_the_next_one():
    short = a_set(864_000.0, budget=4 * 3600.0)
    tick = local(BERLIN, 2026, 6, 1, 2)
    assert (short.tick(tick + 3 * HOUR), short.tick(tick + 4 * HOUR)) == (tick, None)
    hourly = a_set(864_000.0, "0 * * * *", budget=2 * 3600.0)
    assert hourly.end(tick) == tick + HOUR


@pytest.mark.parametrize(
    "expression", ["0 2 * * *", "*/7 * * * *", "0 2 29 2 *", "30 2 * * 0", "0 0 1 */3 *", "* 3 1 1 *"]
)
@pytest.mark.parametrize("name", [BERLIN, YORK, "Australia/Lord_Howe"])
def test_the_last_fire_is_the_one_that_nothing_follows(expression, name):
    dice, compiled, place, policy = random.Random(f"{expression}{name}"), parse(expression), zone(name), DstPolicy()
    for _ in range(60):
        at = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=dice.randrange(10 * 366 * 86_400))
        found = last_fire(compiled, at, place, policy)
        assert found <= at < compiled.next(found, place, policy)
        assert compiled.next(found - SECOND, place, policy) == found
    assert last_fire(parse("0 0 0 1 1 ? 2030"), ANCHOR, place, policy) is None


def test_a_subject_is_fresh_for_its_window_and_two_more_ticks():
    weekly = a_set(CalendarWindow(zone=BERLIN, months=1), "0 2 * * 1")
    monday = local(BERLIN, 2026, 4, 6, 2)
    assert weekly.tick(monday + 30 * HOUR) == monday
    assert weekly.refreshed_before(monday) == local(BERLIN, 2026, 3, 6, 2)
    two_before = local(BERLIN, 2026, 3, 23, 2) - SECOND
    assert weekly.fresh_since(monday + 30 * HOUR) == weekly.refreshed_before(two_before)
    times = since_when(weekly, monday)
    assert times == sorted(times)


@pytest.mark.parametrize(
    "window",
    [{}, {"days": 1, "months": 1}, {"days": 0}, {"days": -1}, {"months": -1}, {"days": 367}, {"months": 13}],
)
def test_a_window_that_says_nothing_or_two_things_is_refused(window):
    with pytest.raises(InvalidSchedule):
        CalendarWindow(zone="UTC", **window)


@pytest.mark.parametrize(
    "facts",
    [
        {"window": CalendarWindow(zone="UTC", days=1), "every": 2 * 86_400.0},
        {"window": CalendarWindow(zone="UTC", months=1), "every": 60.0, "fresh": 30 * 86_400.0},
        {"window": 60.0, "every": cron("0 2 * * *"), "budget": 0.0},
        {"window": 0.5, "every": cron("0 2 * * *")},
    ],
)
def test_a_set_that_cannot_roll_is_refused(facts):
    with pytest.raises(InvalidSchedule):
        RollingTrigger(anchor=ANCHOR, **facts)

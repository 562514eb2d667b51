"""Which fire is meant by a time."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from horae.domain.cron import Gap
from horae.domain.errors import Invalid
from horae.domain.explanations.fire_times import asked_time, meant_fire
from horae.domain.schedules import Override, Schedule
from horae.domain.schedules.triggers import IntervalTrigger, cron
from horae.domain.zones.zones import zone

SHANGHAI = zone("Asia/Shanghai")
NOW = datetime(2026, 11, 18, 1, 0, tzinfo=UTC)  # 09:00 in Shanghai


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("02:00", "2026-11-17T18:00"),
        ("9:00", "2026-11-18T01:00"),
        ("09:00:01", "2026-11-17T01:00:01"),
        ("2026-11-01T02:00", "2026-10-31T18:00"),
        ("2026-11-01 02:00:30", "2026-10-31T18:00:30"),
        ("2026-11-01T02:00:00+00:00", "2026-11-01T02:00"),
        ("2026-11-01T02:00:00Z", "2026-11-01T02:00"),
    ],
)
def test_a_time_is_read_in_the_zone_of_the_job(text, meant):
    assert asked_time(text, SHANGHAI, NOW) == at(meant)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "25:00",
        "2:60",
        "tomorrow",
        "9999-12-31T23:59:59-23:59",
        "2032-01-01T00:00Z",
        "0001-01-01T00:00",
        "1969-01-01",
    ],
)
def test_other_texts_are_refused(text):
    with pytest.raises(Invalid):
        asked_time(text, SHANGHAI, NOW)


def test_the_fire_at_a_time_or_the_one_moved_to_it_or_the_nearest_is_meant():
    daily = Schedule(trigger=cron("0 2 * * *", zone_name="Asia/Shanghai"), key="k")
    assert meant_fire(daily, at("2026-11-17T18:00"))[1:] == (at("2026-11-17T18:00"), True)
    assert meant_fire(daily, at("2026-11-17T19:00"))[1:] == (at("2026-11-17T18:00"), False)
    assert meant_fire(daily, at("2026-11-18T17:00"))[1:] == (at("2026-11-18T18:00"), False)
    moved = replace(daily, overrides=(Override(at("2026-11-17T18:00"), at("2026-11-17T20:00")),))
    assert meant_fire(moved, at("2026-11-17T20:00"))[1:] == (at("2026-11-17T18:00"), True)
    yearly = Schedule(trigger=cron("0 0 29 2 *"), key="k")
    assert meant_fire(yearly, at("2026-01-01T00:00")).at == at("2024-02-29T00:00")
    seconds = Schedule(trigger=IntervalTrigger(7, at("2026-01-01T00:00")), key="k")
    assert meant_fire(seconds, at("2026-01-01T00:00:13")).at == at("2026-01-01T00:00:14")


def test_a_fire_that_the_clocks_jump_over_is_meant_too():
    trigger = replace(cron("30 2 * * *", zone_name="America/New_York"), dst_gap=Gap.SKIP)
    asked = asked_time("2026-03-08T02:30", zone("America/New_York"), NOW)
    assert meant_fire(Schedule(trigger=trigger, key="k"), asked).at == at("2026-03-08T07:00")

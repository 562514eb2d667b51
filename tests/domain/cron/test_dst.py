"""Clock changes, case by case: the table a person can check by hand."""

from datetime import UTC, datetime

import pytest

from horae.domain.cron import DstPolicy, parse
from horae.domain.zones.zones import zone

NEW_YORK = zone("America/New_York")  # 2025: 02:00 -> 03:00 on 9 March, 02:00 -> 01:00 on 2 November
LORD_HOWE = zone("Australia/Lord_Howe")  # half an hour
APIA = zone("Pacific/Apia")  # had no 30 December 2011


def local_fires(text, day, where=NEW_YORK, **policy):
    begin = datetime.fromisoformat(day).replace(tzinfo=where).astimezone(UTC)
    end = datetime.fromisoformat(day).replace(tzinfo=where, hour=23, minute=59).astimezone(UTC)
    fires = parse(text).fires(begin, end, where, DstPolicy(**policy))
    return [f"{fire.astimezone(where):%H:%M %z}" for fire in fires]


@pytest.mark.parametrize(("gap", "expected"), [("fire_after", ["03:00 -0400"]), ("skip", [])])
def test_a_time_that_is_jumped_over_fires_right_after_or_not_at_all(gap, expected):
    assert local_fires("30 2 * * *", "2025-03-09", gap=gap) == expected


def test_many_times_that_are_jumped_over_fire_once():
    assert local_fires("*/10 2 * * *", "2025-03-09") == ["03:00 -0400"]
    assert local_fires("0 2,3 * * *", "2025-03-09") == ["03:00 -0400"]


@pytest.mark.parametrize(
    ("overlap", "expected"),
    [
        ("first", ["01:30 -0400"]),
        ("second", ["01:30 -0500"]),
        ("both", ["01:30 -0400", "01:30 -0500"]),
    ],
)
def test_a_repeated_time_fires_as_the_policy_says(overlap, expected):
    assert local_fires("30 1 * * *", "2025-11-02", overlap=overlap) == expected


@pytest.mark.parametrize("policy", [{}, {"gap": "skip", "overlap": "second"}])
def test_a_rhythm_of_hours_keeps_real_time_whatever_the_policy(policy):
    assert len(local_fires("0 * * * *", "2025-03-09", **policy)) == 23
    assert len(local_fires("0 * * * *", "2025-11-02", **policy)) == 25
    assert len(local_fires("0-59/15 0-23 * * *", "2025-11-02", **policy)) == 100


def test_half_an_hour_of_change_is_handled_like_a_whole_one():
    assert local_fires("15 2 * * *", "2025-10-05", LORD_HOWE) == ["02:30 +1100"]
    assert local_fires("45 1 * * *", "2025-04-06", LORD_HOWE, overlap="both") == [
        "01:45 +1100",
        "01:45 +1030",
    ]


def test_a_day_that_never_was_fires_when_the_next_one_begins():
    after = datetime(2011, 1, 1, tzinfo=UTC)
    yearly = parse("30 2 30 12 *")
    assert f"{yearly.next(after, APIA).astimezone(APIA):%F %H:%M}" == "2011-12-31 00:00"
    assert f"{yearly.next(after, APIA, DstPolicy('skip')).astimezone(APIA):%F %H:%M}" == "2012-12-30 02:30"


def test_far_beyond_the_listed_changes_the_yearly_rule_goes_on():
    fire = parse("30 2 * * *").next(datetime(2100, 3, 14, tzinfo=UTC), NEW_YORK)
    assert f"{fire.astimezone(NEW_YORK):%F %H:%M %z}" == "2100-03-14 03:00 -0400"

"""Counting by masks agrees with walking."""

import random
from datetime import UTC, datetime, timedelta

from horae.domain.cron import Dialect, count, parse
from horae.domain.errors import InvalidSchedule
from horae.domain.zones.dst import POLICIES
from horae.domain.zones.zones import zone
from tests.domain.cron import generate

PLACES = [zone(name) for name in ("UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Dhaka", "Pacific/Apia")]


def test_counting_by_masks_agrees_with_walking_over_weeks_and_years():
    chance = random.Random(7)
    compared = 0
    while compared < 400:
        since = datetime(2006, 1, 1, tzinfo=UTC) + timedelta(seconds=chance.randrange(10**9))
        until = since + timedelta(seconds=chance.choice((1, 3_600, 86_400, 10**6, 10**8)) * chance.random())
        dialect, policy, place = chance.choice(list(Dialect)), chance.choice(POLICIES), chance.choice(PLACES)
        try:
            cron = parse(generate.expression(chance, dialect, since), dialect)
        except InvalidSchedule:
            continue
        expected = count(cron, since, until, place, policy)
        if expected > 3_000:
            continue
        assert expected == sum(1 for _ in cron.fires(since, until, place, policy)), (cron.text, since, until)
        compared += 1


def test_a_year_of_seconds_is_counted_at_once():
    since = datetime(2026, 1, 1, tzinfo=UTC)
    assert count(parse("* * * * * *"), since, since + timedelta(days=365), PLACES[1]) == 365 * 86_400


def test_nothing_lies_between_a_time_and_an_earlier_one():
    since = datetime(2026, 1, 1, tzinfo=UTC)
    assert count(parse("* * * * *"), since, since - timedelta(days=1), PLACES[1]) == 0

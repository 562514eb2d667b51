"""Impossible and expensive expressions (R-05): refused by name, or answered within a counted number of steps."""

import random
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from horae.domain.cron import MAX_STEPS, Dialect, parse
from horae.domain.cron.days import SHAPES
from horae.domain.errors import InvalidSchedule
from horae.domain.limits.counts import CountBounds
from horae.domain.schedules.expected import between, shortest_gap
from horae.domain.schedules.triggers import CronTrigger
from horae.domain.zones.dst import DEFAULT, POLICIES
from horae.domain.zones.timeline import END_EPOCH_S, START_EPOCH_S, timeline_until
from tests.domain.cron.test_fuzz import ALPHABET, PLACES, bent

LONG = (pytest.mark.long, pytest.mark.timeout(0))
SEED = 5
IMPOSSIBLE = [
    ("0 0 30 2 *", None),
    ("0 0 31 2 *", None),
    ("0 0 31 4 *", None),
    ("0 0 30,31 2 *", None),
    ("0 0 31 APR,JUN,SEP,NOV *", None),
    ("0 0 0 30 2 ?", Dialect.QUARTZ6),
    ("0 0 0 31W 6 ?", Dialect.QUARTZ6),
    ("0 0 0 L-30 4 ?", Dialect.QUARTZ6),
    ("0 0 0 29 2 ? 2027", Dialect.QUARTZ7),
    ("0 0 0 29 2 ? 2025-2027", Dialect.QUARTZ7),
    ("0 0 0 30 2 *", Dialect.SPRING6),
    ("0 0 0 1 * MON#5", Dialect.SPRING6),
]


def listed(numbers):
    return ",".join(map(str, numbers))


def drawn(seed):
    """Without an end: expressions that are bent at random, and one of pure noise among about fifty."""
    chance = random.Random(seed)
    while True:
        yield from bent(chance.getrandbits(64))
        yield "".join(chance.choices(ALPHABET, k=chance.randrange(80)))


@pytest.mark.parametrize("many", [20_000, pytest.param(10_000_000, marks=LONG)])
def test_every_string_is_refused_by_name_or_answered_in_few_steps(many):
    chance, texts, read, most = random.Random(SEED), drawn(SEED), 0, 0
    for place in PLACES:
        for policy in POLICIES:
            timeline_until(place, policy, END_EPOCH_S)
    first, last = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (1900, 2190))
    for _ in range(many):
        text, dialect = next(texts), chance.choice((None, None, None, *Dialect))
        try:
            cron = parse(text, dialect, salt="acme/fuzz")
        except InvalidSchedule as refused:
            assert str(refused), text  # noqa: PT017 - a refusal is one of two good answers
            continue
        second = chance.randrange(first, last)
        found, steps = cron.find(second, chance.choice(PLACES), chance.choice(POLICIES))
        assert steps <= MAX_STEPS, (text, dialect, second)
        assert found is None or found >= second, (text, dialect, second)
        read, most = read + 1, max(most, steps)
    assert 0.2 < read / many < 0.9, "both answers are common"
    assert most > 100, "some searches are long"


@pytest.mark.parametrize(("text", "dialect"), IMPOSSIBLE)
def test_a_day_that_no_year_has_is_refused(text, dialect):
    with pytest.raises(InvalidSchedule, match="never fires") as refused:
        parse(text, dialect)
    assert refused.value.code == "SCH_422_SCHEDULE"


@pytest.mark.parametrize("years", [0, 1, 1 << 129, (1 << 130) - 1])
@pytest.mark.parametrize("begin", [START_EPOCH_S, 0, END_EPOCH_S - 1_000_000])
def test_a_search_without_an_answer_ends_within_the_bound(years, begin):
    """Nobody can make such a job. If one were let in, it would cost a search and not a node."""
    hopeless = replace(parse("0 0 29 2 *"), days=(0,) * SHAPES, years=years)
    for place in PLACES:
        found, steps = hopeless.find(begin, place, DEFAULT)
        assert found is None
        assert steps <= MAX_STEPS


def test_a_search_may_begin_with_the_first_instant_that_a_datetime_has():
    for place in PLACES:
        first = parse("0 9 * * MON-FRI").next(datetime.min.replace(tzinfo=UTC), place)
        assert first is not None
        assert (first.year, first.month) == (1, 1)


def test_the_shortest_time_between_two_fires_is_the_one_that_walking_finds():
    chance, since, until = random.Random(SEED), datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 3, tzinfo=UTC)
    for _ in range(150):
        minutes = sorted(chance.choice(([*range(0, 50, 8), 59], chance.sample(range(60), chance.randint(1, 10)))))
        hours = sorted(chance.choice(([*range(0, 15, 2), 15, 23], chance.sample(range(24), chance.randint(1, 12)))))
        seconds = sorted(chance.sample(range(60), chance.choice((1, 1, 2))))
        text = f"{listed(seconds)} {listed(minutes)} {listed(hours)} * * *"
        trigger = CronTrigger(text, Dialect.SPRING6)
        gaps = [later - sooner for sooner, later in pairwise(between(trigger, since, until))]
        assert shortest_gap(trigger) == min(gaps), text


@pytest.mark.parametrize(
    "text",
    ["0,8,16,24,32,40,48,59 0,2,4,6,8,10,12,14,15 * * *", "0,8,16,24,32,40,48,59 0,2,4,6,8,10,12,14,16,18,20,23 * * *"],
)
def test_two_fires_that_are_close_late_in_the_day_or_over_midnight_are_refused_too(text):
    trigger = CronTrigger(text, Dialect.UNIX5)
    with pytest.raises(InvalidSchedule, match="at least 300 s apart, and these 60 s"):
        CountBounds(shortest_period=300).check_period(trigger)
    CountBounds(shortest_period=60).check_period(trigger)

"""Whatever is typed: refused with a reason, or answered within a counted number of steps."""

import random
from collections import Counter
from datetime import UTC, datetime
from time import process_time_ns

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from horae.domain.cron import MAX_STEPS, Dialect, describe, parse
from horae.domain.errors import InvalidSchedule
from horae.domain.zones import timeline
from horae.domain.zones.dst import POLICIES
from horae.domain.zones.zones import zone
from tests.domain.cron import generate

PLACES = [
    zone(name) for name in ("UTC", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kolkata")
]
DRAWN, BENT = 6, 54  # strings per example: drawn piece by piece, and valid ones bent at random
ALPHABET = "0123456789*/,-?LW#H()@ \tMONFEB٣\x00ß"

number = st.integers(-1, 70).map(str) | st.sampled_from(["*", "1", "2", "29", "31", "2024", "2099", "007", "99999"])
name = st.sampled_from(["MON", "sun", "FRI", "JAN", "feb", "Dec", "L", "LW", "W", "H", "?", "H(0-9)", "H(5-1)"])
atom = number | name | st.builds("{}-{}".format, number | name, number | name)
item = atom | st.builds("{}/{}".format, atom, number) | st.builds("{}{}".format, number, st.sampled_from("LW"))
item = item | st.builds("{}#{}".format, number | name, number)
word = item | st.lists(item, min_size=1, max_size=4).map(",".join)
likely = st.lists(word, min_size=4, max_size=8).map(" ".join)
noise = st.text(st.sampled_from(ALPHABET), max_size=60) | st.text(max_size=40)
strings = st.lists(likely | noise, min_size=DRAWN, max_size=DRAWN)
dialects = st.sampled_from([None, *Dialect])
moments = st.datetimes(datetime(1900, 1, 1), datetime(2190, 1, 1), timezones=st.just(UTC))


def bent(seed):
    """Valid expressions, most of them with a character or two put in, left out or exchanged."""
    chance = random.Random(seed)
    for _ in range(BENT):
        near = datetime(chance.randint(1970, 2099), chance.randint(1, 12), chance.randint(1, 28), tzinfo=UTC)
        text = generate.expression(chance, chance.choice(list(Dialect)), near)
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            place = chance.randrange(len(text) + 1)
            text = text[:place] + chance.choice((chance.choice(ALPHABET), "")) + text[place + chance.randrange(2) :]
        yield text


class Meter:
    """How often, how far and how long."""

    def __init__(self):
        self.seen, self.took, self.most = Counter(), [], 0

    def try_all(self, texts, dialect, after, place, policy):
        for text in texts:
            self.seen["strings"] += 1
            try:
                cron = parse(text, dialect, salt="acme/fuzz")
            except InvalidSchedule as refused:
                assert str(refused)  # noqa: PT017 - a refusal is one of two good answers
                self.seen["refused"] += 1
                continue
            second = int((after - timeline.EPOCH).total_seconds())
            begin = process_time_ns()
            found, steps = cron.find(second, place, policy)
            self.took.append(process_time_ns() - begin)
            self.most = max(self.most, steps)
            assert steps <= MAX_STEPS, (text, dialect, after)
            assert found is None or found >= second
            assert describe(cron)
            assert describe(cron, "zh")

    def percentile(self, share):
        return sorted(self.took)[int(len(self.took) * share)] / 1e6


def fuzz(examples):
    meter = Meter()
    for place in PLACES:  # what a zone costs once is not what a search costs
        for policy in POLICIES:
            timeline.timeline_until(place, policy, timeline.END_EPOCH_S)

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(strings, st.integers(0, 2**64), dialects, moments, st.sampled_from(PLACES), st.sampled_from(POLICIES))
    def attempt(texts, seed, dialect, after, place, policy):
        meter.try_all(texts, dialect, after, place, policy)
        meter.try_all(bent(seed), None, after, place, policy)

    attempt()
    return meter


def test_a_few_thousand_strings_never_crash_or_hang():
    meter = fuzz(examples=60)
    assert meter.seen["strings"] >= 3_000
    assert meter.seen["strings"] * 0.8 > meter.seen["refused"] > 0


@pytest.mark.long
@pytest.mark.timeout(0)
def test_a_million_strings_never_crash_or_hang():
    meter = fuzz(examples=17_000)
    assert meter.seen["strings"] >= 1_000_000
    assert len(meter.took) > 10_000
    assert meter.percentile(0.9999) <= 5, "CPU-ms"


@pytest.mark.parametrize("text", ["0 0 29 2 {}", "0 0 0 29 2 {}"])
def test_the_rarest_day_is_found_within_the_bound(text):
    rare = ["2#5", "MON#5", "L-0"] if text.count(" ") == 4 else ["MON", "1#5", "SUNL"]
    for weekday in rare:
        try:
            cron = parse(text.format(weekday))
        except InvalidSchedule:
            continue
        for year in range(1970, 2140):
            found, steps = cron.find(
                int(datetime(year, 3, 1, tzinfo=UTC).timestamp()), PLACES[1], random.choice(POLICIES)
            )
            assert found is not None
            assert steps <= MAX_STEPS

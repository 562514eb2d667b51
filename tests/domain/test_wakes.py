from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from horae.domain.nodes.wakes import (
    MOST,
    WAKE_HORIZON,
    WAKE_LOOK_BACK,
    Wake,
    decode,
    encode,
    merge_wakes,
    wake_of,
)

NOW = datetime(2026, 11, 15, 9, tzinfo=UTC)
times = st.datetimes(NOW.replace(tzinfo=None), timezones=st.just(UTC))
wakes = st.builds(Wake, st.none() | st.frozensets(st.integers(0, 4095)), times, times)


def test_what_lies_beyond_the_horizon_wakes_nobody():
    assert wake_of([(7, NOW + WAKE_HORIZON + timedelta(seconds=1))], NOW) is None
    assert wake_of([(7, NOW + WAKE_HORIZON)], NOW) is not None


def test_a_time_long_past_became_due_when_it_was_asked_for_however_long_that_took():
    second = timedelta(seconds=1)
    assert wake_of([(7, NOW - timedelta(days=900))], NOW) == Wake(frozenset({7}), NOW - WAKE_LOOK_BACK, NOW)
    assert wake_of([(7, NOW - second)], NOW) == Wake(frozenset({7}), NOW - second, NOW)
    assert wake_of([(7, NOW + second)], NOW) == Wake(frozenset({7}), NOW + second, NOW + second)


@given(st.lists(wakes, min_size=1))
def test_one_wake_for_many_names_all_they_named(many):
    one = merge_wakes(many)
    for wake in many:
        assert one.earliest <= wake.earliest
        assert one.latest >= wake.latest
        assert one.shards is None or (wake.shards is not None and wake.shards <= one.shards)


def test_too_many_shards_are_all_of_them_and_every_wake_fits_into_a_notification():
    few = merge_wakes(wake_of([(shard, NOW)], NOW) for shard in range(4096 - MOST, 4096))
    assert few.names(4095)
    assert not few.names(0)
    assert len(encode(few)) < 8000
    assert merge_wakes([few, wake_of([(1, NOW)], NOW)]).shards is None


@given(wakes)
def test_a_wake_arrives_as_it_was_sent(wake):
    assert decode(encode(wake)) == wake


def test_many_times_are_one_wake_of_those_within_the_horizon():
    soon, later, far = (NOW + timedelta(seconds=seconds) for seconds in (1, 30, 3600))
    assert wake_of([(1, later), (2, soon), (3, far)], NOW) == Wake(frozenset({1, 2}), soon, later)
    assert wake_of([(shard, NOW) for shard in range(MOST + 1)], NOW).shards is None

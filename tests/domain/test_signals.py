import pytest

from horae.domain.health.signals import (
    BOUNDS_MS,
    BUCKETS,
    Signal,
    add_signals,
    bucket_of,
    percentile_ms,
)


def histogram(*delays_ms):
    counts = [0] * BUCKETS
    for delay in delays_ms:
        counts[bucket_of(delay)] += 1
    return counts


def test_a_delay_is_counted_in_the_bucket_whose_end_it_does_not_pass():
    assert [bucket_of(ms) for ms in (0, 5, 6, 2000, 2001)] == [
        0,
        0,
        1,
        BOUNDS_MS.index(2000),
        BOUNDS_MS.index(3000),
    ]
    assert bucket_of(10**9) == BUCKETS - 1


@pytest.mark.parametrize("delays", [range(100), [3] * 7, [2500] * 3 + [1] * 97, [10**7] * 4, [0]])
def test_a_percentile_lies_in_the_same_bucket_as_the_true_one(delays):
    true = sorted(delays)[max(0, -(-95 * len(delays) // 100) - 1)]
    found = percentile_ms(histogram(*delays), 0.95)
    assert bucket_of(found) == min(bucket_of(true), BUCKETS - 2)


def test_without_fires_nothing_is_late_and_nothing_is_wrong():
    assert percentile_ms([0] * BUCKETS, 0.95) == 0
    assert Signal().success_rate == 1.0
    assert add_signals([]) == Signal()


def test_signals_add_up():
    one = Signal(success=3, failed=1, delays=histogram(1, 100))
    assert add_signals([one, one]).success_rate == 0.75
    assert add_signals([one, one]).fires == 4

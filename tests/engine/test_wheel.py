"""The wheel against a sorted list, and what it costs."""

import random

from horae.engine.wheel import Wheel


def test_everything_comes_out_once_never_early_and_at_the_first_look_after_its_time():
    chance = random.Random(20261115)
    wheel, waiting, now = Wheel(1_000), [], 1_000
    for _ in range(20_000):
        for _ in range(chance.randrange(3)):
            at = now + chance.choice([chance.randrange(-50, 50), chance.randrange(5_000), chance.randrange(300_000)])
            wheel.put(at, at)
            waiting.append(at)
        now += chance.choice([0, 1, 3, 4, 7, 50, 1_024, 5_000]) if chance.random() < 0.9 else chance.randrange(200_000)
        assert sorted(wheel.take(now)) == sorted(at for at in waiting if at <= now)
        waiting = [at for at in waiting if at > now]
        assert len(wheel) == len(waiting)
        next_ms = wheel.next_ms()
        assert next_ms is None if not waiting else now <= next_ms <= min(waiting)


def test_putting_and_taking_touch_a_slot_however_many_wait():
    """Steps are counted, not timed: no slot is looked at twice, whatever is in the others."""
    wheel = Wheel(0)
    for n in range(100_000):
        wheel.put(60_000 + n % 1_000, n)
    assert wheel.take(59_000) == []
    assert len(wheel._fine[0]) == 0
    assert sum(bool(slot) for slot in wheel._coarse) <= 2
    assert len(wheel.take(62_000)) == 100_000


def test_a_clock_that_jumps_ahead_costs_one_look_at_each_item_and_loses_none():
    wheel = Wheel(0)
    places, place = [], wheel._place
    wheel._place = lambda at_ms, item: (places.append(item), place(at_ms, item))
    hour = 3_600_000
    for n in range(100):
        wheel.put(hour + n * 100, n)
    places.clear()
    assert wheel.take(hour + 5_000) == list(range(51))
    assert len(places) <= 2 * 100
    assert wheel.take(hour + 10_000) == list(range(51, 100))
    assert len(wheel) == 0


def test_a_clock_that_goes_back_holds_nothing_back_that_is_past():
    """Else whoever asks when to look next is told "now", again and again, and finds nothing."""
    wheel = Wheel(0)
    assert wheel.take(10_000) == []
    wheel.put(7_900, "past")
    wheel.put(9_000, "ahead")
    assert wheel.take(8_000) == ["past"]
    assert wheel.next_ms() == 9_000
    assert wheel.take(9_000) == ["ahead"]

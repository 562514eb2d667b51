from datetime import timedelta

from horae.engine.front import BEGINNING, SLACK, SWEEP, Front
from tests.domain.builders import NOW


def test_the_first_look_is_unbounded_and_the_next_stays_behind():
    front = Front()
    assert front.low(NOW) == BEGINNING
    front.drained(NOW)
    assert front.low(NOW + timedelta(seconds=5)) == NOW - SLACK


def test_a_look_that_found_more_than_it_took_moves_nothing():
    front = Front()
    front.low(NOW)
    front.drained(NOW)
    front.low(NOW + timedelta(seconds=5))
    assert front.low(NOW + timedelta(seconds=9)) == NOW - SLACK


def test_a_sweep_comes_every_minute_and_goes_on_until_it_is_drained():
    front = Front()
    front.low(NOW)
    front.drained(NOW)
    later = NOW + SWEEP
    assert front.low(later) == BEGINNING
    assert front.low(later + timedelta(seconds=1)) == BEGINNING
    front.drained(later)
    assert front.low(later + timedelta(seconds=1)) == later - SLACK


def test_an_earlier_time_that_is_named_is_reached_back_to():
    front = Front()
    front.low(NOW)
    front.drained(NOW)
    early = NOW - timedelta(hours=1)
    front.name(early)
    assert front.low(NOW) <= early
    front.name(NOW + timedelta(hours=1))
    assert front.low(NOW) <= early


def test_a_takeover_looks_at_everything():
    front = Front()
    front.low(NOW)
    front.drained(NOW)
    front.reset()
    assert front.low(NOW) == BEGINNING

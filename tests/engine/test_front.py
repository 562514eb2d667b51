from datetime import timedelta

import pytest

from horae.engine.front import BEGINNING, NEAR, REACH, SLACK, SWEEP, Front
from tests.domain.builders import NOW


@pytest.fixture
def front():
    """A front that has looked at everything up to NOW."""
    front = Front()
    front.low(NOW)
    front.drained(NOW)
    return front


def test_the_first_look_is_unbounded():
    assert Front().low(NOW) == BEGINNING


def test_a_look_reaches_a_little_back_and_once_a_second_far_back(front):
    soon = NOW + REACH / 2
    assert front.low(soon) == NOW - NEAR
    front.drained(soon)
    assert front.low(NOW + REACH) == soon - SLACK
    front.drained(NOW + REACH)
    assert front.low(NOW + REACH * 1.5) == NOW + REACH - NEAR


def test_a_look_that_found_more_than_it_took_moves_nothing(front):
    assert front.low(NOW + REACH) == NOW - SLACK
    assert front.low(NOW + REACH) == NOW - SLACK


def test_a_sweep_comes_every_minute_and_goes_on_until_it_is_drained(front):
    later = NOW + SWEEP
    assert front.low(later) == BEGINNING
    assert front.low(later + timedelta(milliseconds=1)) == BEGINNING
    front.drained(later)
    assert front.low(later + timedelta(milliseconds=1)) == later - NEAR


def test_an_earlier_time_that_is_named_is_reached_back_to(front):
    early = NOW - timedelta(hours=1)
    front.name(early)
    assert front.low(NOW) <= early
    front.name(NOW + timedelta(hours=1))
    assert front.low(NOW) <= early


def test_a_takeover_looks_at_everything(front):
    front.reset()
    assert front.low(NOW) == BEGINNING

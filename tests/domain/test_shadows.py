"""Our computed fires beside another system's log."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from horae.domain.jobs.shadows import compare
from tests.domain.builders import NOW

MINUTE = timedelta(minutes=1)


def at(*minutes):
    return [NOW + minute * MINUTE for minute in minutes]


def test_fires_that_started_a_moment_later_are_the_same():
    late = [one + timedelta(milliseconds=300) for one in at(0, 5, 10)]
    found = compare("a", at(0, 5, 10), late, MINUTE)
    assert (found.matched, found.same, found.offset) == (3, True, timedelta(milliseconds=300))


def test_what_one_side_has_alone_is_named():
    found = compare("a", at(0, 5, 10), at(5, 10, 12), MINUTE)
    assert (found.matched, list(found.missing), list(found.extra)) == (2, at(12), at(0))
    assert not found.same


def test_an_offset_is_no_match_but_says_how_far_apart_they_are():
    found = compare("a", at(0, 60, 120), [one + 20 * MINUTE for one in at(0, 60, 120)], 25 * MINUTE)
    assert (found.matched, found.apart, found.offset, found.same) == (3, 3, 20 * MINUTE, False)


def test_a_fire_is_never_paired_with_its_neighbour():
    found = compare("a", at(0, 1, 2), at(1.6, 2.6, 3.6), timedelta(hours=1))
    assert found.matched <= 2
    assert all(abs(one) <= MINUTE / 2 for one in found.late)


minutes = st.lists(st.integers(0, 500), unique=True)


@given(minutes, minutes, st.integers(0, 90))
def test_every_fire_of_both_sides_is_told_once(ours, theirs, tolerance):
    found = compare("a", at(*ours), at(*theirs), timedelta(seconds=tolerance))
    assert found.matched + len(found.extra) == len(ours)
    assert found.matched + len(found.missing) == len(theirs)
    same = compare("a", at(*ours), at(*ours), timedelta(seconds=tolerance))
    assert same.same
    assert same.matched == len(ours)

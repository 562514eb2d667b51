"""What the doctor says of the members of a replicated cell."""

from datetime import timedelta

import pytest

from horae.domain.health.doctor import Severity
from horae.domain.health.members import MemberFacts, examine_members

PRIMARY = MemberFacts("db1:5432", False, "a", None, ("db2",), timedelta())
STANDBY = MemberFacts("db2:5432", True, "b", "db2", (), timedelta(milliseconds=20))
THIRD = MemberFacts("db3:5432", True, "c", "db3", (), timedelta())


def wrong(*members, silent=(), production=True):
    found = examine_members(members, silent, production=production)
    assert all(bool(one.advice) == (one.level is not Severity.OK) for one in found)
    return {one.name: one.level for one in found if one.level is not Severity.OK}


def test_three_members_in_three_zones_are_sound():
    assert wrong(PRIMARY, STANDBY, THIRD) == {}


def test_a_member_that_does_not_answer_is_named():
    [first, *_] = examine_members([PRIMARY, STANDBY], ["db3:5432"], production=True)
    assert (first.level, first.found) == (Severity.HINT, "2 answer; silent: db3:5432")


def test_two_members_that_take_writes_are_a_fault_and_so_is_none():
    old = THIRD._replace(is_standby=False, synchronous=("db1",))
    assert wrong(PRIMARY, STANDBY, old)["primaries"] is Severity.FAULT
    assert wrong(STANDBY, THIRD)["primaries"] is Severity.FAULT


@pytest.mark.parametrize(("production", "level"), [(True, Severity.FAULT), (False, Severity.HINT)])
def test_a_synchronous_standby_in_the_zone_of_the_primary_is_a_fault_in_production(production, level):
    same = STANDBY._replace(zone="a")
    assert wrong(PRIMARY, same, THIRD, production=production) == {"zone of the synchronous standby": level}


def test_of_two_synchronous_standbys_one_in_another_zone_is_enough():
    both = PRIMARY._replace(synchronous=("db2", "db3"))
    assert wrong(both, STANDBY._replace(zone="a"), THIRD) == {}


@pytest.mark.parametrize(
    "members",
    [
        (PRIMARY._replace(zone=None), STANDBY),
        (PRIMARY, STANDBY._replace(zone=None)),
        (PRIMARY._replace(synchronous=None), STANDBY),
        (PRIMARY._replace(synchronous=()), STANDBY),
        (PRIMARY, THIRD),
    ],
)
def test_what_is_not_known_of_zones_is_a_hint(members):
    assert wrong(*members) == {"zone of the synchronous standby": Severity.HINT}


@pytest.mark.parametrize(("apart", "level"), [(0.6, Severity.HINT), (2.0, Severity.FAULT)])
def test_clocks_that_are_apart_would_stop_the_cell_at_a_failover(apart, level):
    ahead = STANDBY._replace(clock=timedelta(seconds=apart))
    assert wrong(PRIMARY, ahead, THIRD) == {"clocks of the members": level}

"""RTO and RPO follow from what a receiver saw."""

from datetime import UTC, datetime, timedelta

from horae.domain.drills.recovery import (
    AcknowledgedWrite,
    Effect,
    Recovery,
    figures,
    is_calm,
    percentile,
    recovery,
    rpo_s,
)

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds):
    return BEGAN + timedelta(seconds=seconds)


ANCHORS = {"a": at(0), "b": at(0.5)}


def effects(delays, until=40):
    """One effect for each fire of both jobs; `delays` has the seconds by second and job, None: no effect."""
    made = []
    for second in range(until):
        for job, anchor in ANCHORS.items():
            delay = delays.get((job, second), 0.1)
            due = anchor + timedelta(seconds=second)
            if delay is not None:
                made.append(Effect(job, due, due + timedelta(seconds=delay)))
    return made


def test_without_a_late_fire_the_rto_is_zero():
    assert recovery(effects({}), ANCHORS, at(10), at(30), at(10)) == Recovery(0.0, 0.0, 0, 0)


def test_the_rto_ends_with_the_first_fire_from_which_on_all_are_in_time():
    late = {("a", second): 15 - second for second in range(10, 13)}
    found = recovery(effects(late), ANCHORS, at(10), at(30), at(10))
    assert found == Recovery(rto_s=3.0, caught_up_s=5.0, late=3, lost=0)


def test_a_fire_without_an_effect_counts_as_not_recovered():
    lost = {("b", 20): None}
    assert recovery(effects(lost), ANCHORS, at(10), at(30), at(10)) == Recovery(11.5, 0.0, 0, 1)
    assert recovery(effects({("b", 29): None}), ANCHORS, at(10), at(30), at(10)).rto_s is None


def test_an_effect_that_came_twice_counts_once_by_its_first_time():
    twice = [*effects({}), Effect("a", at(12), at(19))]
    assert recovery(twice, ANCHORS, at(10), at(30), at(10)).late == 0


def test_the_load_is_calm_when_five_seconds_of_fires_were_in_time():
    assert is_calm(effects({}), ANCHORS, at(10), at(17.5))
    assert not is_calm(effects({}), ANCHORS, at(11), at(17.5)), "not long enough after the fault"
    assert not is_calm(effects({("a", 13): 3.0}), ANCHORS, at(10), at(17.5))
    assert not is_calm([], ANCHORS, at(0), at(5)), "before the first fires nothing is known"


def test_the_figures_of_a_second_are_its_effects_and_their_lateness():
    found = figures([Effect("a", at(0), at(0.1)), Effect("b", at(0.5), at(2.0))], at(0), at(3))
    assert [tuple(one) for one in found] == [(1, 100), (0, None), (1, 1500)]
    assert percentile([1, 2, 3]) == 3


def test_the_rpo_is_the_age_of_the_oldest_lost_write():
    writes = [AcknowledgedWrite("kept", at(1)), AcknowledgedWrite("lost", at(7)), AcknowledgedWrite("later", at(9))]
    assert rpo_s(writes, {"kept", "lost", "later"}, at(10)) == 0.0
    assert rpo_s(writes, {"kept"}, at(10)) == 3.0

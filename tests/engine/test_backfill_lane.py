"""The lane of backfills has a guaranteed share of the slots and a cap: it neither starves nor starves due work."""

from collections import Counter
from uuid import uuid4

import pytest

from horae.domain.instances.instances import Lane, Priority
from horae.domain.instances.outcomes import TargetHealth
from horae.domain.limits.shares import LaneShare
from horae.engine import admission
from horae.engine.admission.admission import Admission
from horae.engine.admission.slots import Slots
from tests.counting import counting
from tests.domain.builders import NOW
from tests.engine.builders import FakeDesk, a_pushed_job, a_timer

SLOTS = 200
SHARE = LaneShare(0.06, 0.25)
RESERVED_OF_ONE, CAP = 4, 50
"""Of 200 slots: 2 % for the backfills of each priority, 25 % for all of them."""
MANY = 3000
FIRST_OF_NORMAL = (Priority.NORMAL, Lane.FIRST)


class Scene:
    """Due work and backfills of many targets, at nodes whose slots are all that bounds them."""

    def __init__(self, share=SHARE):
        self.gates = Admission(SLOTS, now=NOW.timestamp, share=share)
        self.desk = FakeDesk()
        self.jobs = [a_pushed_job(f"http://{n}/") for n in range(100)]

    def offer(self, number, **facts):
        """So many calls come due, over all targets."""
        timer = a_timer(**facts)
        for n in range(number):
            self.gates.offer(timer, self.jobs[n % len(self.jobs)], self.desk)

    def used(self):
        """The slots in use by lane."""
        return Counter(ready.timer.lane for ready in self.desk.accepted)

    def end(self, index=0):
        """One call ends, and others may take its slot; returns the lane of the call that ended."""
        ready = self.desk.accepted.pop(index)
        self.gates.record_answer(ready, uuid4(), TargetHealth.OK)
        self.gates.dispatch()
        return ready.timer.lane


@pytest.mark.parametrize("live", [Lane.FIRST, Lane.RETRY])
def test_a_backfill_beside_more_due_work_than_can_be_served_never_stands_still(live):
    scene = Scene()
    for priority in Priority:
        scene.offer(MANY, priority=priority, lane=live)
    scene.gates.dispatch()
    scene.offer(MANY, lane=Lane.BACKFILL)
    scene.gates.dispatch()
    ended = Counter()
    for _ in range(1000):
        ended[scene.end()] += 1
        assert scene.used()[Lane.BACKFILL] >= 1
    assert ended[Lane.BACKFILL] >= 1000 * RESERVED_OF_ONE / SLOTS


def test_due_work_is_served_at_once_however_many_backfills_hang():
    scene = Scene()
    for priority in Priority:
        scene.offer(MANY, priority=priority, lane=Lane.BACKFILL)
    scene.gates.dispatch()
    assert scene.used() == {Lane.BACKFILL: CAP}, "no more, although nothing else is due"
    scene.offer(90, lane=Lane.FIRST)
    assert scene.gates.dispatch() == 90


def test_what_a_backfill_gives_back_another_takes_and_the_cap_holds():
    scene = Scene()
    scene.offer(MANY, lane=Lane.BACKFILL)
    scene.gates.dispatch()
    for _ in range(500):
        scene.end()
        assert scene.used()[Lane.BACKFILL] == CAP


def test_a_share_as_large_as_the_cap_is_reserved_whole():
    slots = Slots(SLOTS, LaneShare(0.15, 0.15))
    while slots.may(FIRST_OF_NORMAL):
        slots.take(FIRST_OF_NORMAL)
    taken = 0
    for priority in Priority:
        while slots.may((priority, Lane.BACKFILL)):
            slots.take((priority, Lane.BACKFILL))
            taken += 1
    assert taken == 30


def test_the_cap_costs_due_work_no_step():
    slots = Slots(SLOTS, SHARE)
    with counting(admission) as steps:
        assert slots.may(FIRST_OF_NORMAL)
    live = steps.lines
    for _ in range(CAP):
        slots.take((Priority.LOW, Lane.BACKFILL))
    with counting(admission) as steps:
        assert not slots.may((Priority.NORMAL, Lane.BACKFILL))
    assert (live, steps.lines) == (2, 3)

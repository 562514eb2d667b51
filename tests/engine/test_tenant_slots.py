"""One tenant cannot hold all slots of a node with calls that hang."""

from collections import Counter
from uuid import UUID, uuid4

from horae.domain.instances.instances import Lane, Priority
from horae.domain.instances.outcomes import TargetHealth
from horae.engine.admission.admission import Admission
from tests.engine.builders import FakeDesk, a_pushed_job, a_timer

SLOTS, HANGING = 2000, 400
BAD, GOOD = UUID(int=1), UUID(int=2)


class Node:
    """A node's gates; what is admitted hangs until it is answered."""

    def __init__(self):
        self.gates, self.desk = Admission(SLOTS, now=lambda: 0.0), FakeDesk()

    def offer(self, tenant, number, url="http://x/", **facts):
        job = a_pushed_job(url, tenant=tenant)
        for _ in range(number):
            self.gates.offer(a_timer(tenant=tenant, **facts), job, self.desk)

    def offer_hanging(self, tenant=BAD, **facts):
        for n in range(HANGING):
            self.offer(tenant, 8, f"http://{n}/", **facts)

    def under_way(self):
        self.gates.dispatch()
        return Counter(ready.timer.tenant_id for ready in self.desk.accepted)

    def answer(self, tenant, number):
        mine = [ready for ready in self.desk.accepted if ready.timer.tenant_id == tenant][:number]
        for ready in mine:
            self.desk.accepted.remove(ready)
            self.gates.record_answer(ready, uuid4(), TargetHealth.OK)


def test_a_tenant_whose_targets_all_hang_leaves_slots_to_others():
    node = Node()
    node.offer(GOOD, 1)
    node.offer_hanging()
    assert node.under_way() == {GOOD: 1, BAD: SLOTS // 2}
    node.offer(GOOD, 7)
    assert node.under_way()[GOOD] == 8
    node.answer(GOOD, 8)
    node.offer(GOOD, 16)
    assert node.under_way() == {GOOD: 16, BAD: SLOTS // 2}


def test_it_goes_on_when_its_calls_end():
    node = Node()
    node.offer(GOOD, 1)
    node.offer_hanging()
    node.under_way()
    node.answer(BAD, 60)
    assert node.under_way()[BAD] == SLOTS // 2
    for _ in range(HANGING):
        node.answer(BAD, 100)
        if not node.under_way()[BAD]:
            break
    assert node.gates.waiting == 0
    assert node.under_way() == {GOOD: 1}


def test_its_bound_is_over_all_classes_together():
    node = Node()
    node.offer(GOOD, 1)
    for priority in Priority:
        for lane in (Lane.FIRST, Lane.BACKFILL):
            node.offer_hanging(priority=priority, lane=lane)
    assert node.under_way()[BAD] == SLOTS // 2
    node.offer(GOOD, 7, priority=Priority.LOW)
    assert node.under_way()[GOOD] == 8


def test_a_tenant_that_is_alone_may_have_every_slot_that_its_class_may():
    node = Node()
    node.offer_hanging()
    assert node.under_way()[BAD] > SLOTS // 2


def test_what_comes_while_it_is_parked_waits_and_goes_on_later():
    node = Node()
    node.offer(GOOD, 1)
    node.offer_hanging()
    node.under_way()
    node.offer(BAD, 4, "http://new/")
    node.gates.clear()
    node.offer(BAD, 4, "http://newer/")
    assert node.under_way()[BAD] == SLOTS // 2
    node.answer(BAD, SLOTS // 2)
    assert node.under_way()[BAD] == 4

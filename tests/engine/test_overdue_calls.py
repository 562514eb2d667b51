"""Overdue calls wait behind those that are on time, and get every eighth turn."""

from uuid import uuid4

from horae.domain.instances.outcomes import TargetHealth
from horae.domain.limits.shares import OVERDUE_TURN
from horae.engine import admission
from horae.engine.admission.admission import Admission
from horae.engine.admission.turns import ENOUGH
from horae.engine.admission.two_parts import MOVED_AT_ONCE
from tests.counting import counting
from tests.domain.builders import NOW
from tests.engine.builders import FakeDesk, a_pushed_job, a_timer, later

URL = "http://x/"


class Gates:
    """One target with one class, on a clock that is told."""

    def __init__(self):
        self.time = NOW.timestamp()
        self.desk = FakeDesk()
        self.gates = Admission(2000, now=lambda: self.time)

    def come(self, *due_s, is_overdue=False):
        for second in due_s:
            self.gates.offer(a_timer(later(second)), a_pushed_job(URL), self.desk, is_overdue=is_overdue)

    def answer(self, health=TargetHealth.OK):
        self.gates.record_answer(self.desk.accepted.pop(), uuid4(), health)

    def passed(self, most=1000):
        """The due times of the calls that pass, answered one by one."""
        found = []
        while self.gates.dispatch() and len(found) < most:
            while self.desk.accepted:
                found.append(round((self.desk.accepted[0].timer.at - NOW).total_seconds()))
                self.gates.record_answer(self.desk.accepted.pop(0), uuid4(), TargetHealth.OK)
        return found

    def break_target(self):
        """Failures until the breaker is open."""
        while self.gates.dispatch():
            while self.desk.accepted:
                self.answer(TargetHealth.FAILED)


def test_those_on_time_go_first_and_every_eighth_turn_is_an_overdue_ones():
    scene = Gates()
    scene.come(*range(100), is_overdue=True)
    scene.come(*range(1000, 1021))
    order = scene.passed()
    on_time = [place for place, second in enumerate(order) if second >= 1000]
    assert [order[place] for place in on_time] == [*range(1000, 1021)]
    assert on_time[-1] + 1 == 21 + 2, "seven of eight"
    assert [second for second in order if second < 1000] == [*range(100)], "in the order in which they came"
    assert order[OVERDUE_TURN - 1] == 0


def test_what_a_breaker_holds_back_waits_behind_what_is_due_when_its_target_is_back():
    scene = Gates()
    scene.come(*[0] * 40)
    scene.break_target()
    held = scene.gates.waiting
    scene.come(1, 2)
    scene.come(*[3] * 3)
    scene.time += 600
    scene.come(*[600] * 3, 601)
    order = scene.passed()
    assert len(order) == held + 9
    assert [second for second in order[:6] if second >= 600] == [600, 600, 600, 601], order[:12]
    assert sorted(order[6:]) == order[6:], "the others as they came"


def test_a_full_target_serves_in_the_order_in_which_calls_came():
    scene = Gates()
    scene.come(*range(20))
    scene.gates.dispatch()
    scene.come(*range(20, 40))
    order = [round((ready.timer.at - NOW).total_seconds()) for ready in scene.desk.accepted]
    scene.desk.accepted.reverse()
    while scene.desk.accepted:
        scene.answer()
        before = len(scene.desk.accepted)
        scene.gates.dispatch()
        order += [round((ready.timer.at - NOW).total_seconds()) for ready in scene.desk.accepted[before:]]
        scene.desk.accepted.sort(key=lambda ready: ready.timer.at, reverse=True)
    assert order == [*range(40)], "to wait for a place changes no order"


def test_overdue_calls_are_not_counted_with_those_on_time():
    scene = Gates()
    scene.come(0)
    flow = next(iter(next(iter(scene.gates.targets)).flows.values()))
    scene.come(*[0] * ENOUGH, is_overdue=True)
    assert [scene.gates.has_enough(turns, lambda: None) for turns in flow.turns] == [False, True]


def test_a_hundred_thousand_calls_that_became_overdue_are_put_behind_few_at_a_time():
    scene = Gates()
    scene.come(*[0] * 100)
    scene.break_target()
    scene.come(*[0] * 100_000)
    scene.time += 60
    most = 0
    for _ in range(100_000 // MOVED_AT_ONCE + 10):
        with counting(admission) as steps:
            scene.come(60)
        most = max(most, steps.lines)
    assert most < 30 * MOVED_AT_ONCE
    assert scene.passed(20)[:7].count(60) >= 6


def test_instances_that_are_gone_leave_from_both_sections():
    scene = Gates()
    scene.come(*[0] * 40)
    scene.break_target()
    flow = next(iter(next(iter(scene.gates.targets)).flows.values()))
    scene.come(1, is_overdue=True)
    scene.come(2)
    held = len(flow)
    first = {flow._behind[0].timer.id, flow._entries[0].timer.id}
    assert len(flow.drop_first(first, scene.time)) == 2
    assert len(flow) == held - 2
    assert flow.first_held_s(scene.time + 5) >= 5


def test_a_fire_that_is_not_recorded_yet_is_not_put_behind():
    """It waits at the open breaker for two seconds, is recorded then, and comes back as an instance."""
    scene = Gates()
    scene.come(*[0] * 40)
    scene.break_target()
    flow = next(iter(next(iter(scene.gates.targets)).flows.values()))
    before = len(flow)
    scene.gates.offer(a_timer(later(1), cursor=True), a_pushed_job(URL), scene.desk)
    scene.come(2, 600)
    assert (len(flow), flow.overdue) == (before + 3, before), "what came before it, not what came after"

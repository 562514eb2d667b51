"""One tenant does its worst at the gates of a node, and another tenant's calls pass unmoved. Without a clock."""

from uuid import UUID, uuid4

import msgspec

from horae.domain.instances.instances import Lane
from horae.domain.instances.outcomes import TargetHealth
from horae.domain.limits.limits import Key, Limit
from horae.domain.targets.breaker import FAILURES
from horae.engine.admission.admission import Admission
from tests.engine.builders import FakeDesk, a_pushed_job, a_timer

HOSTILE, VICTIM = UUID(int=11), UUID(int=12)
URL = "http://shared/"
MANY = 500


class Scene:
    """The gates of a node, and calls of two tenants."""

    def __init__(self, slots=200, **facts):
        self.gates, self.desk = Admission(slots, now=lambda: 0.0, **facts), FakeDesk()

    def offer(self, tenant, url=URL, many=1, **facts):
        job = msgspec.structs.replace(a_pushed_job(url), tenant_id=tenant)
        for _ in range(many):
            self.gates.offer(a_timer(tenant=tenant, **facts), job, self.desk)

    def passed(self, tenant):
        """How many calls of a tenant pass now."""
        before = len(self.desk.accepted)
        self.gates.dispatch()
        return sum(one.timer.tenant_id == tenant for one in self.desk.accepted[before:])

    def fail(self):
        """Every call that was let pass fails."""
        for ready in self.desk.accepted:
            self.gates.record_answer(ready, uuid4(), TargetHealth.FAILED)
        self.desk.accepted.clear()


def test_a_breaker_that_one_tenant_opens_is_closed_for_another_at_the_same_url():
    scene = Scene()
    for _ in range(FAILURES):
        scene.offer(HOSTILE)
        scene.gates.dispatch()
        scene.fail()
    scene.offer(HOSTILE)
    assert scene.passed(HOSTILE) == 0
    scene.offer(VICTIM)
    assert scene.passed(VICTIM) == 1


def test_retries_that_one_tenant_has_spent_are_not_another_tenants():
    scene = Scene(slots=5000)
    scene.offer(HOSTILE, many=MANY, lane=Lane.RETRY)
    scene.gates.dispatch()
    scene.offer(HOSTILE, lane=Lane.RETRY)
    assert scene.passed(HOSTILE) == 0
    scene.offer(VICTIM, lane=Lane.RETRY)
    assert scene.passed(VICTIM) == 1


def test_a_target_that_hangs_holds_its_first_few_places_and_every_other_call_passes():
    scene = Scene()
    scene.offer(HOSTILE, many=MANY)
    assert scene.passed(HOSTILE) < 10
    scene.offer(VICTIM, "http://well/", many=5)
    assert scene.passed(VICTIM) == 5


def test_calls_at_a_limit_of_one_tenant_take_no_place_of_another():
    class Closed:
        """Limits without room."""

        def take(self, *_):
            return False

        def room(self, *_):
            return 0

        def give(self, *_):
            pass

        undo = wait = give

    limited = (Key(HOSTILE, "job/j"), Limit(rate=1))
    scene = Scene(permits=Closed(), limits_of=lambda job: [limited] if job.tenant_id == HOSTILE else [])
    for n in range(MANY):
        scene.offer(HOSTILE, f"http://{n}/")
    scene.offer(VICTIM, many=5)
    assert scene.passed(VICTIM) == 5
    assert scene.gates.slots.free == scene.gates.slots.total - 5


def test_a_tenant_with_a_long_line_is_served_once_for_each_call_of_another():
    """Of 100 places that are free one after the other half are the victim's, although 500 others came first."""
    scene = Scene(slots=4)
    for n in range(MANY):
        scene.offer(HOSTILE, f"http://{n}/")
    for n in range(50):
        scene.offer(VICTIM, f"http://victim-{n}/")
    served = {HOSTILE: 0, VICTIM: 0}
    while served[VICTIM] < 50:
        scene.gates.dispatch()
        assert scene.desk.accepted
        for ready in scene.desk.accepted:
            served[ready.timer.tenant_id] += 1
            scene.gates.record_answer(ready, uuid4(), TargetHealth.OK)
        scene.desk.accepted.clear()
    assert served[HOSTILE] <= 55

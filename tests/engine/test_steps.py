"""The work for one decision is bounded: executed lines are counted, with few waiting and with very many.

Each scene is played twice: small, and at the size where a loop over everyone who waits would show. The lines for each
event may differ by no more than a little.
"""

import sys
from itertools import cycle, islice
from uuid import UUID, uuid4

import pytest

from horae.domain.instances.instances import Lane, Priority
from horae.domain.instances.outcomes import TargetHealth
from horae.domain.limits.limits import Key, Limit
from horae.engine import admission
from horae.engine.admission.admission import Admission
from horae.engine.admission.closed_gates import ClosedGates
from tests.counting import counting
from tests.domain.builders import NOW
from tests.engine.builders import FakeDesk, a_pushed_job, a_timer

EVENTS = 300
LINES_PER_EVENT = 165
"""Lines of the package for one event: a call is offered, admitted, held back or answered, or a turn begins."""
GROWTH, MAX_LINES_MORE = 1.5, 20
"""How much more one event may cost with everyone waiting than with a few: a heap is deeper by some levels, and of many
more are sent."""


class Permits:
    """Each limit lets so many pass at once."""

    def __init__(self, most):
        self.most, self.used = most, {}

    def take(self, key, _limit):
        if self.room(key) <= 0:
            return False
        self.used[key] = self.used.get(key, 0) + 1
        return True

    def give(self, key):
        self.used[key] -= 1

    undo = give

    def room(self, key):
        return self.most - self.used.get(key, 0)

    def wait(self, _key, _many):
        pass


class Scene:
    """A gatekeeper in front of which many wait, on a clock that is only told."""

    def __init__(self, *, slots=2000, permits=None):
        self.time = NOW.timestamp()
        self.gates = Admission(slots, permits=permits, limits_of=self.limits_of, now=lambda: self.time)
        self.desk = FakeDesk()
        self.answers = cycle([TargetHealth.OK])
        self.offered_lines: list[int] = []

    def limits_of(self, job):
        return [(Key(UUID(int=1), name), Limit(concurrency=1)) for name in job.definition.quotas]

    def jobs(self, number, **facts):
        return [a_pushed_job(f"http://{n}/", **facts) for n in range(number)]

    def crowd(self, jobs, number, *desks, **facts):
        """So many come due, one job after the other; the lines for each are counted on the last few."""
        timers = [a_timer(**facts) for _ in range(64)]
        offered = islice(zip(cycle(timers), cycle(jobs), cycle(desks or (self.desk,)), strict=False), number)
        for n, (timer, job, desk) in enumerate(offered):
            if n < number - EVENTS:
                self.gates.offer(timer, job, desk)
            else:
                with counting(admission) as steps:
                    self.gates.offer(timer, job, desk)
                self.offered_lines.append(steps.lines)
        self.gates.dispatch()

    def play(self):
        """Calls end one by one, others take their places, time passes; returns the lines for each event."""
        held, passed, turns = sum(self.gates.held.values()), 0, 0
        with counting(admission) as steps:
            for n in range(EVENTS):
                if self.desk.accepted:
                    self.gates.record_answer(self.desk.accepted.pop(), uuid4(), next(self.answers))
                passed += self.gates.dispatch()
                turns += 1
                self.time += 0.001
                if n % 100 == 99:
                    self.gates.pop_unrecorded()
                    self.gates.recheck_gates()
                    passed += self.gates.dispatch()
        return steps.lines / (EVENTS + turns + passed + sum(self.gates.held.values()) - held)


def full_desk(size):
    """Everyone waits for one target, and the desk takes no more."""
    scene = Scene()
    scene.crowd(scene.jobs(1), size)
    scene.desk.has_room = False
    return scene


def one_target(size):
    """Everyone waits for one target, which bears few calls."""
    scene = Scene()
    scene.crowd(scene.jobs(1), size)
    return scene


def many_targets(size):
    """Twenty wait for each target, and there are fewer slots than targets."""
    scene = Scene(slots=200)
    scene.crowd(scene.jobs(max(1, size // 20)), size)
    return scene


def many_tenants(size):
    """Twenty wait of each tenant."""
    scene = Scene(slots=200)
    tenants = [uuid4() for _ in range(max(1, size // 20))]
    jobs = scene.jobs(len(tenants))
    timers = [a_timer(tenant=tenant) for tenant in tenants]
    for n in range(size):
        scene.gates.offer(timers[n % len(tenants)], jobs[n % len(tenants)], scene.desk)
    scene.gates.dispatch()
    return scene


def tenants_at_their_bounds(size):
    """Two tenants hold half of the slots each, in every class and at ten desks, and everyone else waits behind them."""
    scene = Scene(slots=200)
    desks = [scene.desk, *(FakeDesk() for _ in range(9))]
    for desk in desks[1:]:
        desk.accept = scene.desk.accept
    tenants = UUID(int=1), UUID(int=2)
    jobs = [a_pushed_job(f"http://{n}/", tenant=tenant) for n in range(20) for tenant in tenants]
    classes = [{"priority": priority, "lane": lane} for priority in Priority for lane in (Lane.FIRST, Lane.BACKFILL)]
    for n in range(size):
        job = jobs[n % len(jobs)]
        timer = a_timer(tenant=job.tenant_id, **classes[n % 7 % 6])
        scene.gates.offer(timer, job, desks[n // len(jobs) % len(desks)])
    scene.gates.dispatch()
    return scene


def many_limits(size):
    """Each of a thousand limits lets one call pass at once, and everyone waits for one of them."""
    scene = Scene(permits=Permits(1))
    limits = size // 200
    scene.crowd([a_pushed_job(f"http://{n}/", quotas=(f"l{n}",)) for n in range(limits)], size)
    return scene


def two_limits(size):
    """Everyone needs two limits: one has room, the other has not."""
    scene = Scene(permits=Permits(3))
    jobs = [a_pushed_job(f"http://{n}/", quotas=("all", f"l{n}")) for n in range(20)]
    scene.crowd(jobs, size)
    return scene


def open_breakers(size):
    """No target answers: every breaker is open, and each is probed when its time comes."""
    scene = Scene()
    scene.answers = cycle([TargetHealth.FAILED])
    scene.crowd(scene.jobs(max(1, size // 20)), size)
    for _ in range(20):
        while scene.desk.accepted:
            scene.gates.record_answer(scene.desk.accepted.pop(), uuid4(), TargetHealth.FAILED)
        scene.gates.dispatch()
    return scene


def retries(size):
    """Everyone is a retry, and the budget of each target is spent."""
    scene = Scene()
    scene.crowd(scene.jobs(20), size, lane=Lane.RETRY)
    return scene


def fires_held(size):
    """Fires that nobody has recorded wait for one target that bears few calls."""
    scene = Scene()
    scene.crowd(scene.jobs(1), size, cursor=True)
    return scene


def one_of_two_desks(size):
    """Two cells; the desk of one is closed, and half of all wait for it."""
    scene = Scene()
    closed = FakeDesk()
    closed.has_room = False
    scene.crowd(scene.jobs(10), size, scene.desk, closed)
    return scene


def closed_desks(size):
    """A hundred cells whose desks are closed, beside one that is open."""
    scene = Scene()
    closed = [FakeDesk() for _ in range(size // 1000)]
    for desk in closed:
        desk.has_room = False
    scene.crowd(scene.jobs(10), size, scene.desk, *closed)
    return scene


def mixture(size):
    """All of it at once: classes, limits, breakers, retries, fires, two desks of which one is closed."""
    scene = Scene(slots=200, permits=Permits(2))
    scene.answers = cycle([TargetHealth.OK, TargetHealth.FAILED, TargetHealth.TOO_EARLY])
    closed = FakeDesk()
    closed.has_room = False
    for priority in Priority:
        for lane in Lane:
            jobs = [a_pushed_job(f"http://{n}/", quotas=(f"l{n % 50}",) if n % 3 else ()) for n in range(100)]
            cursor = lane is Lane.FIRST
            scene.crowd(jobs, size // 9, scene.desk, closed, priority=priority, lane=lane, cursor=cursor)
    return scene


SCENES = (
    full_desk,
    one_target,
    many_targets,
    many_tenants,
    tenants_at_their_bounds,
    many_limits,
    two_limits,
    open_breakers,
    retries,
    fires_held,
    one_of_two_desks,
    closed_desks,
    mixture,
)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_a_decision_costs_the_same_however_many_wait(scene):
    few, many = scene(20_000), scene(200_000)
    assert max(many.offered_lines, default=0) <= LINES_PER_EVENT
    lines = few.play(), many.play()
    assert lines[1] <= max(GROWTH * lines[0], lines[0] + MAX_LINES_MORE), lines
    assert lines[1] <= LINES_PER_EVENT, lines


def test_a_loop_over_everyone_who_waits_would_be_seen(monkeypatch):
    """The scale itself: a turn that looks at all calls once costs a thousand times the bound."""
    scene = one_target(20_000)

    def looking(_closed, _fair):
        assert all(len(flow) for target in scene.gates.targets for flow in target.flows.values() for _ in flow._entries)

    monkeypatch.setattr(ClosedGates, "ask_dispatchers", looking)
    with counting(sys.modules[__name__]) as steps:
        scene.gates.dispatch()
    assert steps.lines > 10 * LINES_PER_EVENT

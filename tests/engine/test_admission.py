"""Admission on paper: shares, slots, windows, breakers, budgets and limits, without a database or a clock."""

from collections import Counter
from uuid import UUID, uuid4

import pytest

from horae.domain.instances.instances import Lane, Priority
from horae.domain.instances.outcomes import TargetHealth
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.limits.limits import Key, Limit
from horae.domain.limits.shares import RESERVED_SLOT_SHARE, WEIGHTS
from horae.domain.targets.breaker import FAILURES, MAX_PROBE_WAIT_S, Breaker
from horae.domain.targets.targets import HttpTarget
from horae.engine.admission.admission import CAPPED_PATIENCE_S, Admission
from horae.engine.admission.fair import Fair
from horae.engine.admission.limited import LIMIT_PATIENCE_S
from horae.engine.admission.slots import Slots
from horae.engine.admission.target import BURST_RETRIES, FIRST_WINDOW, DueCall, Target
from tests.domain.builders import NOW
from tests.engine.builders import FakeDesk, a_pushed_job, a_ready, a_timer

ANY = UUID(int=1)
HIGH, NORMAL, LOW = ((priority, Lane.FIRST) for priority in Priority)


def everyone(_class):
    return True


class Turns(Fair):
    """Flows of ready calls, each target once, and who is served."""

    def put(self, ready):
        flow = ready.target.flow(ready)
        flow.add(ready, 0.0)
        if not flow.listed:
            self.add(flow)

    def served(self, number, may=everyone):
        flows = (self.next(may) for _ in range(number))
        return [self.serve(flow, 0.0) for flow in flows if flow is not None]

    def timers(self, number, may=everyone):
        return [ready.timer for ready in self.served(number, may)]


DESK = FakeDesk()


def waits(timer, target=None, desk=DESK):
    return DueCall(timer, a_pushed_job(), desk, target or Target())


# Fair: who is next.


def test_classes_are_served_in_proportion_to_their_weights_both_ways():
    fair = Turns(lambda _tenant: 1)
    for priority in Priority:
        for _ in range(1000):
            fair.put(waits(a_timer(priority=priority)))
    counted = Counter((timer.priority, timer.lane) for timer in fair.timers(420))
    total = sum(WEIGHTS[class_] for class_ in counted)
    assert {class_: round(420 * WEIGHTS[class_] / total) for class_ in counted} == counted
    assert counted[LOW] > 0, "low is served less, but it is served"


def test_a_class_that_was_idle_saved_up_nothing():
    fair = Turns(lambda _tenant: 1)
    for _ in range(500):
        fair.put(waits(a_timer(priority=Priority.LOW)))
    fair.timers(400)
    for _ in range(100):
        fair.put(waits(a_timer(priority=Priority.CRITICAL)))
    first = fair.timers(20)
    assert sum(timer.priority is Priority.LOW for timer in first) >= 1, "nor does it lock the other out"


def test_tenants_share_a_class_by_their_weights_whoever_came_first_with_how_many():
    heavy, light = uuid4(), uuid4()
    fair = Turns(lambda tenant: 3 if tenant == heavy else 1)
    for _ in range(1000):
        fair.put(waits(a_timer(tenant=light)))
    for _ in range(100):
        fair.put(waits(a_timer(tenant=heavy)))
    assert Counter(timer.tenant_id for timer in fair.timers(80)) == {heavy: 60, light: 20}


def test_the_targets_of_a_tenant_take_turns_and_the_calls_of_one_go_in_order():
    fair, crowded, other = Turns(lambda _tenant: 1), Target(), Target()
    first, second, third = (waits(a_timer(), crowded) for _ in range(3))
    late = waits(a_timer(), other)
    for ready in (first, second, third, late):
        fair.put(ready)
    assert fair.served(5) == [first, late, second, third]


def test_a_tenant_with_many_targets_gets_no_more_than_its_part():
    one, many = uuid4(), uuid4()
    fair, target = Turns(lambda _tenant: 1), Target()
    for _ in range(100):
        fair.put(waits(a_timer(tenant=many)))
        fair.put(waits(a_timer(tenant=one), target))
    assert Counter(timer.tenant_id for timer in fair.timers(100)) == {one: 50, many: 50}


def test_desks_share_a_class_by_the_weights_of_the_tenants_that_wait_there():
    fair, crowded, quiet = Turns(lambda _tenant: 1), FakeDesk(), FakeDesk()
    for _ in range(3):
        tenant = uuid4()
        for _ in range(100):
            fair.put(waits(a_timer(tenant=tenant), None, crowded))
    for _ in range(100):
        fair.put(waits(a_timer(), None, quiet))
    assert Counter(ready.dispatcher is quiet for ready in fair.served(80)) == {False: 60, True: 20}


def test_a_desk_that_is_closed_is_not_asked_and_saves_up_nothing():
    fair, full, free = Turns(lambda _tenant: 1), FakeDesk(), FakeDesk()
    for _ in range(100):
        fair.put(waits(a_timer(), None, full))
        fair.put(waits(a_timer(tenant=uuid4()), None, free))
    fair.close(full)
    assert {id(ready.dispatcher) for ready in fair.served(50)} == {id(free)}
    fair.reopen(full)
    assert 1 <= sum(ready.dispatcher is full for ready in fair.served(20)) <= 10


def test_a_class_that_may_not_have_a_slot_is_passed_over():
    fair = Turns(lambda _tenant: 1)
    fair.put(waits(a_timer(priority=Priority.CRITICAL)))
    fair.put(waits(a_timer(priority=Priority.LOW)))
    assert [timer.priority for timer in fair.timers(2, lambda class_: class_ == LOW)] == [Priority.LOW]


# Slots: what is reserved.


def test_no_class_takes_what_the_others_are_promised_and_each_gets_its_own():
    slots = Slots(1000)
    taken = 0
    while slots.may(LOW):
        slots.take(LOW)
        taken += 1
    assert taken == 1000 - sum(int(1000 * part) for class_, part in RESERVED_SLOT_SHARE.items() if class_ != LOW)
    for class_, part in RESERVED_SLOT_SHARE.items():
        if class_ != LOW:
            for _ in range(int(1000 * part)):
                assert slots.may(class_)
                slots.take(class_)
    assert slots.free == 0
    assert not slots.may(HIGH)
    slots.give(LOW)
    assert slots.may(LOW)
    assert slots.may(HIGH), "everyone has its part: what is free now is anyone's"


# Targets: window, breaker, budget.


def test_a_target_that_never_answered_has_a_few_slots_and_earns_one_with_every_answer():
    target = Target()
    admitted = 0
    while target.admit(a_ready(), 0.0) is None:
        admitted += 1
    assert admitted == FIRST_WINDOW
    for _ in range(4):
        target.record_answer(uuid4(), TargetHealth.OK, now=0.0, randomness=0.0)
    assert target.window == FIRST_WINDOW + 4


def test_a_targets_own_cap_is_never_exceeded():
    target = Target(cap=3)
    for _ in range(50):
        assert target.admit(a_ready(), 0.0) is None
        target.record_answer(uuid4(), TargetHealth.OK, now=0.0, randomness=0.0)
    held = [target.admit(a_ready(), 0.0) for _ in range(5)]
    assert held == [None, None, None, HoldReason.TARGET_CAP, HoldReason.TARGET_CAP]


def broken(target, now=0.0):
    for _ in range(FAILURES):
        assert target.admit(a_ready(), now) is None
        target.record_answer(uuid4(), TargetHealth.FAILED, now=now, randomness=0.0)


def test_an_open_breaker_lets_one_probe_pass_and_after_it_slots_one_by_one():
    target = Target()
    broken(target)
    assert target.admit(a_ready(), 0.5) is HoldReason.BREAKER
    probe = a_ready()
    assert target.admit(probe, 1.0) is None
    assert probe.probe
    assert target.admit(a_ready(), 1.0) is HoldReason.BREAKER
    target.record_answer(uuid4(), TargetHealth.OK, now=1.0, randomness=0.0)
    assert [target.admit(a_ready(), 1.0) for _ in range(3)] == [None, None, HoldReason.TARGET_CAP]


def test_a_probe_that_was_not_sent_leaves_the_next_one_to_try():
    target, probe = Target(), a_ready()
    broken(target)
    target.admit(probe, 1.0)
    target.withdraw(probe)
    assert not probe.probe, "when it is sent later it is no probe any more"
    assert target.admit(a_ready(), 1.0) is None


def test_retries_are_at_most_a_fifth_of_first_attempts_and_a_few():
    target = Target()
    sent = Counter()
    for _ in range(500):
        for lane in (Lane.FIRST, Lane.RETRY):
            if target.admit(a_ready(a_timer(lane=lane)), 0.0) is None:
                sent[lane] += 1
                target.record_answer(uuid4(), TargetHealth.OK, now=0.0, randomness=0.0)
    assert sent[Lane.FIRST] == 500
    assert 0.19 * 500 <= sent[Lane.RETRY] <= 0.2 * 500 + BURST_RETRIES


def test_too_early_says_nothing_against_a_target_and_earns_its_own_retry():
    target = Target()
    for _ in range(10 * FAILURES):
        assert target.admit(a_ready(), 0.0) is None
        target.record_answer(uuid4(), TargetHealth.TOO_EARLY, now=0.0, randomness=0.0)
    assert target.breaker.closed
    assert target.window > 10 * FAILURES
    retried = 0
    while target.admit(a_ready(a_timer(lane=Lane.RETRY)), 0.0) is None:
        retried += 1
        target.record_answer(uuid4(), TargetHealth.OK, now=0.0, randomness=0.0)
    assert retried == 10 * FAILURES + BURST_RETRIES


# The breaker itself.


def test_different_instances_open_a_breaker_and_one_that_fails_for_ever_does_not():
    breaker = Breaker()
    assert not any(breaker.record_failure(ANY, 0.0, 0.0) for _ in range(100))
    assert [breaker.record_failure(uuid4(), 0.0, 0.0) for _ in range(FAILURES - 1)][-1]
    assert not breaker.closed


def test_each_failed_probe_doubles_the_wait_up_to_half_a_minute_and_an_answer_forgets_it_all():
    breaker, waits, now = Breaker(), [], 0.0
    for _ in range(FAILURES):
        breaker.record_failure(uuid4(), now, 0.0)
    for _ in range(8):
        waits.append(breaker.until - now)
        now = breaker.until
        assert breaker.may_probe(now)
        breaker.probe()
        assert not breaker.may_probe(now), "one at a time"
        breaker.record_failure(uuid4(), now, 0.0, probe=True)
    assert waits == [1, 2, 4, 8, 16, MAX_PROBE_WAIT_S, MAX_PROBE_WAIT_S, MAX_PROBE_WAIT_S]
    breaker.record_success()
    assert breaker.closed


# The gatekeeper.


class Few:
    """At most so many of each key at once."""

    def __init__(self, **limits):
        self.left, self.told = limits, {}

    def take(self, key, _limit):
        if not self.left[key.name]:
            return False
        self.left[key.name] -= 1
        return True

    def give(self, key):
        self.left[key.name] += 1

    undo = give

    def room(self, key):
        return self.left[key.name]

    def wait(self, key, many):
        self.told[key.name] = many


def limited(permits, now=NOW.timestamp):
    keys = {name: (Key(ANY, name), Limit(concurrency=1)) for name in permits.left}

    def limits_of(job):
        return [keys[name] for name in job.definition.quotas]

    return Admission(1000, permits=permits, limits_of=limits_of, now=now)


def test_who_waits_at_a_limit_goes_when_a_call_before_it_has_ended():
    permits, desk = Few(a=2), FakeDesk()
    gatekeeper, job = limited(permits), a_pushed_job(quotas=("a",))
    for _ in range(5):
        gatekeeper.offer(a_timer(), job, desk)
    gatekeeper.dispatch()
    assert (len(desk.accepted), gatekeeper.waiting) == (2, 3)
    for done in range(3):
        gatekeeper.record_answer(desk.accepted[done], ANY, TargetHealth.OK)
        gatekeeper.dispatch()
        assert len(desk.accepted) == 3 + done
    assert gatekeeper.waiting == 0


def test_what_one_limit_holds_back_burns_no_permit_of_another():
    permits, desk = Few(all=2, a=0, b=9), FakeDesk()
    gatekeeper = limited(permits)
    for name in ("a", "a", "a", "b", "b"):
        gatekeeper.offer(a_timer(), a_pushed_job(f"http://{name}/", quotas=("all", name)), desk)
    gatekeeper.dispatch()
    assert [ready.job.definition.quotas for ready in desk.accepted] == [("all", "b")] * 2
    assert permits.left["all"] == 0
    assert gatekeeper.held[HoldReason.CONCURRENCY] == 3


def test_a_limit_that_forgot_who_waits_is_told_again():
    permits, desk = Few(a=0), FakeDesk()
    gatekeeper = limited(permits)
    for _ in range(5):
        gatekeeper.offer(a_timer(), a_pushed_job(quotas=("a",)), desk)
    gatekeeper.dispatch()
    gatekeeper.recheck_gates()
    assert permits.told == {"a": 4}
    permits.left["a"] = 5
    gatekeeper.on_grant(Key(ANY, "a"))
    gatekeeper.dispatch()
    assert len(desk.accepted) == 5


@pytest.mark.parametrize(("late", "recorded"), [(LIMIT_PATIENCE_S - 1, 0), (LIMIT_PATIENCE_S + 1, 1)])
def test_a_fire_that_is_late_at_a_limit_is_recorded_and_an_instance_is_recorded_already(late, recorded):
    times = [NOW.timestamp()]
    desk, gatekeeper = FakeDesk(), limited(Few(a=0), lambda: times[-1])
    for cursor in (True, False):
        gatekeeper.offer(a_timer(cursor=cursor), a_pushed_job(quotas=("a",)), desk)
    gatekeeper.dispatch()
    times.append(NOW.timestamp() + late)
    assert len(gatekeeper.pop_unrecorded()) == recorded


def test_a_desk_that_is_full_keeps_nobody_else_waiting():
    full, free = FakeDesk(), FakeDesk()
    full.has_room = False
    gatekeeper = Admission(1000)
    for desk in (full, free, full):
        gatekeeper.offer(a_timer(), a_pushed_job(), desk)
    assert gatekeeper.dispatch() == 1
    full.has_room = True
    full.has_room = True
    assert gatekeeper.dispatch() == 2


def test_a_probe_is_one_that_has_not_failed_before():
    """Retries are the ones a flaky target refuses: probing with them alone kept its breaker open for ever."""
    times = [NOW.timestamp()]
    desk, gatekeeper, job = FakeDesk(), Admission(1000, now=lambda: times[-1]), a_pushed_job()
    for _ in range(FAILURES):
        gatekeeper.offer(a_timer(), job, desk)
    gatekeeper.dispatch()
    for ready in desk.accepted:
        gatekeeper.record_answer(ready, uuid4(), TargetHealth.FAILED)
    desk.accepted.clear()
    for lane in (Lane.RETRY, Lane.FIRST, Lane.RETRY):
        gatekeeper.offer(a_timer(lane=lane), job, desk)
    times.append(times[-1] + 40)
    gatekeeper.dispatch()
    [fresh] = desk.accepted
    assert fresh.timer.lane == Lane.FIRST
    gatekeeper.withdraw(fresh)
    gatekeeper.dispatch()
    assert [ready.timer.lane for ready in desk.accepted[1:]] == [Lane.RETRY], "where there is no other"


def test_critical_ones_leave_a_gate_first_and_know_how_long_it_held_them():
    times = [NOW.timestamp()]
    desk, gatekeeper = FakeDesk(), Admission(1000, now=lambda: times[-1])
    job = a_pushed_job(target=HttpTarget("http://x/", max_concurrency=1))
    for priority in (Priority.NORMAL, Priority.LOW, Priority.CRITICAL):
        gatekeeper.offer(a_timer(priority=priority), job, desk)
        gatekeeper.dispatch()
    times.append(times[-1] + 2)
    gatekeeper.record_answer(desk.accepted[0], ANY, TargetHealth.OK)
    gatekeeper.dispatch()
    assert [ready.timer.priority for ready in desk.accepted] == [Priority.NORMAL, Priority.CRITICAL]
    assert desk.accepted[1].held_ms == 2000


@pytest.mark.parametrize("lane", [Lane.RETRY, int(Lane.RETRY)])
def test_a_retry_that_was_read_from_a_row_has_a_budget_too(lane):
    """A row's lane is a plain number: compared by identity with the enum it was never a retry (N4)."""
    desk, gatekeeper, job = FakeDesk(), Admission(1000, now=NOW.timestamp), a_pushed_job()
    for _ in range(100):
        gatekeeper.offer(a_timer(lane=lane), job, desk)
    for done in range(100):
        gatekeeper.dispatch()
        if done < len(desk.accepted):
            gatekeeper.record_answer(desk.accepted[done], uuid4(), TargetHealth.OK)
    assert len(desk.accepted) == BURST_RETRIES
    assert gatekeeper.wait_s() == pytest.approx(1 / 2), "ten that succeeded let two a second pass"


def test_a_backlog_of_retries_is_sent_faster_and_faster_as_long_as_they_succeed():
    times = [NOW.timestamp()]
    desk, gatekeeper, job = FakeDesk(), Admission(1000, now=lambda: times[-1]), a_pushed_job()
    for _ in range(10_000):
        gatekeeper.offer(a_timer(lane=Lane.RETRY), job, desk)
    sent = []
    while gatekeeper.waiting:
        gatekeeper.dispatch()
        sent += [times[-1] - times[0]] * len(desk.accepted)
        while desk.accepted:
            gatekeeper.record_answer(desk.accepted.pop(), uuid4(), TargetHealth.OK)
        times.append(times[-1] + 0.1)
    assert sum(at < 1 for at in sent) <= BURST_RETRIES + 2
    assert sent[-1] < 120, "a fixed rate of one a second would take three hours"


def test_a_retry_that_fails_takes_back_what_one_that_succeeded_earned():
    target = Target(cap=1000)
    target.window = 1000
    for _ in range(18):
        target.record_retry_answer(TargetHealth.OK, 0.0)
    while target.admit(a_ready(a_timer(lane=Lane.RETRY)), 0.0) is None:
        pass
    assert target.retry_at(0.0) == pytest.approx(1 / 2.8)
    for _ in range(10):
        target.record_retry_answer(TargetHealth.FAILED, 0.0)
    assert target.retry_at(0.0) == pytest.approx(1 / 1.8)
    broken(target)
    lacking = 1 - target._budget
    assert target.retry_at(0.0) == pytest.approx(lacking), "when its breaker opens, it is as at the beginning"


def test_a_fire_that_is_late_at_a_broken_target_is_recorded_once_and_leaves_no_trace():
    times = [NOW.timestamp()]
    desk, gatekeeper = FakeDesk(), Admission(1000, now=lambda: times[-1])
    for n in range(300):
        gatekeeper.offer(
            a_timer(cursor=n % 2 == 0), a_pushed_job(target=HttpTarget("http://x/", max_concurrency=1)), desk
        )
    gatekeeper.dispatch()
    times.append(times[-1] + CAPPED_PATIENCE_S + 1)
    assert len(gatekeeper.pop_unrecorded()) == 149
    assert gatekeeper.pop_unrecorded() == []
    assert gatekeeper.waiting == 150
    for _ in range(150):
        gatekeeper.record_answer(desk.accepted[-1], uuid4(), TargetHealth.OK)
        gatekeeper.dispatch()
    assert (len(desk.accepted), gatekeeper.waiting) == (151, 0)


def test_slots_are_all_given_back():
    desk, gatekeeper = FakeDesk(), Admission(1000)
    for _ in range(8):
        gatekeeper.offer(a_timer(), a_pushed_job(), desk)
    gatekeeper.dispatch()
    for n, ready in enumerate(desk.accepted):
        if n % 2:
            gatekeeper.withdraw(ready)
        else:
            gatekeeper.record_answer(ready, ANY, TargetHealth.OK)
    assert gatekeeper.slots.free == 1000

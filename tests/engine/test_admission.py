"""Admission on paper: shares, slots, windows, breakers, budgets and limits, without a database or a clock."""

from collections import Counter
from uuid import UUID, uuid4

import pytest

from horae.domain.admission import HoldReason
from horae.domain.breaker import FAILURES, LONGEST, Breaker
from horae.domain.instances import Lane, Priority
from horae.domain.limits import Key, Limit
from horae.domain.outcomes import Said
from horae.domain.shares import RESERVED, WEIGHTS
from horae.engine.admission.fair import Fair
from horae.engine.admission.gatekeeper import SHORT_PATIENCE, Gatekeeper
from horae.engine.admission.slots import Slots
from horae.engine.admission.target import FIRST_WINDOW, RETRIES_AT_ONCE, Target
from tests.domain.builders import NOW
from tests.engine.builders import FakeDesk, a_pushed_job, a_ready, a_timer

ANY = UUID(int=1)
HIGH, NORMAL, LOW = ((priority, Lane.FIRST) for priority in Priority)


def everyone(_class):
    return True


def served(fair, number, may=everyone):
    return [ready.timer for _ in range(number) if (ready := fair.take(may)) is not None]


# Fair: who is next.


def test_classes_are_served_in_proportion_to_their_weights_both_ways():
    fair = Fair(lambda _tenant: 1)
    for priority in Priority:
        for _ in range(1000):
            fair.put(a_ready(a_timer(priority=priority)))
    counted = Counter((timer.priority, timer.lane) for timer in served(fair, 420))
    total = sum(WEIGHTS[class_] for class_ in counted)
    assert {class_: round(420 * WEIGHTS[class_] / total) for class_ in counted} == counted
    assert counted[LOW] > 0, "low is served less, but it is served"


def test_a_class_that_was_idle_saved_up_nothing():
    fair = Fair(lambda _tenant: 1)
    for _ in range(500):
        fair.put(a_ready(a_timer(priority=Priority.LOW)))
    served(fair, 400)
    for _ in range(100):
        fair.put(a_ready(a_timer(priority=Priority.CRITICAL)))
    first = served(fair, 20)
    assert sum(timer.priority is Priority.LOW for timer in first) >= 1, "nor does it lock the other out"


def test_tenants_share_a_class_by_their_weights_whoever_came_first_with_how_many():
    heavy, light = uuid4(), uuid4()
    fair = Fair(lambda tenant: 3 if tenant == heavy else 1)
    for _ in range(1000):
        fair.put(a_ready(a_timer(tenant=light)))
    for _ in range(100):
        fair.put(a_ready(a_timer(tenant=heavy)))
    assert Counter(timer.tenant_id for timer in served(fair, 80)) == {heavy: 60, light: 20}


def test_a_tenants_own_go_in_order_and_who_waited_at_a_gate_goes_first():
    fair = Fair(lambda _tenant: 1)
    first, second, waited = (a_ready() for _ in range(3))
    fair.put(first)
    fair.put(second)
    fair.put(waited, first=True)
    assert [fair.take(everyone) for _ in range(3)] == [waited, first, second]
    assert fair.take(everyone) is None


def test_a_class_that_may_not_have_a_slot_is_passed_over():
    fair = Fair(lambda _tenant: 1)
    fair.put(a_ready(a_timer(priority=Priority.CRITICAL)))
    fair.put(a_ready(a_timer(priority=Priority.LOW)))
    assert [timer.priority for timer in served(fair, 2, lambda class_: class_ == LOW)] == [Priority.LOW]


# Slots: what is reserved.


def test_no_class_takes_what_the_others_are_promised_and_each_gets_its_own():
    slots = Slots(1000)
    taken = 0
    while slots.may(LOW):
        slots.take(LOW)
        taken += 1
    assert taken == 1000 - sum(int(1000 * part) for class_, part in RESERVED.items() if class_ != LOW)
    for class_, part in RESERVED.items():
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
        target.answered(uuid4(), Said.WELL, now=0.0, chance=0.0)
    assert target.window == FIRST_WINDOW + 4


def test_a_targets_own_cap_is_never_exceeded():
    target = Target(cap=3)
    for _ in range(50):
        assert target.admit(a_ready(), 0.0) is None
        target.answered(uuid4(), Said.WELL, now=0.0, chance=0.0)
    held = [target.admit(a_ready(), 0.0) for _ in range(5)]
    assert held == [None, None, None, HoldReason.TARGET_CAP, HoldReason.TARGET_CAP]


def broken(target, now=0.0):
    for _ in range(FAILURES):
        assert target.admit(a_ready(), now) is None
        target.answered(uuid4(), Said.BADLY, now=now, chance=0.0)


def test_an_open_breaker_lets_one_probe_pass_and_after_it_slots_one_by_one():
    target = Target()
    broken(target)
    assert target.admit(a_ready(), 0.5) is HoldReason.BREAKER
    probe = a_ready()
    assert target.admit(probe, 1.0) is None
    assert probe.probe
    assert target.admit(a_ready(), 1.0) is HoldReason.BREAKER
    target.answered(uuid4(), Said.WELL, now=1.0, chance=0.0)
    assert [target.admit(a_ready(), 1.0) for _ in range(3)] == [None, None, HoldReason.TARGET_CAP]


def test_a_probe_is_one_that_has_not_failed_before():
    """Retries are the ones a flaky target refuses: probing with them alone kept its breaker open for ever."""
    target, fresh = Target(), a_ready()
    retry, last = (a_ready(a_timer(lane=Lane.RETRY)) for _ in range(2))
    broken(target)
    target.park(retry, 1.0)
    target.park(fresh, 1.0)
    assert target.admit(last, 40.0) is HoldReason.BREAKER
    assert target.release(40.0) == [fresh]
    assert target.admit(fresh, 40.0) is None
    target.withdraw(fresh)
    assert target.release(40.0) == [retry], "where there is no other"
    assert target.admit(retry, 40.0) is None


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
                target.answered(uuid4(), Said.WELL, now=0.0, chance=0.0)
    assert sent[Lane.FIRST] == 500
    assert 0.19 * 500 <= sent[Lane.RETRY] <= 0.2 * 500 + RETRIES_AT_ONCE


def test_too_early_says_nothing_against_a_target_and_earns_its_own_retry():
    target = Target()
    for _ in range(10 * FAILURES):
        assert target.admit(a_ready(), 0.0) is None
        target.answered(uuid4(), Said.EARLY, now=0.0, chance=0.0)
    assert target.breaker.closed
    assert target.window > 10 * FAILURES
    retried = 0
    while target.admit(a_ready(a_timer(lane=Lane.RETRY)), 0.0) is None:
        retried += 1
        target.answered(uuid4(), Said.WELL, now=0.0, chance=0.0)
    assert retried == 10 * FAILURES + RETRIES_AT_ONCE


def test_critical_ones_leave_a_gate_first():
    target = Target(cap=1)
    target.admit(a_ready(), 0.0)
    low, high = (a_ready(a_timer(priority=priority)) for priority in (Priority.LOW, Priority.CRITICAL))
    target.park(low, 0.0)
    target.park(high, 0.0)
    target.answered(uuid4(), Said.WELL, now=2.0, chance=0.0)
    assert target.release(2.0) == [high]
    assert high.held_ms == 2000


# The breaker itself.


def test_different_instances_open_a_breaker_and_one_that_fails_for_ever_does_not():
    breaker = Breaker()
    assert not any(breaker.failed(ANY, 0.0, 0.0) for _ in range(100))
    assert [breaker.failed(uuid4(), 0.0, 0.0) for _ in range(FAILURES - 1)][-1]
    assert not breaker.closed


def test_each_failed_probe_doubles_the_wait_up_to_half_a_minute_and_an_answer_forgets_it_all():
    breaker, waits, now = Breaker(), [], 0.0
    for _ in range(FAILURES):
        breaker.failed(uuid4(), now, 0.0)
    for _ in range(8):
        waits.append(breaker.until - now)
        now = breaker.until
        assert breaker.may_probe(now)
        breaker.probe()
        assert not breaker.may_probe(now), "one at a time"
        breaker.failed(uuid4(), now, 0.0, probe=True)
    assert waits == [1, 2, 4, 8, 16, LONGEST, LONGEST, LONGEST]
    breaker.succeeded()
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

    return Gatekeeper(1000, permits=permits, limits_of=limits_of, now=now)


def test_who_waits_at_a_limit_goes_when_a_call_before_it_has_ended():
    permits, desk = Few(a=2), FakeDesk()
    gatekeeper, job = limited(permits), a_pushed_job(quotas=("a",))
    for _ in range(5):
        gatekeeper.offer(a_timer(), job, desk)
    gatekeeper.dispatch()
    assert (len(desk.accepted), gatekeeper.waiting) == (2, 3)
    for done in range(3):
        gatekeeper.answered(desk.accepted[done], ANY, Said.WELL)
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
    gatekeeper.ask_again()
    assert permits.told == {"a": 4}
    permits.left["a"] = 5
    gatekeeper.granted(Key(ANY, "a"))
    gatekeeper.dispatch()
    assert len(desk.accepted) == 5


@pytest.mark.parametrize(("late", "recorded"), [(SHORT_PATIENCE - 1, 0), (SHORT_PATIENCE + 1, 1)])
def test_a_fire_that_is_late_at_a_limit_is_recorded_and_an_instance_is_recorded_already(late, recorded):
    times = [NOW.timestamp()]
    desk, gatekeeper = FakeDesk(), limited(Few(a=0), lambda: times[-1])
    for cursor in (True, False):
        gatekeeper.offer(a_timer(cursor=cursor), a_pushed_job(quotas=("a",)), desk)
    gatekeeper.dispatch()
    times.append(NOW.timestamp() + late)
    assert len(gatekeeper.unrecorded()) == recorded


def test_a_desk_that_is_full_keeps_nobody_else_waiting():
    full, free = FakeDesk(), FakeDesk()
    full.open = False
    gatekeeper = Gatekeeper(1000)
    for desk in (full, free, full):
        gatekeeper.offer(a_timer(), a_pushed_job(), desk)
    assert gatekeeper.dispatch() == 1
    full.open = True
    full.open = True
    assert gatekeeper.dispatch() == 2


def test_slots_are_all_given_back():
    desk, gatekeeper = FakeDesk(), Gatekeeper(1000)
    for _ in range(8):
        gatekeeper.offer(a_timer(), a_pushed_job(), desk)
    gatekeeper.dispatch()
    for n, ready in enumerate(desk.accepted):
        if n % 2:
            gatekeeper.withdraw(ready)
        else:
            gatekeeper.answered(ready, ANY, Said.WELL)
    assert gatekeeper.slots.free == 1000

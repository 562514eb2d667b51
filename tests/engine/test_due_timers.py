"""What has come due is offered in turns, and only as far as the tenant has not enough waiting already."""

from collections import Counter
from uuid import uuid4

from horae.domain.instances.instances import Lane, Priority
from horae.engine import due_timers as module
from horae.engine.admission import turns
from horae.engine.admission.turns import ENOUGH, FEW, TurnCounts
from horae.engine.due_timers import DueTimers, TimerQueues
from tests.counting import counting
from tests.engine.builders import FakeDesk, a_ready, a_timer, later

FIRST = (Priority.NORMAL, Lane.FIRST)


def never(_tenant, _class, _when_few):
    return False


def nobody():
    return None


def test_critical_ones_go_first_and_tenants_by_their_weights():
    heavy, light = uuid4(), uuid4()
    timers = TimerQueues(lambda tenant: 3 if tenant == heavy else 1, never, nobody)
    timers.add(a_timer(tenant=tenant) for _ in range(400) for tenant in (heavy, light))
    timers.add(a_timer(tenant=light, priority=Priority.CRITICAL) for _ in range(10))
    first = timers.take(10)
    assert {timer.priority for timer in first} == {Priority.CRITICAL}
    assert Counter(timer.tenant_id for timer in timers.take(320)) == {heavy: 240, light: 80}
    assert len(timers) == 800 - 320


def test_a_tenant_that_has_enough_waiting_is_left_out_until_few_are_left():
    full, woken = {}, []
    crowded, other = uuid4(), uuid4()

    def has_enough(tenant, _class, when_few):
        if tenant == crowded and crowded in full:
            woken.append(when_few)
            return True
        return False

    timers = TimerQueues(lambda _: 1, has_enough, lambda: woken.append("wake"))
    timers.add(a_timer(tenant=tenant) for _ in range(20) for tenant in (crowded, other))
    full[crowded] = True
    assert {timer.tenant_id for timer in timers.take(100)} == {other}
    assert timers.take(100) == []
    [when_few] = woken
    del full[crowded]
    when_few()
    assert woken[-1] == "wake"
    assert len(timers.take(100)) == 20
    when_few()
    assert timers.take(100) == [], "told again when nothing is left: nothing happens"


def test_what_waits_for_its_turn_is_counted_and_told_when_it_has_become_few():
    counts, told, desk = TurnCounts(), [], FakeDesk()
    ready = a_ready()
    ready.dispatcher = desk
    flow = ready.target.flow(ready)
    on_time, overdue = flow.turns
    counts.add(on_time, ENOUGH - 1)
    assert not counts.are_enough(on_time, lambda: told.append(1))
    counts.add(on_time, 1)
    assert counts.are_enough(on_time, lambda: told.append(1))
    assert not counts.are_enough(overdue, lambda: told.append(2)), "they are counted apart"
    counts.add(on_time, FEW - ENOUGH + 1)
    assert not told
    counts.add(on_time, -1)
    counts.add(on_time, -1)
    assert told == [1]


def test_timers_that_were_overdue_when_they_became_known_go_last_and_are_counted_apart():
    now = later(10)
    full = set()
    timers = DueTimers(lambda _: 1, lambda _tenant, _class, _when_few, *, are_overdue: are_overdue in full, nobody)
    old = [a_timer(later(n)) for n in range(3)]
    timers.add([*old, a_timer(later(9))], now)
    cursor = a_timer(later(1), cursor=True)
    timers.add([cursor], now)
    timers.add([a_timer(later(8))], now)
    on_time = timers.take(3)
    assert ([timer.at for timer in on_time.timers], on_time.are_overdue) == ([later(9), later(1), later(8)], False)
    timers.add([a_timer(later(10))], now)
    full.add(False)
    assert timers.take(2) == (old[:2], True), "enough of those on time wait for their turn"
    full.add(True)
    assert (timers.take(2).timers, len(timers)) == ([], 2)


def test_a_turn_costs_the_same_however_many_timers_and_tenants_wait():
    lines = []
    for tenants in (1_000, 20_000):
        timers = TimerQueues(lambda _: 1, never, nobody)
        ids = [uuid4() for _ in range(tenants)]
        timers.add(a_timer(tenant=tenant, id=tenant) for tenant in ids for _ in range(10))
        with counting(module, turns) as steps:
            taken = sum(len(timers.take(200)) for _ in range(20))
        lines.append(steps.lines / taken)
    assert lines[1] <= 1.1 * lines[0] <= 10, lines

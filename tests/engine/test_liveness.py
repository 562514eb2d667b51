"""Nobody waits for ever: whatever happened before, what a gate holds back passes once nothing is in its way."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from structlog.testing import capture_logs

from horae.domain.instances.instances import Lane
from horae.domain.instances.outcomes import TargetHealth
from horae.domain.limits.limits import Key, Limit
from horae.domain.targets.breaker import FAILURES, Breaker
from horae.engine.admission.admission import Admission
from horae.engine.admission.closed_gates import MAX_CALL_S
from horae.engine.admission.target import BURST_RETRIES
from tests.domain.builders import NOW
from tests.engine.builders import FakeDesk, a_pushed_job, a_timer
from tests.engine.crowd import QUOTAS, SLOTS, Crowd

LOTS = 100


def a_crowd(seed: int) -> Crowd:
    crowd = Crowd(seed)
    crowd.happen(crowd.chance.randrange(5, 200))
    crowd.walls.most = dict.fromkeys(QUOTAS, 20)
    for desk in crowd.desks:
        desk.has_room = True
    return crowd


def everyone_passes(seed: int) -> None:
    crowd = a_crowd(seed)
    crowd.heal(60 + 6 * crowd.retries)  # a retry that nothing was earned for waits five seconds
    assert (crowd.gates.waiting, crowd.gates.wait_s(), crowd.gates.slots.free) == (0, None, SLOTS), seed
    assert crowd.walls.used == dict.fromkeys(QUOTAS, 0), seed
    for target in crowd.gates.targets:
        assert (target.in_flight, target.parked, target.breaker.closed) == (0, 0, True), seed


def others_pass(seed: int) -> None:
    """One limit lets nobody pass, and one desk stays full: who needs neither is not kept by those who do."""
    crowd = a_crowd(seed)
    crowd.walls.most["b"], crowd.desks[1].has_room = 0, False
    crowd.heal(60 + 6 * crowd.retries)
    for target in crowd.gates.targets:
        kept = [flow for flow in target.flows.values() if flow and flow.dispatcher.has_room]
        assert (target.in_flight, kept) == (0, []), seed


@pytest.mark.parametrize("lives", [everyone_passes, others_pass])
def test_from_any_state_everyone_passes_who_may(lives):
    for seed in range(LOTS):
        lives(seed)


@pytest.mark.long
@pytest.mark.parametrize("lives", [everyone_passes, others_pass])
def test_from_thousands_of_states_everyone_passes_who_may(lives):
    for seed in range(LOTS, 50 * LOTS):
        lives(seed)


class Gates(Admission):
    """On a clock that is only told; the quota `shut` allows nothing."""

    def __init__(self) -> None:
        self.time = NOW.timestamp()
        limit = (Key(UUID(int=1), "shut"), Limit(concurrency=1))
        super().__init__(
            1000, permits=Shut(), limits_of=lambda job: [limit] * len(job.definition.quotas), now=lambda: self.time
        )
        self.target_of = lambda job: self._targets.get(job, self.time)


class Shut:
    def take(self, _key, _limit):
        return False

    def give(self, _key):
        raise AssertionError("nothing was taken")

    undo = give

    def room(self, _key):
        return 0

    def wait(self, _key, _many):
        pass


def opened(gates: Gates, desk: FakeDesk) -> None:
    """The target fails until its breaker is open; nobody waits for it, and nothing is on its way."""
    for _ in range(FAILURES):
        gates.offer(a_timer(), a_pushed_job(), desk)
    gates.dispatch()
    for ready in desk.accepted:
        gates.record_answer(ready, uuid4(), TargetHealth.FAILED)
    desk.accepted.clear()


def test_a_probe_that_a_limit_holds_back_is_left_to_the_next():
    gates, desk = Gates(), FakeDesk()
    opened(gates, desk)
    for quotas in (("shut",), ()):
        gates.offer(a_timer(), a_pushed_job(quotas=quotas), desk)
    gates.dispatch()
    gates.time += 5
    gates.dispatch()
    assert [ready.job.definition.quotas for ready in desk.accepted] == [()]


def test_a_probe_whose_desk_is_full_is_left_to_the_next():
    gates, full, free = Gates(), FakeDesk(), FakeDesk()
    opened(gates, free)
    for desk in (full, free):
        gates.offer(a_timer(), a_pushed_job(), desk)
    gates.dispatch()
    gates.time += 5
    full.has_room = False
    gates.dispatch()
    assert len(free.accepted) == 1


def test_who_waits_at_a_limit_keeps_no_place_at_its_target():
    """It was recorded at the limit and came again behind the others: nobody was left to wake any of them."""
    gates, desk = Gates(), FakeDesk()
    for _ in range(8):
        gates.offer(a_timer(), a_pushed_job(), desk)
    for quotas in (("shut",), ()):
        for _ in range(9):
            gates.offer(a_timer(), a_pushed_job(quotas=quotas), desk)
    gates.dispatch()
    first = list(desk.accepted)
    desk.accepted.clear()
    for ready in first:
        gates.withdraw(ready)
    gates.dispatch()
    assert (len(desk.accepted), gates.limited) == (8, 9)


def test_a_retry_that_leaves_the_probe_to_a_fresh_one_wakes_that_one():
    """The retry was let ask when only retries waited; its desk was full, and meanwhile a fresh one had come."""
    gates, desk, other = Gates(), FakeDesk(), FakeDesk()
    opened(gates, desk)
    for _ in range(2):
        gates.offer(a_timer(lane=Lane.RETRY), a_pushed_job(), desk)
    gates.dispatch()
    gates.time += 5
    desk.has_room = False
    gates.dispatch()
    gates.offer(a_timer(), a_pushed_job(), other)
    desk.has_room = True
    gates.dispatch()
    assert len(desk.accepted) + len(other.accepted) == 1


def test_a_retry_that_nothing_is_earned_for_stands_in_nobodys_way():
    gates, desk = Gates(), FakeDesk()
    target = gates.target_of(a_pushed_job())
    target.window = target.cap = 1
    for _ in range(round(BURST_RETRIES)):
        gates.offer(a_timer(lane=Lane.RETRY), a_pushed_job(), desk)
        gates.dispatch()
        gates.record_answer(desk.accepted.pop(), uuid4(), TargetHealth.OK)
    for lane in (Lane.FIRST, Lane.RETRY, Lane.FIRST):
        gates.offer(a_timer(lane=lane), a_pushed_job(), desk)
        gates.dispatch()
    gates.record_answer(desk.accepted.pop(), uuid4(), TargetHealth.OK)
    gates.dispatch()
    assert [ready.timer.lane for ready in desk.accepted] == [Lane.FIRST], "at once: no time has passed"


def test_what_was_sent_before_a_breaker_opened_is_not_its_probe():
    breaker = Breaker()
    for _ in range(FAILURES):
        breaker.record_failure(uuid4(), 0.0, 0.0)
    until = breaker.until
    breaker.probe()
    breaker.record_failure(uuid4(), 3.0, 0.0)
    assert breaker.until == until
    assert not breaker.may_probe(3.0), "the probe is still on its way"
    breaker.record_failure(uuid4(), 3.0, 0.0, probe=True)
    assert breaker.until == 5.0


def test_calls_that_never_end_do_not_hold_their_target_for_ever():
    gates, desk = Gates(), FakeDesk()
    opened(gates, desk)
    for _ in range(3):
        gates.offer(a_timer(), a_pushed_job(), desk)
    gates.dispatch()
    gates.time += 5
    gates.dispatch()
    [silent] = desk.accepted
    gates.time += MAX_CALL_S
    gates.recheck_gates()
    gates.dispatch()
    assert len(desk.accepted) == 1
    gates.time += 1
    with capture_logs() as told:
        gates.recheck_gates()
    gates.dispatch()
    assert len(desk.accepted) == 2
    assert [line["event"] for line in told] == ["target.no_answer"]
    gates.record_answer(silent, uuid4(), TargetHealth.OK)
    assert silent.target.in_flight == 0


def test_who_is_let_go_of_is_counted_nowhere():
    gates, desk = Gates(), FakeDesk()
    for _ in range(20):
        gates.offer(a_timer(), a_pushed_job(), desk)
    gates.dispatch()
    gates.clear()
    assert (gates.waiting, [target.parked for target in gates.targets]) == (0, [0])


def test_who_is_called_at_night_reads_that_a_breaker_opened_probed_and_closed():
    gates, desk = Gates(), FakeDesk()
    with capture_logs() as told:
        opened(gates, desk)
        for said in (TargetHealth.FAILED, TargetHealth.OK):
            gates.time += timedelta(minutes=1).total_seconds()
            gates.offer(a_timer(), a_pushed_job(), desk)
            gates.dispatch()
            gates.record_answer(desk.accepted.pop(), uuid4(), said)
    assert [line["event"] for line in told] == ["breaker.opened", "breaker.probe_failed", "breaker.closed"]
    assert [line["open_s"] for line in told] == [0.0, 60.0, 120.0]


def test_a_probe_that_was_let_ask_when_its_time_was_not_yet_over_again_is_planned_anew():
    """A clock that is set back between two turns: the look that was planned for the old time is over."""
    gates, desk, full = Gates(), FakeDesk(), FakeDesk()
    opened(gates, desk)
    for _ in range(2):
        gates.offer(a_timer(), a_pushed_job(), full)
    gates.dispatch()
    gates.time += 5
    full.has_room = False
    gates.dispatch()
    gates.time -= 5
    full.has_room = True
    gates.dispatch()
    assert gates.wait_s() is not None

"""Lets matured timers pass, one decision after the other."""

import heapq
from collections import deque
from collections.abc import Callable, Collection, Container, Sequence
from itertools import count
from typing import Final
from uuid import UUID

from horae.domain.admission import HoldReason
from horae.domain.instances import Lane
from horae.domain.jobs import Job
from horae.domain.limits import Key, Limit
from horae.domain.outcomes import Said
from horae.domain.shares import Class
from horae.domain.targets import PUSHED
from horae.domain.timers import Timer
from horae.engine.admission.fair import Fair
from horae.engine.admission.flow import Flow
from horae.engine.admission.holds import DeskHold, HoldBook
from horae.engine.admission.limited import Limited, LimitQueue, Permits
from horae.engine.admission.ready import Desk, Ready
from horae.engine.admission.slots import Slots, TenantSlots
from horae.engine.admission.target import Target
from horae.engine.admission.turns import TurnCounts
from horae.engine.admission.waiting import LateFires
from horae.runtime import chance
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log

CAPPED_PATIENCE_S: Final = 15.0
"""Seconds a fire may wait for a place at a target that answers before it is recorded."""
BROKEN_PATIENCE_S: Final = 2.0
"""The same at a target that does not."""
MAX_CALL_S: Final = 180.0
"""Seconds after which a call that was let pass has ended, whatever came of it: no slot lasts longer."""
RECORDED_AT_ONCE: Final = 500
TARGETS_VISITED_AT_ONCE: Final = 256
DESKS_ASKED_AT_ONCE: Final = 16
MAX_IDLE_TARGETS: Final = 50_000


class Gatekeeper:
    """One per node, over all its cells: slots, targets and limits are shared by them."""

    def __init__(
        self,
        slots: int,
        *,
        weight_of: Callable[[UUID], int] = lambda _tenant: 1,
        limits_of: Callable[[Job], Sequence[tuple[Key, Limit]]] = lambda _job: (),
        permits: Permits | None = None,
        now: Callable[[], float] = boottime,
        wall: Callable[[], float] | None = None,
    ) -> None:
        """`now` ticks steadily: breakers, budgets and holds go by it. `wall` is the time that fires are due by."""
        self.slots = Slots(slots)
        self._tenants = TenantSlots(slots)
        self.fair = Fair(weight_of)
        self.limits_of = limits_of
        self.now = now
        self.wall = wall or now
        self.held: dict[HoldReason, int] = dict.fromkeys(HoldReason, 0)
        self._late = LateFires()
        self._holds = HoldBook()
        self.limits = None if permits is None else Limited(permits, self._again, now, self._late)
        self._in_flows = 0
        self._turns = TurnCounts()
        self.has_enough = self._turns.are_enough
        self._targets: dict[tuple[UUID, str], Target] = {}
        self._most_targets = MAX_IDLE_TARGETS
        self._visited: deque[Target] = deque()
        self._closed_desks: deque[Desk] = deque()
        self._later: list[tuple[float, int, Target]] = []
        self._order = count()

    @property
    def waiting(self) -> int:
        """How many have come due and wait, in a queue or at a gate."""
        return self._in_flows + self.limited

    @property
    def targets(self) -> Collection[Target]:
        """Every target it knows."""
        return self._targets.values()

    @property
    def limited(self) -> int:
        """How many wait for a limit that nodes share."""
        return 0 if self.limits is None else len(self.limits)

    def offer(self, timer: Timer, job: Job, desk: Desk) -> None:
        """A timer has come due. It waits behind others of its class for the same target."""
        self._enter(Ready(timer, job, desk, self._target_of(job)))

    def dispatch(self) -> int:
        """Let pass whoever may, and hand them to their desks; returns how many."""
        now = self.now()
        self._ask_desks()
        self._wake(now)
        passed, may, fair = 0, self.slots.may, self.fair
        while (flow := fair.next(may)) is not None:
            if not flow.desk.open:
                fair.close(flow.desk)
                self._closed_desks.append(flow.desk)
                self._reopen(flow.target, now)  # the room it has is another's, at a desk that is open
                continue
            if not self._tenants.may(flow.tenant):
                fair.park(flow)
                continue
            if (reason := self._refusal(flow, now)) is not None:
                self._close(flow, reason, now)
                continue
            ready = fair.serve(flow, now)
            self._in_flows -= 1
            self._turns.add(flow, -1)
            if (limits := self.limits_of(ready.job)) and not self._within(ready, limits, now):
                continue
            self.slots.take(flow.class_)
            self._tenants.take(ready.timer.tenant_id)
            ready.holds_slot = True
            passed += 1
            ready.desk.accept(ready)
        return passed

    def answered(self, ready: Ready, instance: UUID, said: Said, *, goes_on: bool = False) -> None:
        """A call ended: its slot is free, and its target is known a little better.

        `goes_on`: what it began did not end. The limits of how much runs at once count it until `release`.
        """
        target, now = ready.target, self.now()
        self._let_go(ready, [key for key, _ in self._limits_to_the_end(ready.job)] if goes_on else ())
        before = target.breaker.until
        if ready.timer.lane == Lane.RETRY:
            target.answered_retry(said, now)
        ready.counted = False
        target.answered(instance, said, now=now, chance=chance.fraction(), probe=ready.probe)
        if target.breaker.until != before:
            target.tell_breaker(ready.job.name, before, now)
            self._watch_broken(target, now)
        self._reopen(target, now)

    def withdraw(self, ready: Ready) -> None:
        """No call was made: someone else has it, or its time has moved. What was given back already stays so."""
        self._let_go(ready)
        ready.target.withdraw(ready)
        self._reopen(ready.target, self.now())

    def count_accepted(self, job: Job) -> tuple[Key, ...]:
        """Count what a target has accepted for a job; returns the limits that do until they are released."""
        limits = self._limits_to_the_end(job)
        if self.limits is not None:
            self.limits.count_accepted(limits)
        return tuple(key for key, _ in limits)

    def granted(self, key: Key) -> None:
        """A limit allows some more: as many of those who waited for it ask again."""
        assert self.limits is not None
        self.limits.granted(key)

    def ask_again(self) -> None:
        """Now and then: whoever waits at a gate may have been forgotten there, or it was lifted."""
        if self.limits is not None:
            self.limits.ask_again()
        now = self.now()
        for _ in range(min(len(self._visited), TARGETS_VISITED_AT_ONCE)):
            target = self._visited.popleft()
            target.visited = bool(target.closed)
            if not target.visited:
                continue
            self._visited.append(target)
            if target.in_flight and now - target.admitted_at > MAX_CALL_S:
                log.error("target.unheard", calls=target.in_flight, waiting=target.parked)
                target.forget_calls()
            self._reopen(target, now, everyone=True)

    def clear(self) -> None:
        """Let go of everyone who waits: their rows are where they were."""
        for target in self._targets.values():
            target.forget_waiting()
        self._holds.clear()
        self.fair = Fair(self.fair.weight_of)
        self._late.clear()
        if self.limits is not None:
            self.limits.clear()
        self._in_flows = 0
        self._turns.clear()
        self._visited.clear()
        self._closed_desks.clear()
        self._later.clear()

    def wait_s(self) -> float | None:
        """Seconds until something held back may be tried again; None when nothing waits for a time."""
        return max(0.0, self._later[0][0] - self.now()) if self._later else None

    def unrecorded(self) -> list[Ready]:
        """Fires that a gate has held for more than a moment: they are to be recorded now, and come again."""
        found: list[Ready] = []
        for queue, ready in self._late.pop(self.now(), RECORDED_AT_ONCE, self.wall()):
            found.append(ready)
            if isinstance(queue, Flow):
                self._in_flows -= 1
            elif self.limits is not None:
                self.limits.left()
        return found

    def held_by(self, job: Job) -> HoldReason | None:
        """Why calls of a job are held back at its target now; None where they are not."""
        target = self._known_target(job)
        return None if target is None else next(map(target.reason_for, target.closed), None)

    def drop(self, job: Job, gone: Container[UUID]) -> list[Ready]:
        """Let go of calls that are held back first at a job's target and whose instances are gone."""
        target, now = self._known_target(job), self.now()
        dropped = [] if target is None else [one for flow in target.closed for one in flow.drop_first(gone, now)]
        self._in_flows -= len(dropped)
        return dropped

    def holds(self) -> list[DeskHold]:
        """What gates have held back for more than a moment; neither the holds nor the steps grow with the gates."""
        return self._holds.collect(self.now(), self.wall())

    def _known_target(self, job: Job) -> Target | None:
        made = job.definition.target
        return self._targets.get((job.tenant_id, made.url)) if isinstance(made, PUSHED) else None

    def _target_of(self, job: Job) -> Target:
        made = job.definition.target
        assert isinstance(made, PUSHED)
        key = (job.tenant_id, made.url)
        target = self._targets.get(key)
        if target is None:
            if len(self._targets) >= self._most_targets:
                self._forget_idle()
            target = self._targets[key] = Target(now=self.now())
            self._tenants.see(job.tenant_id)
        if made.max_concurrency is not None and made.max_concurrency > target.cap:
            target.cap = made.max_concurrency
        return target

    def _forget_idle(self) -> None:
        """Twice as many as are in use may come before it is done again: its cost is shared by that many."""
        self._targets = {key: target for key, target in self._targets.items() if not target.idle}
        self._most_targets = max(MAX_IDLE_TARGETS, 2 * len(self._targets))

    def _enter(self, ready: Ready, *, first: bool = False) -> None:
        """It waits for its turn, or for the gate that is closed before it."""
        flow = ready.target.flow(ready)
        flow.add(ready, self.now(), first=first)
        self._in_flows += 1
        if flow.reason is not None:
            if first or flow.watched_at is None or len(flow) == 1:  # behind others it cannot be the first to be late
                self._late.watch(flow)
            return
        self._turns.add(flow, 1)
        if not flow.listed:
            self.fair.add(flow)

    def _again(self, ready: Ready) -> None:
        """A limit lets it ask again: it goes before the others of its flow."""
        self._enter(ready, first=True)

    def _ask_desks(self) -> None:
        """Some desks that were full may have room again."""
        for _ in range(min(len(self._closed_desks), DESKS_ASKED_AT_ONCE)):
            desk = self._closed_desks.popleft()
            if desk.open:
                self.fair.reopen(desk)
            else:
                self._closed_desks.append(desk)

    def _refusal(self, flow: Flow, now: float) -> HoldReason | None:
        """Count the first call of a flow in at its target, or say why not.

        A retry is no probe where one that has not failed before could be: retries are those a target refuses even when
        it is well.
        """
        target = flow.target
        if flow.is_retry and not target.breaker.closed and any(map(self._may_probe, target.flows.values())):
            return HoldReason.BREAKER
        return target.admit(flow.first(), now)

    def _may_probe(self, flow: Flow) -> bool:
        return bool(flow) and not flow.is_retry and self.fair.is_open(flow.desk)

    def _close(self, flow: Flow, reason: HoldReason, now: float) -> None:
        """Take a flow from its turn until its target has room."""
        self.held[reason] += 1
        target = flow.target
        self.fair.remove(flow)
        self._turns.add(flow, -len(flow))
        flow.close(reason, _patience_s(target), now)
        target.closed[flow] = None
        if not target.visited:
            target.visited = True
            self._visited.append(target)
        self._holds.watch(flow.tenant, target)
        self._late.watch(flow)
        if reason == HoldReason.RETRY_BUDGET:
            self._plan(target, target.retry_at(now))
        elif reason == HoldReason.BREAKER:
            self._reopen(target, now)  # where a retry leaves the probe to another, or a breaker's time is not over

    def _reopen(self, target: Target, now: float, *, everyone: bool = False) -> None:
        """Let flows take turns again as far as their target has room, the most urgent first.

        1. A flow that cannot go now (its class has no slot, its desk is full) takes its turn too, but no room from
           the others.
        2. A retry needs to be earned, and while the breaker is open it leaves the probe to others.
        3. Where there is no room, the next answer comes by here, or the time of the breaker.
        """
        if not target.closed:
            return
        room = target.room(now)
        if room <= 0:
            until = target.breaker.until
            if until is not None and until > now:
                self._plan(target, until)
            return
        for flow in sorted(target.closed, key=_urgency):
            if room <= 0 and not everyone:
                return
            if not flow:
                del target.closed[flow]
                flow.reopen(now)
                continue
            if flow.is_retry and not self._may_retry(flow, now):
                continue
            del target.closed[flow]
            flow.reopen(now)
            self._turns.add(flow, len(flow))
            self.fair.add(flow)
            if self.fair.is_open(flow.desk) and self.slots.may(flow.class_):
                room -= len(flow)

    def _may_retry(self, flow: Flow, now: float) -> bool:
        target = flow.target
        if not target.breaker.closed:
            return not any(map(self._may_probe, target.flows.values()))
        at = target.retry_at(now)
        if at > now:
            self._plan(target, at)
        return at <= now

    def _watch_broken(self, target: Target, now: float) -> None:
        """A breaker has opened or closed: fires that wait for it are recorded sooner, or later."""
        for flow in target.closed:
            flow.hold(_patience_s(target), now)
            self._late.watch(flow)

    def _within(self, ready: Ready, limits: Sequence[tuple[Key, Limit]], now: float) -> bool:
        """Count it against its limits. Where it has to wait for one, its place at its target is another's."""
        assert self.limits is not None
        reason = self.limits.count(ready, limits)
        if reason is None:
            return True
        self.held[reason] += 1
        assert isinstance(ready.queue, LimitQueue)
        self._holds.watch(ready.job.tenant_id, ready.queue)
        ready.target.withdraw(ready)
        self._reopen(ready.target, now)
        return False

    def _let_go(self, ready: Ready, kept: Sequence[Key] = ()) -> None:
        if ready.holds_slot:
            ready.holds_slot = False
            self.slots.give((ready.timer.priority, ready.timer.lane))
            if self._tenants.give(ready.timer.tenant_id):
                self.fair.resume(ready.timer.tenant_id)
        if ready.quotas and self.limits is not None:
            self.limits.let_go(ready, kept)

    def _limits_to_the_end(self, job: Job) -> list[tuple[Key, Limit]]:
        """The limits that count an instance, not a request: its target's own `max_concurrency` is of requests."""
        return [
            (key, limit)
            for key, limit in self.limits_of(job)
            if limit.concurrency is not None and not key.counts_requests
        ]

    def _plan(self, target: Target, at: float) -> None:
        """Look at a target's flows again at a time, if no earlier look is planned."""
        if target.wakes_at is None or at < target.wakes_at:
            target.wakes_at = at
            heapq.heappush(self._later, (at, next(self._order), target))

    def _wake(self, now: float) -> None:
        """Look at the targets whose time has come."""
        while self._later and self._later[0][0] <= now:
            at, _, target = heapq.heappop(self._later)
            if target.wakes_at == at:
                target.wakes_at = None
                self._reopen(target, now)


def _patience_s(target: Target) -> float:
    return CAPPED_PATIENCE_S if target.breaker.closed else BROKEN_PATIENCE_S


def _urgency(flow: Flow) -> Class:
    return flow.class_

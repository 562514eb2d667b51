"""The admission of a node: offers come in, admitted calls go to their dispatchers."""

from collections.abc import Callable, Collection, Container, Sequence
from functools import partial
from typing import Final
from uuid import UUID

from horae.domain.instances.instances import Lane
from horae.domain.instances.outcomes import TargetHealth
from horae.domain.jobs.jobs import Job
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.limits.limits import Key, Limit
from horae.domain.limits.shares import DEFAULT_LANE_SHARE, OVERDUE_AFTER, Class, LaneShare
from horae.domain.measures.in_force import MeasuresInForce
from horae.domain.measures.measures import MeasureAction
from horae.domain.schedules.timers import Timer
from horae.engine.admission.closed_gates import ClosedGates
from horae.engine.admission.fair import Fair
from horae.engine.admission.holds import DispatcherHold, HoldBook
from horae.engine.admission.known_targets import KnownTargets
from horae.engine.admission.limited import LimitGate, LimitQueue, Permits
from horae.engine.admission.measure_control import MeasureControl
from horae.engine.admission.slots import LongSlots, Slots, TenantSlots
from horae.engine.admission.target import CallDispatcher, DueCall, Flow, Target
from horae.engine.admission.turns import TurnCounts
from horae.engine.admission.waiting import LateFires
from horae.runtime import randomness
from horae.runtime.clock import boottime

CAPPED_PATIENCE_S: Final = 15.0
"""Seconds that a fire may wait at the full window of a healthy target before it is recorded without a slot."""
BROKEN_PATIENCE_S: Final = 2.0
"""The same at a target whose breaker is open."""
RECORDED_AT_ONCE: Final = 500
LONG_SLOTS: Final = 1000


class Admission:
    """One per node, for all its cells: they share slots, targets and limits."""

    def __init__(
        self,
        slots: int,
        *,
        long_slots: int = LONG_SLOTS,
        weight_of: Callable[[UUID], int] = lambda _tenant: 1,
        limits_of: Callable[[Job], Sequence[tuple[Key, Limit]]] = lambda _job: (),
        permits: Permits | None = None,
        now: Callable[[], float] = boottime,
        wall: Callable[[], float] | None = None,
        share: LaneShare = DEFAULT_LANE_SHARE,
    ) -> None:
        """`now` is a steady tick for breakers, budgets and holds. `wall` is the time by which fires are due."""
        self.slots = Slots(slots, share)
        self._tenants = TenantSlots(slots)
        self.long_slots: LongSlots[Target] = LongSlots(long_slots)
        self.fair = Fair(weight_of)
        self.limits_of = limits_of
        self.now = now
        self.wall = wall or now
        self.held: dict[HoldReason, int] = dict.fromkeys(HoldReason, 0)
        self._late: LateFires[DueCall] = LateFires()
        self._holds = HoldBook()
        self.limits = None if permits is None else LimitGate(permits, self._requeue_first, now, self._late)
        self._measures = MeasureControl()
        self._in_flows = 0
        self._turns = TurnCounts()
        self.has_enough = self._turns.are_enough
        self._targets = KnownTargets(self._tenants.see, self.long_slots)
        self._closed = ClosedGates(self._reopen, partial(self._reopen, everyone=True))

    @property
    def waiting(self) -> int:
        """How many due calls wait, for their turn or at a gate."""
        return self._in_flows + self.limited

    @property
    def targets(self) -> Collection[Target]:
        """Every known target."""
        return self._targets.all

    @property
    def limited(self) -> int:
        """How many calls wait for a shared limit."""
        return 0 if self.limits is None else len(self.limits)

    def offer(self, timer: Timer, job: Job, dispatcher: CallDispatcher, *, is_overdue: bool = False) -> None:
        """Add a due timer. It waits behind the other calls of its class for the same target."""
        self._add_to_flow(DueCall(timer, job, dispatcher, self._targets.get(job, self.now()), is_overdue=is_overdue))

    def dispatch(self) -> int:
        """Admit calls as far as slots and gates allow, and pass them to their dispatchers; returns how many.

        1. Ask some full dispatchers whether they have room again. Look at targets whose wait is over.
        2. Take the flow whose turn it is, of the classes that may use a slot. If there is none, stop.
        3. If its dispatcher is full: close the dispatcher, and let other flows of the target use the target's room.
        4. If its tenant is at its bound: park the tenant until enough of its calls have ended. The same if a measure
           withholds this class from the tenant, until the measure ends.
        5. If its target refuses: close the flow until the target has room.
        6. Otherwise take its first call. If a shared limit refuses it, the call moves to the queue of that limit.
        7. Otherwise the call takes a slot and goes to its dispatcher.

        Steps 2 to 7 repeat.
        """
        now = self.now()
        self._closed.ask_dispatchers(self.fair)
        self._closed.wake(now)
        passed, may, fair, measures = 0, self._measures.may_take(self.slots.may), self.fair, self._measures.gate
        while (flow := fair.next(may)) is not None:
            if not flow.dispatcher.has_room:
                fair.close(flow.dispatcher)
                self._closed.dispatchers.append(flow.dispatcher)
                self._reopen(flow.target, now)  # flows at open dispatchers may use the target's room
                continue
            if not self._tenants.may(flow.tenant):
                fair.park(flow)
                continue
            if measures is not None and measures.withholds(flow.tenant, flow.class_):
                measures.parked.add(flow.tenant)
                fair.park(flow)
                continue
            if (reason := self._refusal(flow, now)) is not None:
                self._close(flow, reason, now)
                continue
            ready = fair.serve(flow, now)
            self._in_flows -= 1
            self._turns.add(flow.turns[ready.is_overdue], -1)
            if (limits := self.limits_of(ready.job)) and not self._count_limits(ready, limits, now):
                continue
            if flow.target.long is None:
                self.slots.take(flow.class_)
                self._tenants.take(flow.tenant)
            else:
                flow.target.long.take(flow.tenant)
            if measures is not None:
                measures.count(flow.tenant, flow.class_)
            ready.holds_slot = True
            passed += 1
            ready.dispatcher.accept(ready)
        return passed

    def record_answer(
        self, ready: DueCall, instance: UUID, health: TargetHealth, *, keeps_running: bool = False
    ) -> None:
        """Record the answer to a call: free its slot, and update what is known about its target.

        `keeps_running`: the target accepted the work and has not ended it. Concurrency limits count it until `release`.
        """
        target, now = ready.target, self.now()
        self._release(ready, [key for key, _ in self._instance_limits(ready.job)] if keeps_running else ())
        before, opened_at = target.breaker.until, target.breaker.opened_at
        if ready.timer.lane == Lane.RETRY:
            target.record_retry_answer(health, now)
        ready.counted = False
        target.record_answer(instance, health, now=now, randomness=randomness.fraction(), probe=ready.probe)
        if target.breaker.until != before:
            target.log_breaker(ready.job, opened_at, now)
            self._update_patience(target, now)
        self._reopen(target, now)

    def withdraw(self, ready: DueCall) -> None:
        """Free everything that a call holds: it was not sent, or its result says nothing about the target.

        What was freed before is not freed twice.
        """
        self._release(ready)
        ready.target.withdraw(ready)
        self._reopen(ready.target, self.now())

    def count_accepted(self, job: Job) -> tuple[Key, ...]:
        """Count accepted work of a job against its concurrency limits; returns their keys, for `release`."""
        limits = self._instance_limits(job)
        if self.limits is not None:
            self.limits.count_accepted(limits)
        return tuple(key for key, _ in limits)

    def on_grant(self, key: Key) -> None:
        """A limit allows more calls: let as many waiting calls try again."""
        assert self.limits is not None
        self.limits.on_grant(key)

    @property
    def measures(self) -> MeasuresInForce:
        """The protective measures that are in force here."""
        return self._measures.in_force

    def set_measures(self, measures: MeasuresInForce) -> None:
        """Withhold what these measures say from now on, and let everything else take turns again."""
        self.fair.critical_first = MeasureAction.CRITICAL_FIRST in measures.platform
        self._measures.set(measures, self.fair, self.now())

    def recheck_gates(self) -> None:
        """Periodic check of closed gates: a wake-up may have been lost, or a limit was removed.

        It visits some queues of limits and some targets, in turn. Limited tenants take turns again.
        """
        self._measures.recheck(self.fair, self.now())
        if self.limits is not None:
            self.limits.recheck_queues()
        self._closed.visit(self.now())

    def clear(self) -> None:
        """Drop all waiting calls. Their rows have not changed."""
        for target in self.targets:
            target.forget_waiting()
        self._holds.clear()
        self.fair = Fair(self.fair.weight_of, critical_first=self.fair.critical_first)
        self._late.clear()
        if self.limits is not None:
            self.limits.clear()
        self._in_flows = 0
        self._turns.clear()
        self._closed.clear()
        self.long_slots.waiting.clear()

    def wait_s(self) -> float | None:
        """Seconds until a target that holds calls back may be tried again; None when no target waits for a time."""
        return self._closed.wait_s(self.now())

    def pop_unrecorded(self) -> list[DueCall]:
        """Remove and return fires that a gate has held too long. They are recorded, and come back as instances."""
        found: list[DueCall] = []
        for queue, ready in self._late.pop(self.now(), RECORDED_AT_ONCE, self.wall()):
            found.append(ready)
            if isinstance(queue, Flow):
                self._in_flows -= 1
            elif self.limits is not None:
                self.limits.count_removed()
        return found

    def hold_reason(self, job: Job) -> HoldReason | None:
        """Why the target of a job holds calls back now; None if it does not."""
        target = self._targets.find(job)
        return None if target is None else next(map(target.reason_for, target.closed), None)

    def drop(self, job: Job, gone: Container[UUID]) -> list[DueCall]:
        """Drop calls at the front of the closed flows of a job's target whose instances are gone; returns them."""
        target, now = self._targets.find(job), self.now()
        dropped = [] if target is None else [one for flow in target.closed for one in flow.drop_first(gone, now)]
        self._in_flows -= len(dropped)
        return dropped

    def holds(self) -> list[DispatcherHold]:
        """The holds to report now. Both the number of holds and the work are bounded, however many gates are closed."""
        return [*self._holds.collect(self.now(), self.wall()), *self._measures.holds(self._turns)]

    def _add_to_flow(self, ready: DueCall, *, first: bool = False) -> None:
        """Add a call to its flow. It waits for its turn, or for the gate that holds the flow back."""
        flow = ready.target.flow(ready)
        if ready.is_overdue:
            flow.add_overdue(ready, self.now())
        else:
            flow.add(ready, self.now(), first=first)
        self._in_flows += 1
        if flow.reason is not None:
            if not flow.target.breaker.closed:
                flow.put_overdue_behind(ready.timer.at - OVERDUE_AFTER)
            if first or flow.watched_at is None or len(flow) == 1:  # a call behind others is not the first to be late
                self._late.watch(flow)
            return
        self._turns.add(flow.turns[ready.is_overdue], 1)
        if not flow.listed:
            self.fair.add(flow)

    def _requeue_first(self, ready: DueCall) -> None:
        """A limit lets a call try again: it goes to the front of its flow, for it had its turn before."""
        ready.is_overdue = False
        self._add_to_flow(ready, first=True)

    def _refusal(self, flow: Flow, now: float) -> HoldReason | None:
        """Let the target count the first call of a flow; returns the reason if the target refuses it.

        While a first attempt can be the breaker's probe, a retry is not: a retry may be a call that the target refuses
        even when it is healthy.
        """
        target = flow.target
        if target.long is not None and not target.long.may(flow.tenant):
            target.long.waiting[target] = None
            return HoldReason.NO_SLOT
        if flow.is_retry and not target.breaker.closed and any(map(self._may_probe, target.flows.values())):
            return HoldReason.BREAKER
        return target.admit(flow.first(), now)

    def _may_probe(self, flow: Flow) -> bool:
        return (
            bool(flow)
            and not flow.is_retry
            and self.fair.is_open(flow.dispatcher)
            and not self._measures.withholds(flow)
        )

    def _close(self, flow: Flow, reason: HoldReason, now: float) -> None:
        """Take a flow out of the turns until its target has room."""
        self.held[reason] += 1
        target = flow.target
        self.fair.remove(flow)
        self._turns.remove_flow(flow)
        flow.close(reason, _patience_s(target), now)
        target.closed[flow] = None
        if not target.visited:
            target.visited = True
            self._closed.targets.append(target)
        self._holds.watch(flow.tenant, target)
        self._late.watch(flow)
        if reason == HoldReason.RETRY_BUDGET:
            self._closed.plan(target, target.retry_at(now))
        elif reason == HoldReason.BREAKER:
            self._reopen(target, now)  # another flow may send the probe; otherwise this plans the breaker's time

    def _reopen(self, target: Target, now: float, *, everyone: bool = False) -> None:
        """Let closed flows of a target take turns again, the most urgent first, as far as the target has room.

        1. No room: plan a look at the time of the breaker, if it is open. Otherwise the next answer calls this again.
        2. An empty flow is only marked as open.
        3. A retry flow stays closed until a retry is earned. While the breaker is open it stays closed if a first
           attempt can be the probe.
        4. Every other flow takes turns again. It uses up room only if it can go now: its class may use a slot and its
           dispatcher is not full.

        `everyone`: go through all flows, even when the room is used up.
        """
        if not target.closed:
            return
        room = target.room(now)
        if room <= 0:
            until = target.breaker.until
            if until is not None and until > now:
                self._closed.plan(target, until)
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
            self._turns.add_flow(flow)
            self.fair.add(flow)
            if (
                self.fair.is_open(flow.dispatcher)
                and self.slots.may(flow.class_)
                and not self._measures.withholds(flow)
            ):
                room -= len(flow)

    def _may_retry(self, flow: Flow, now: float) -> bool:
        target = flow.target
        if not target.breaker.closed:
            return not any(map(self._may_probe, target.flows.values()))
        at = target.retry_at(now)
        if at > now:
            self._closed.plan(target, at)
        return at <= now

    def _update_patience(self, target: Target, now: float) -> None:
        """A breaker has opened or closed: change how long fires may wait at the target before they are recorded."""
        for flow in target.closed:
            flow.hold(_patience_s(target), now)
            self._late.watch(flow)

    def _count_limits(self, ready: DueCall, limits: Sequence[tuple[Key, Limit]], now: float) -> bool:
        """Count a call against its shared limits. If one refuses, the call gives its place at the target back."""
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

    def _release(self, ready: DueCall, kept: Sequence[Key] = ()) -> None:
        if ready.holds_slot:
            ready.holds_slot = False
            if (long := ready.target.long) is None:
                self.slots.give((ready.timer.priority, ready.timer.lane))
                if self._tenants.give(ready.timer.tenant_id):
                    self.fair.resume(ready.timer.tenant_id)
            elif (target := long.give(ready.timer.tenant_id)) is not None:
                self._reopen(target, self.now())
        if ready.quotas and self.limits is not None:
            self.limits.release_call(ready, kept)

    def _instance_limits(self, job: Job) -> list[tuple[Key, Limit]]:
        """The concurrency limits that count instances. A target's `max_concurrency` counts requests: it is left out."""
        return [
            (key, limit)
            for key, limit in self.limits_of(job)
            if limit.concurrency is not None and not key.counts_requests
        ]


def _patience_s(target: Target) -> float:
    return CAPPED_PATIENCE_S if target.breaker.closed else BROKEN_PATIENCE_S


def _urgency(flow: Flow) -> Class:
    return flow.class_

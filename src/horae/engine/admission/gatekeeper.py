"""Lets matured timers pass, one decision after the other."""

import heapq
from collections.abc import Callable, Collection, Sequence
from itertools import count
from typing import Final
from uuid import UUID

from horae.domain.admission import HoldReason
from horae.domain.jobs import Job
from horae.domain.limits import Key, Limit
from horae.domain.outcomes import Said
from horae.domain.targets import PUSHED
from horae.domain.timers import Timer
from horae.engine.admission.fair import Fair
from horae.engine.admission.limited import Limited, Permits
from horae.engine.admission.ready import Desk, Ready
from horae.engine.admission.slots import Slots
from horae.engine.admission.target import Target
from horae.runtime import chance
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log

PATIENCE: Final = 15.0
SHORT_PATIENCE: Final = 2.0
BUDGET_PAUSE: Final = 1.0
UNHEARD: Final = 180.0
"""Seconds after which a call that was let pass has ended, whatever came of it: no slot lasts longer."""
RECORDED_AT_ONCE: Final = 500
MOST_TARGETS: Final = 50_000


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
    ) -> None:
        self.slots = Slots(slots)
        self.fair = Fair(weight_of)
        self.limits_of = limits_of
        self.limits = None if permits is None else Limited(permits, self._again, now)
        self.now = now
        self.held: dict[HoldReason, int] = dict.fromkeys(HoldReason, 0)
        self._targets: dict[tuple[UUID, str], Target] = {}
        self._closed: set[Target] = set()
        self._freed: set[Target] = set()
        self._at_desk: dict[Desk, list[Ready]] = {}
        self._later: list[tuple[float, int, Ready | Target]] = []
        self._order = count()

    @property
    def waiting(self) -> int:
        """How many have come due and wait, in a queue or at a gate."""
        return len(self.fair) + sum(target.parked for target in self._closed) + self.limited

    @property
    def targets(self) -> Collection[Target]:
        """Every target it knows."""
        return self._targets.values()

    @property
    def limited(self) -> int:
        """How many wait for a limit that nodes share."""
        return 0 if self.limits is None else len(self.limits)

    def offer(self, timer: Timer, job: Job, desk: Desk) -> None:
        """A timer has come due. Where others wait for its target already, it waits behind them."""
        ready = Ready(timer, job, desk, self._target_of(job))
        if ready.target.parked and ready.target.waits_behind(timer):
            ready.target.park(ready, self.now())
        else:
            self.fair.put(ready)

    def dispatch(self) -> int:
        """Let pass whoever may, and hand them to their desks; returns how many."""
        now = self.now()
        self._wake(now)
        passed = self._let_pass(now)
        while self._freed:  # some could not go for reasons of their own: those behind them may
            self._look_at_freed(now)
            passed += self._let_pass(now)
        return passed

    def answered(self, ready: Ready, instance: UUID, said: Said) -> None:
        """A call ended: its slot is free, and its target is known a little better."""
        target, now = ready.target, self.now()
        self._let_go(ready, made=True)
        before = target.breaker.until
        target.answered(instance, said, now=now, chance=chance.fraction(), probe=ready.probe)
        if target.breaker.until != before:
            _tell(ready, before, now)
        self._pass_on(target)

    def withdraw(self, ready: Ready) -> None:
        """No call was made: someone else has it, or its time has moved."""
        self._let_go(ready, made=False)
        ready.target.withdraw(ready)
        self._pass_on(ready.target)

    def granted(self, key: Key) -> None:
        """A limit allows some more: as many of those who waited for it ask again."""
        assert self.limits is not None
        self.limits.granted(key)

    def ask_again(self) -> None:
        """Now and then: whoever waits at a gate may have been forgotten there, or it was lifted."""
        if self.limits is not None:
            self.limits.ask_again()
        now = self.now()
        self._closed = {target for target in self._closed if target.parked}
        for target in self._closed:
            if target.in_flight and now - target.admitted_at > UNHEARD:
                log.error("target.unheard", calls=target.in_flight, waiting=target.parked)
                target.forget_calls()
            if not target.in_flight:
                self._pass_on(target)

    def clear(self) -> None:
        """Let go of everyone who waits: their rows are where they were."""
        for target in self._targets.values():
            target.forget_waiting()
        self.fair = Fair(self.fair.weight_of)
        if self.limits is not None:
            self.limits.clear()
        self._at_desk.clear()
        self._later.clear()
        self._closed.clear()

    def wait_s(self) -> float | None:
        """Seconds until something held back may be tried again; None when nothing waits for a time."""
        return max(0.0, self._later[0][0] - self.now()) if self._later else None

    def unrecorded(self) -> list[Ready]:
        """Fires that a gate has held for more than a moment: they are to be recorded now, and come again."""
        now = self.now()
        found: list[Ready] = []
        for target in self._closed:
            patience = SHORT_PATIENCE if not target.breaker.closed else PATIENCE
            found += target.waiting_cursors(now, patience, RECORDED_AT_ONCE - len(found))
        if self.limits is not None:
            found += self.limits.late(SHORT_PATIENCE, RECORDED_AT_ONCE - len(found))
        return found

    def _target_of(self, job: Job) -> Target:
        made = job.definition.target
        assert isinstance(made, PUSHED)
        key = (job.tenant_id, made.url)
        target = self._targets.get(key)
        if target is None:
            if len(self._targets) > MOST_TARGETS:
                self._targets = {key: kept for key, kept in self._targets.items() if not kept.idle}
            target = self._targets[key] = Target(made.max_concurrency, self.now())
        return target

    def _let_pass(self, now: float) -> int:
        passed, may = 0, self.slots.may
        while (ready := self.fair.take(may)) is not None:
            if not ready.desk.open:
                self._at_desk.setdefault(ready.desk, []).append(ready)
                self._pass_on(ready.target)
                continue
            reason = ready.target.admit(ready, now)
            if reason is not None:
                self._hold(ready, reason, now)
                continue
            if (limits := self.limits_of(ready.job)) and not self._within(ready, limits):
                continue
            self.slots.take((ready.timer.priority, ready.timer.lane))
            passed += 1
            ready.desk.accept(ready)
        return passed

    def _pass_on(self, target: Target) -> None:
        """A place at a target is not taken, or not any more: whoever waits for it may ask."""
        if target.parked:
            self._freed.add(target)

    def _hold(self, ready: Ready, reason: HoldReason, now: float) -> None:
        self.held[reason] += 1
        target = ready.target
        if reason is HoldReason.RETRY_BUDGET:
            ready.park(now)
            heapq.heappush(self._later, (now + BUDGET_PAUSE, next(self._order), ready))
            self._pass_on(target)
            return
        target.park(ready, now)
        self._closed.add(target)
        if target.breaker.may_probe(now):  # a retry, which leaves the probe to one that has not failed before
            self._pass_on(target)
        else:
            self._plan(target, now)

    def _within(self, ready: Ready, limits: Sequence[tuple[Key, Limit]]) -> bool:
        """Count it against its limits. Where it has to wait for one, its place at its target is another's."""
        assert self.limits is not None
        reason = self.limits.count(ready, limits)
        if reason is None:
            return True
        self.held[reason] += 1
        ready.target.withdraw(ready)
        self._pass_on(ready.target)
        return False

    def _let_go(self, ready: Ready, *, made: bool) -> None:
        self.slots.give((ready.timer.priority, ready.timer.lane))
        if ready.quotas and self.limits is not None:
            self.limits.let_go(ready, made=made)

    def _again(self, ready: Ready) -> None:
        """It goes to the head of its queue."""
        self.fair.put(ready, first=True)

    def _release(self, target: Target, now: float) -> None:
        for ready in reversed(target.release(now)):
            self._again(ready)
        if not target.parked:
            self._closed.discard(target)
        else:
            self._plan(target, now)

    def _plan(self, target: Target, now: float) -> None:
        """Look at an open breaker when its time is over; where it is, a probe is on its way."""
        until = target.breaker.until
        if until is not None and until > now and target.wakes_at != until:
            target.wakes_at = until
            heapq.heappush(self._later, (until, next(self._order), target))

    def _look_at_freed(self, now: float) -> None:
        freed, self._freed = self._freed, set()
        for target in freed:
            self._release(target, now)

    def _wake(self, now: float) -> None:
        """Whoever may ask again: their target has room, or the time they waited for has come."""
        for desk in [desk for desk in self._at_desk if desk.open]:
            for ready in reversed(self._at_desk.pop(desk)):
                self._again(ready)
        self._look_at_freed(now)
        while self._later and self._later[0][0] <= now:
            _, _, waits = heapq.heappop(self._later)
            if isinstance(waits, Target):
                waits.wakes_at = None
                self._release(waits, now)
            else:
                waits.unpark(now)
                self._again(waits)


def _tell(ready: Ready, before: float | None, now: float) -> None:
    """A breaker has opened, has closed, or its probe has failed: who is called at night sees which."""
    until, facts = ready.target.breaker.until, {"job": ready.job.name, "waiting": ready.target.parked}
    if until is None:
        log.info("breaker.closed", **facts)
    else:
        event = "breaker.opened" if before is None else "breaker.probe_failed"
        log.warning(event, **facts, seconds=round(until - now, 1))

"""Due calls, the flows in which they wait, and their targets. Each of the three refers to the other two.

A target as this node knows it has a window, a circuit breaker and a retry budget:

1. Window: how many calls may be in flight. It starts at 8 and grows by one with every answer, so a target that hangs
   holds only a few slots. A failure halves it.
2. Breaker: open while the target fails. Then only one probe passes at a time.
3. Retry budget: a fifth of a retry per first attempt, and some per second, so that retries do not overload a target
   that comes back. Retries that the target asked for itself (425) are extra.
4. Every retry that succeeds raises the retries per second, so a large backlog is sent in a minute or two. A retry that
   fails lowers them, and a breaker that opens resets them.
"""

import math
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from horae.domain.instances.instances import Lane
from horae.domain.instances.outcomes import TargetHealth
from horae.domain.jobs.jobs import Job
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.limits.limits import Key
from horae.domain.limits.shares import Class
from horae.domain.schedules.timers import Timer
from horae.domain.targets.breaker import Breaker
from horae.engine.admission.slots import LongSlots
from horae.engine.admission.two_parts import TwoPartQueue
from horae.engine.admission.waiting import WaitingQueue
from horae.runtime.telemetry import log

MAX_HELD_MS: Final = 2**31 - 1
FIRST_WINDOW: Final = 8
DEFAULT_CAP: Final = 800
RETRY_SHARE: Final = 0.2
BURST_RETRIES: Final = 10.0
"""Retries that a new target has saved, and that every target may save."""
MIN_RETRIES_PER_S: Final = 1.0
"""With one retry in five seconds, the retries of a target that fails a third of its calls never caught up."""
EARNED_RETRIES_PER_S: Final = 0.1
"""What a successful retry adds to the retries per second: these double in about seven seconds."""
MAX_RETRIES_PER_S: Final = 2000.0
SILENT_AFTER_S: Final = 10.0
"""Seconds without an answer, while calls are in flight, after which a target counts as silent."""


class CallDispatcher(Protocol):
    """Carries out admitted calls: the dispatcher of a node in one cell."""

    @property
    def has_room(self) -> bool:
        """Whether it has room for more calls now."""
        ...

    def accept(self, ready: "DueCall") -> None:
        """Fire or claim a call that holds a slot, and send it."""
        ...

    def record(self, ready: "DueCall") -> None:
        """Record a fire that holds no slot: its schedule goes on, and the instance waits in its row."""
        ...


class DueCall:
    """A due call that waits for its turn, waits at a closed gate, or is admitted.

    - `queue`: where it waits; `entered_at_s`: for how long that queue had been held when the call entered it.
    - `held_ms`: how long gates have held it so far.
    - `is_overdue`: it waits behind the calls of its flow that are on time.
    - `probe`: it tests whether a target with an open breaker is back.
    - `earned`: what it added to the target's retry budget, or -1 if it used a retry of it; `asked_for`: the target
      asked for this retry itself (425).
    - `quotas`: the shared limits that count it; `paces`: the rates among them, until the call leaves.
    - `admitted_at`: the tick of its admission; `paced_s`: how long rates delayed it after its claim.
    - `holds_slot`: it holds a slot of the node; `counted`: its target counts it. Each is given back only once.
    """

    __slots__ = (
        "admitted_at",
        "asked_for",
        "counted",
        "dispatcher",
        "earned",
        "entered_at_s",
        "held_ms",
        "holds_slot",
        "is_overdue",
        "job",
        "paced_s",
        "paces",
        "probe",
        "queue",
        "quotas",
        "target",
        "timer",
    )

    def __init__(
        self, timer: Timer, job: Job, dispatcher: CallDispatcher, target: "Target", *, is_overdue: bool = False
    ) -> None:
        self.timer = timer
        self.job = job
        self.dispatcher = dispatcher
        self.target = target
        self.held_ms = 0
        self.is_overdue = is_overdue
        self.queue: WaitingQueue[DueCall] | None = None
        self.entered_at_s = 0.0
        self.probe = self.holds_slot = self.counted = False
        self.earned = 0.0
        self.asked_for = False
        self.quotas: tuple[Key, ...] = ()
        self.paces: tuple[Key, ...] = ()
        self.admitted_at = self.paced_s = 0.0

    @property
    def most_at_target(self) -> float:
        """How many calls the target may have in flight, by the job of this call."""
        return getattr(self.job.definition.target, "max_concurrency", None) or math.inf

    def unrecorded_s(self, wall: float) -> float:
        """Seconds by which an unrecorded fire is late; zero if its row exists already.

        It counts from the due time, not from the arrival at this gate: otherwise a schedule that waits at a full target
        again and again would fall behind a little with every fire.
        """
        return 0.0 if self.timer.fired is None else wall - self.timer.at.timestamp()

    def add_held(self, seconds: float) -> None:
        """Add a time for which a gate held this call."""
        if seconds > 0:
            self.held_ms = min(self.held_ms + round(seconds * 1000), MAX_HELD_MS)


class Turns(NamedTuple):
    """Calls that are counted together: those on time, or the overdue ones, of a tenant and class at a dispatcher."""

    tenant: UUID
    class_: Class
    dispatcher: CallDispatcher
    are_overdue: bool


class Flow(TwoPartQueue[DueCall]):
    """The waiting calls of one target, in one class, at one dispatcher.

    Flows take turns, not calls: a gate that closes takes one flow out of the turns, whatever waits in it. `listed` says
    whether the flow takes turns now, `reason` why a gate holds it back, `turns` how its calls are counted.
    """

    __slots__ = ("class_", "dispatcher", "is_retry", "listed", "reason", "target", "tenant", "turns")

    def __init__(self, target: "Target", tenant: UUID, class_: Class, dispatcher: CallDispatcher) -> None:
        super().__init__()
        self.target = target
        self.tenant = tenant
        self.class_ = class_
        self.dispatcher = dispatcher
        self.is_retry = class_[1] == Lane.RETRY
        self.listed = False
        self.reason: HoldReason | None = None
        self.turns = tuple(Turns(tenant, class_, dispatcher, are_overdue) for are_overdue in (False, True))

    def close(self, reason: HoldReason, patience_s: float, now: float) -> None:
        """Hold the flow back at a gate."""
        self.reason = reason
        self.hold(patience_s, now)

    def reopen(self, now: float) -> None:
        """Mark the flow as no longer held back."""
        self.reason = None
        self.resume(now)


class Target:
    """A gate. Its calls wait in `flows`; `closed` are the flows that take no turns because of this target.

    - `window`: how many calls may be in flight; `cap`: how large the window may grow. In addition each call is bounded
      by the `max_concurrency` of its own job version (`DueCall.most_at_target`).
    - `admitted_at`: the tick of the last admitted call; `heard_at`: of the last good answer, or of the first call after
      a time without calls.
    - `wakes_at`: the tick of the next planned look; `visited`: whether periodic looks visit this target.
    - `long`: the slots of its calls if they may last for minutes. Such a target is known by its own bound, not by its
      answers, which come too rarely to grow a window.
    """

    __slots__ = (
        "_budget",
        "_budget_at",
        "_early",
        "_retries_per_s",
        "admitted_at",
        "breaker",
        "cap",
        "closed",
        "flows",
        "heard_at",
        "in_flight",
        "long",
        "visited",
        "wakes_at",
        "window",
    )

    def __init__(self, cap: int | None = None, now: float = 0.0, long: "LongSlots[Target] | None" = None) -> None:
        self.cap = cap or DEFAULT_CAP
        self.long = long
        self.window = self.cap if long else min(FIRST_WINDOW, self.cap)
        self.in_flight = 0
        self.breaker = Breaker()
        self.flows: dict[tuple[Class, CallDispatcher], Flow] = {}
        self.closed: dict[Flow, None] = {}
        self.admitted_at = self.heard_at = now
        self.wakes_at: float | None = None
        self.visited = False
        self._budget = BURST_RETRIES
        self._budget_at = now
        self._early = 0
        self._retries_per_s = MIN_RETRIES_PER_S

    @property
    def parked(self) -> int:
        """How many calls this target holds back."""
        return sum(map(len, self.closed))

    @property
    def idle(self) -> bool:
        """Whether this target may be forgotten: only its window would be lost."""
        return not self.in_flight and self.breaker.closed and not any(self.flows.values())

    def flow(self, ready: DueCall) -> Flow:
        """The flow of a call: by its class and its dispatcher."""
        class_ = (ready.timer.priority, ready.timer.lane)
        flow = self.flows.get((class_, ready.dispatcher))
        if flow is None:
            flow = self.flows[class_, ready.dispatcher] = Flow(self, ready.timer.tenant_id, class_, ready.dispatcher)
        return flow

    def room(self, now: float) -> int:
        """How many more calls may be sent now; with an open breaker at most one, the probe."""
        if self.breaker.closed:
            return self.window - self.in_flight
        return int(self.breaker.may_probe(now))

    def admit(self, ready: DueCall, now: float) -> HoldReason | None:
        """Count a call as in flight, or return the reason for a refusal."""
        if not self.breaker.closed:
            if not self.breaker.may_probe(now):
                return HoldReason.BREAKER
            self.breaker.probe()
            ready.probe = True
        elif self.in_flight >= self.window or self.in_flight >= ready.most_at_target:
            return HoldReason.TARGET_CAP
        elif ready.timer.lane == Lane.RETRY:
            if not self._spend_retry(ready, now):
                return HoldReason.RETRY_BUDGET
        else:
            self._earn(ready, max(0.0, min(RETRY_SHARE, self._most_saved - self._budget)))
        if not self.in_flight:
            self.heard_at = now
        self.in_flight += 1
        ready.counted = True
        self.admitted_at = now
        return None

    def withdraw(self, ready: DueCall) -> None:
        """Undo `admit` for a call that says nothing about this target: also what it earned or used of the budget."""
        if not ready.counted:
            return
        ready.counted = False
        self.in_flight = max(self.in_flight - 1, 0)
        self._budget = min(self._budget - ready.earned, self._most_saved)
        self._early += ready.asked_for
        ready.earned, ready.asked_for = 0.0, False
        if ready.probe:
            self.breaker.cancel_probe()
            ready.probe = False

    def record_retry_answer(self, health: TargetHealth, now: float) -> None:
        """Adapt the retries per second to the result of a retry."""
        self._earned(now)  # count the time until now at the old rate
        if health is TargetHealth.OK:
            self._retries_per_s = min(self._retries_per_s + EARNED_RETRIES_PER_S, MAX_RETRIES_PER_S)
        elif health is TargetHealth.FAILED:
            self._retries_per_s = max(self._retries_per_s - EARNED_RETRIES_PER_S, MIN_RETRIES_PER_S)

    def record_answer(
        self, instance: UUID, health: TargetHealth, *, now: float, randomness: float, probe: bool = False
    ) -> None:
        """Record the answer to a call in window and breaker; `probe`: the call was the breaker's probe."""
        self.in_flight = max(self.in_flight - 1, 0)
        if health is not TargetHealth.FAILED:
            self.heard_at = now
            if health is TargetHealth.TOO_EARLY:
                self._early = min(self._early + 1, self.cap)  # the target asked for this retry: it needs no budget
            if not self.breaker.closed:
                self.window = 1 if self.long is None else self.cap  # it is back, and its window grows from one
            self.breaker.record_success()
            self.window = min(self.window + 1, self.cap)
        else:
            self.window = max(self.window // 2, 1)
            if self.breaker.record_failure(instance, now, randomness, probe=probe):
                self._retries_per_s = MIN_RETRIES_PER_S  # earlier successes say nothing about a broken target

    def retry_at(self, now: float) -> float:
        """The tick at which the next retry is earned if no first attempt is sent; `now` if one is earned already."""
        lacking = 1 - self._early - self._earned(now)
        return now if lacking <= 0 else now + lacking / self._retries_per_s

    def is_silent(self, now: float) -> bool:
        """Whether this target has calls in flight and has given no good answer for a while: it may hang."""
        return self.in_flight > 0 and now - self.heard_at >= SILENT_AFTER_S and self.long is None

    def reason_for(self, flow: Flow) -> HoldReason:
        """Why this target holds a flow back now. The reason may have changed since the flow was closed."""
        if not self.breaker.closed:
            return HoldReason.BREAKER
        if self.long is not None and not self.long.may(flow.tenant):
            return HoldReason.NO_SLOT
        return HoldReason.RETRY_BUDGET if flow.is_retry and self.in_flight < self.window else HoldReason.TARGET_CAP

    def log_breaker(self, job: Job, opened_at: float | None, now: float) -> None:
        """Log that the breaker has opened or closed, or that its probe has failed; `opened_at`: when it had opened.

        `open_s` says for how long it is open, or was; `probe_in_s` when it is probed.
        """
        until = self.breaker.until
        facts = {"tenant": job.tenant_id, "job": job.name, "waiting": self.parked}
        open_s = 0.0 if opened_at is None else round(now - opened_at, 1)
        if until is None:
            log.info("breaker.closed", **facts, open_s=open_s)
        else:
            event = "breaker.opened" if opened_at is None else "breaker.probe_failed"
            log.warning(event, **facts, open_s=open_s, probe_in_s=round(until - now, 1))

    def forget_waiting(self) -> None:
        """Drop all waiting calls."""
        self.flows.clear()
        self.closed.clear()
        self.wakes_at, self.visited = None, False

    def forget_calls(self) -> None:
        """Count no call as in flight any more."""
        self.in_flight = 0
        self.breaker.cancel_probe()

    @property
    def _most_saved(self) -> float:
        """How many retries may be saved up: ten, or the retries of one second if these are more."""
        return max(BURST_RETRIES, self._retries_per_s)

    def _earned(self, now: float) -> float:
        """How many retries the budget allows now, without the retries that the target asked for."""
        earned = self._budget + (now - self._budget_at) * self._retries_per_s
        self._budget, self._budget_at = min(earned, self._most_saved), now
        return self._budget

    def _earn(self, ready: DueCall, retries: float) -> None:
        ready.earned = retries
        self._budget += retries

    def _spend_retry(self, ready: DueCall, now: float) -> bool:
        if self._early:
            self._early -= 1
            ready.asked_for = True
            return True
        if self._earned(now) < 1:
            return False
        self._earn(ready, -1.0)
        return True

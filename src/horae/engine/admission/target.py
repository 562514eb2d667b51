"""One target as a node knows it: how many calls it bears, whether it answers, and how many retries it has earned.

A target earns its slots: it starts with a few and gets one more with every answer, so one that hangs holds only those
few. Retries are at most a fifth of first attempts (and a few), so that a target that comes back is not buried;
those it asked for itself, by a 425, come on top. Every retry that succeeds lets a few more pass each second, so that
a backlog of retries is sent in a minute or two, faster and faster; one that fails takes that back, and an open breaker
takes all of it.
"""

from typing import Final
from uuid import UUID

from horae.domain.admission import HoldReason
from horae.domain.breaker import Breaker
from horae.domain.instances import Lane
from horae.domain.outcomes import Said
from horae.domain.shares import Class
from horae.engine.admission.flow import Flow
from horae.engine.admission.ready import Desk, Ready
from horae.runtime.telemetry import log

FIRST_WINDOW: Final = 8
DEFAULT_CAP: Final = 800
RETRY_SHARE: Final = 0.2
RETRIES_AT_ONCE: Final = 10.0
MIN_RETRIES_PER_S: Final = 1.0
"""With one in five seconds the retries of a target that fails a third of its calls fell behind for good."""
RETRIES_PER_S_EARNED: Final = 0.1
"""What a retry that succeeds adds to the retries that may pass each second: they double in some seven seconds."""
MAX_RETRIES_PER_S: Final = 2000.0


class Target:
    """A gate. Those it holds back wait in its flows; `closed` are the flows that take no turns because of it.

    `cap` bounds the slots that it can earn; how many calls of it may be under way when a job's own call is added, each
    job says for itself, in the version that the call belongs to.

    `admitted_at` is when it last let a call pass, `wakes_at` the time for which its keeper has planned to look again,
    `visited` whether the keeper comes by now and then.
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
        "in_flight",
        "visited",
        "wakes_at",
        "window",
    )

    def __init__(self, cap: int | None = None, now: float = 0.0) -> None:
        self.cap = cap or DEFAULT_CAP
        self.window = min(FIRST_WINDOW, self.cap)
        self.in_flight = 0
        self.breaker = Breaker()
        self.flows: dict[tuple[Class, Desk], Flow] = {}
        self.closed: dict[Flow, None] = {}
        self.admitted_at = now
        self.wakes_at: float | None = None
        self.visited = False
        self._budget = RETRIES_AT_ONCE
        self._budget_at = now
        self._early = 0
        self._retries_per_s = MIN_RETRIES_PER_S

    @property
    def parked(self) -> int:
        """How many calls it holds back."""
        return sum(map(len, self.closed))

    @property
    def idle(self) -> bool:
        """Whether forgetting it loses nothing but the slots it has earned."""
        return not self.in_flight and self.breaker.closed and not any(self.flows.values())

    def flow(self, ready: Ready) -> Flow:
        """Where calls of its class wait for this target at its desk."""
        class_ = (ready.timer.priority, ready.timer.lane)
        flow = self.flows.get((class_, ready.desk))
        if flow is None:
            flow = self.flows[class_, ready.desk] = Flow(self, ready.timer.tenant_id, class_, ready.desk)
        return flow

    def room(self, now: float) -> int:
        """How many calls it bears more now: one where it is to be seen whether it is back."""
        if self.breaker.closed:
            return self.window - self.in_flight
        return int(self.breaker.may_probe(now))

    def admit(self, ready: Ready, now: float) -> HoldReason | None:
        """Count a call in, or say why not."""
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
        self.in_flight += 1
        ready.counted = True
        self.admitted_at = now
        return None

    def withdraw(self, ready: Ready) -> None:
        """The call was not made after all: what it earned or spent counts no more."""
        if not ready.counted:
            return
        ready.counted = False
        self.in_flight = max(self.in_flight - 1, 0)
        self._budget = min(self._budget - ready.earned, self._most_saved)
        self._early += ready.asked_for
        ready.earned, ready.asked_for = 0.0, False
        if ready.probe:
            self.breaker.unprobe()
            ready.probe = False

    def answered_retry(self, said: Said, now: float) -> None:
        """A retry ended: where it succeeded more of them may pass each second from now on."""
        self._earned(now)  # at the rate until now
        if said is Said.WELL:
            self._retries_per_s = min(self._retries_per_s + RETRIES_PER_S_EARNED, MAX_RETRIES_PER_S)
        elif said is Said.BADLY:
            self._retries_per_s = max(self._retries_per_s - RETRIES_PER_S_EARNED, MIN_RETRIES_PER_S)

    def answered(self, instance: UUID, said: Said, *, now: float, chance: float, probe: bool = False) -> None:
        """A call ended; `probe`: it was let pass to see whether the target is back."""
        self.in_flight = max(self.in_flight - 1, 0)
        if said is not Said.BADLY:
            if said is Said.EARLY:
                self._early = min(self._early + 1, self.cap)  # that retry is asked for, and not of the budget
            if not self.breaker.closed:
                self.window = 1  # it is back, and gets its slots one by one
            self.breaker.succeeded()
            self.window = min(self.window + 1, self.cap)
        else:
            self.window = max(self.window // 2, 1)
            if self.breaker.failed(instance, now, chance, probe=probe):
                self._retries_per_s = MIN_RETRIES_PER_S  # what it earned before it broke says nothing any more

    def retry_at(self, now: float) -> float:
        """When the next retry is earned, if nothing else is sent; now where one is."""
        lacking = 1 - self._early - self._earned(now)
        return now if lacking <= 0 else now + lacking / self._retries_per_s

    def reason_for(self, flow: Flow) -> HoldReason:
        """Why a flow that it holds back is held back now: the gate may have changed since it closed."""
        if not self.breaker.closed:
            return HoldReason.BREAKER
        if self.in_flight >= self.window:
            return HoldReason.TARGET_CAP
        return HoldReason.RETRY_BUDGET if flow.is_retry else HoldReason.TARGET_CAP

    def tell_breaker(self, job: str, before: float | None, now: float) -> None:
        """Its breaker has opened, has closed, or its probe has failed: who is called at night sees which."""
        until, facts = self.breaker.until, {"job": job, "waiting": self.parked}
        if until is None:
            log.info("breaker.closed", **facts)
        else:
            event = "breaker.opened" if before is None else "breaker.probe_failed"
            log.warning(event, **facts, seconds=round(until - now, 1))

    def forget_waiting(self) -> None:
        """Nobody waits here any more: they are let go of."""
        self.flows.clear()
        self.closed.clear()
        self.wakes_at, self.visited = None, False

    def forget_calls(self) -> None:
        """Nothing is on its way any more, whatever was counted."""
        self.in_flight = 0
        self.breaker.unprobe()

    @property
    def _most_saved(self) -> float:
        """How many retries may be saved up: a few, or those of a second."""
        return max(RETRIES_AT_ONCE, self._retries_per_s)

    def _earned(self, now: float) -> float:
        """How many retries may pass now, without those it asked for itself."""
        earned = self._budget + (now - self._budget_at) * self._retries_per_s
        self._budget, self._budget_at = min(earned, self._most_saved), now
        return self._budget

    def _earn(self, ready: Ready, retries: float) -> None:
        ready.earned = retries
        self._budget += retries

    def _spend_retry(self, ready: Ready, now: float) -> bool:
        if self._early:
            self._early -= 1
            ready.asked_for = True
            return True
        if self._earned(now) < 1:
            return False
        self._earn(ready, -1.0)
        return True

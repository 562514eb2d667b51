"""One target as a node knows it: how many calls it bears, whether it answers, and how many retries it has earned.

A target earns its slots: it starts with a few and gets one more with every answer, so one that hangs holds only those
few. Retries are at most a fifth of first attempts (and a few), so that a target that comes back is not buried;
those it asked for itself, by a 425, come on top.
"""

from collections import deque
from typing import Final
from uuid import UUID

from horae.domain.admission import HoldReason
from horae.domain.breaker import Breaker
from horae.domain.instances import Lane, Priority
from horae.domain.outcomes import Said
from horae.engine.admission.ready import Ready, late_fires

FIRST_WINDOW: Final = 8
DEFAULT_CAP: Final = 800
RETRY_SHARE: Final = 0.2
RETRIES_AT_ONCE: Final = 10.0
RETRIES_PER_SECOND: Final = 0.2


class Target:
    """A gate. What it holds back waits here, critical first."""

    __slots__ = ("_budget", "_budget_at", "_early", "_parked", "breaker", "cap", "in_flight", "parked", "window")

    def __init__(self, cap: int | None = None, now: float = 0.0) -> None:
        self.cap = cap or DEFAULT_CAP
        self.window = min(FIRST_WINDOW, self.cap)
        self.in_flight = 0
        self.breaker = Breaker()
        self.parked = 0
        self._parked: dict[Priority, deque[Ready]] = {priority: deque() for priority in Priority}
        self._budget = RETRIES_AT_ONCE
        self._budget_at = now
        self._early = 0

    @property
    def idle(self) -> bool:
        """Whether forgetting it loses nothing but the slots it has earned."""
        return not self.in_flight and not self.parked and self.breaker.closed

    def admit(self, ready: Ready, now: float) -> HoldReason | None:
        """Count a call in, or say why not."""
        if not self.breaker.closed:
            if not self.breaker.may_probe(now) or (ready.timer.lane is Lane.RETRY and self._fresh() is not None):
                return HoldReason.BREAKER
            self.breaker.probe()
            ready.probe = True
        elif self.in_flight >= self.window:
            return HoldReason.TARGET_CAP
        elif ready.timer.lane is Lane.RETRY:
            if not self._may_retry(now):
                return HoldReason.RETRY_BUDGET
        else:
            self._budget = min(self._budget + RETRY_SHARE, RETRIES_AT_ONCE)
        self.in_flight += 1
        return None

    def withdraw(self, ready: Ready) -> None:
        """The call was not made after all."""
        self.in_flight -= 1
        if ready.probe:
            self.breaker.unprobe()
            ready.probe = False

    def answered(self, instance: UUID, said: Said, *, now: float, chance: float) -> bool:
        """A call ended; returns whether the breaker has just opened."""
        self.in_flight -= 1
        if said is not Said.BADLY:
            if said is Said.EARLY:
                self._early = min(self._early + 1, self.cap)  # that retry is asked for, and not of the budget
            if not self.breaker.closed:
                self.window = 1  # it is back, and gets its slots one by one
            self.breaker.succeeded()
            self.window = min(self.window + 1, self.cap)
            return False
        self.window = max(self.window // 2, 1)
        return self.breaker.failed(instance, now, chance)

    def park(self, ready: Ready, now: float) -> None:
        """Let it wait here."""
        ready.park(now)
        self.parked += 1
        self._parked[ready.timer.priority].append(ready)

    def release(self, now: float) -> list[Ready]:
        """As many as may pass now."""
        room = self.window - self.in_flight if self.breaker.closed else int(self.breaker.may_probe(now))
        return [self._unpark(now) for _ in range(min(room, self.parked))]

    def waiting_cursors(self, now: float, longer_than: float, most: int) -> list[Ready]:
        """Fires that have waited here without being recorded yet; they leave the gate for that."""
        found: list[Ready] = []
        for queue in self._parked.values():
            found += late_fires(queue, now, longer_than, most - len(found))
        self.parked -= len(found)
        return found

    def _unpark(self, now: float) -> Ready:
        self.parked -= 1
        ready = self._next() if self.breaker.closed else self._probe()
        ready.unpark(now)
        return ready

    def _next(self) -> Ready:
        return next(queue for queue in self._parked.values() if queue).popleft()

    def _probe(self) -> Ready:
        """One that has not failed before, if any waits: retries are those a target refuses even when it is well."""
        found = self._fresh()
        if found is None:
            return self._next()
        self._parked[found.timer.priority].remove(found)
        return found

    def _fresh(self) -> Ready | None:
        return next((one for queue in self._parked.values() for one in queue if one.timer.lane is not Lane.RETRY), None)

    def _may_retry(self, now: float) -> bool:
        if self._early:
            self._early -= 1
            return True
        earned = self._budget + (now - self._budget_at) * RETRIES_PER_SECOND
        self._budget, self._budget_at = min(earned, RETRIES_AT_ONCE), now
        if self._budget < 1:
            return False
        self._budget -= 1
        return True

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
from horae.domain.timers import Timer
from horae.engine.admission.ready import Ready, late_fires

FIRST_WINDOW: Final = 8
DEFAULT_CAP: Final = 800
RETRY_SHARE: Final = 0.2
RETRIES_AT_ONCE: Final = 10.0
RETRIES_PER_SECOND: Final = 0.2


class Target:
    """A gate. What it holds back waits here, critical first.

    `admitted_at` is when it last let a call pass, `wakes_at` the time for which its keeper has planned to look again.
    """

    __slots__ = (
        "_budget",
        "_budget_at",
        "_early",
        "_fresh",
        "_retries",
        "admitted_at",
        "breaker",
        "cap",
        "in_flight",
        "parked",
        "wakes_at",
        "window",
    )

    def __init__(self, cap: int | None = None, now: float = 0.0) -> None:
        self.cap = cap or DEFAULT_CAP
        self.window = min(FIRST_WINDOW, self.cap)
        self.in_flight = 0
        self.breaker = Breaker()
        self.parked = 0
        self.admitted_at = now
        self.wakes_at: float | None = None
        self._fresh: dict[Priority, deque[Ready]] = {priority: deque() for priority in Priority}
        self._retries: dict[Priority, deque[Ready]] = {priority: deque() for priority in Priority}
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
            if not self.breaker.may_probe(now) or (ready.timer.lane is Lane.RETRY and any(self._fresh.values())):
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
        self.admitted_at = now
        return None

    def withdraw(self, ready: Ready) -> None:
        """The call was not made after all."""
        self.in_flight = max(self.in_flight - 1, 0)
        if ready.probe:
            self.breaker.unprobe()
            ready.probe = False

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
            self.breaker.failed(instance, now, chance, probe=probe)

    def waits_behind(self, timer: Timer) -> bool:
        """Whether others wait before one that comes now. Retries may wait for what they earn: others pass them."""
        return any(self._fresh.values()) or (timer.lane is Lane.RETRY and self.parked > 0)

    def park(self, ready: Ready, now: float) -> None:
        """Let it wait here."""
        ready.park(now)
        self.parked += 1
        (self._retries if ready.timer.lane is Lane.RETRY else self._fresh)[ready.timer.priority].append(ready)

    def release(self, now: float) -> list[Ready]:
        """As many as may pass now. Retries that nothing is earned for leave their places to others."""
        if not self.breaker.closed:
            probe = self._probe() if self.parked and self.breaker.may_probe(now) else None
            return [] if probe is None else [self._unpark(probe, now)]
        earned, found = self._earned(now), list[Ready]()
        while len(found) < self.window - self.in_flight and (queue := self._next(retries=earned >= 1)) is not None:
            earned -= queue[0].timer.lane is Lane.RETRY
            found.append(self._unpark(queue, now))
        return found

    def waiting_cursors(self, now: float, longer_than: float, most: int) -> list[Ready]:
        """Fires that have waited here without being recorded yet; they leave the gate for that."""
        found: list[Ready] = []
        for queue in self._fresh.values():
            found += late_fires(queue, now, longer_than, most - len(found))
        self.parked -= len(found)
        return found

    def forget_waiting(self) -> None:
        """Nobody waits here any more: they are let go of."""
        for queue in (*self._fresh.values(), *self._retries.values()):
            queue.clear()
        self.parked, self.wakes_at = 0, None

    def forget_calls(self) -> None:
        """Nothing is on its way any more, whatever was counted."""
        self.in_flight = 0
        self.breaker.unprobe()

    def _unpark(self, queue: deque[Ready], now: float) -> Ready:
        self.parked -= 1
        ready = queue.popleft()
        ready.unpark(now)
        return ready

    def _next(self, *, retries: bool) -> deque[Ready] | None:
        """Where the next one waits: of the most critical the first, and a retry only where one may pass."""
        for fresh, again in zip(self._fresh.values(), self._retries.values(), strict=True):
            if retries and again:
                return min((queue for queue in (fresh, again) if queue), key=_since)
            if fresh:
                return fresh
        return None

    def _probe(self) -> deque[Ready] | None:
        """One that has not failed before, if any waits: retries are those a target refuses even when it is well."""
        return self._next(retries=False) or self._next(retries=True)

    def _earned(self, now: float) -> float:
        """How many retries may pass now."""
        earned = self._budget + (now - self._budget_at) * RETRIES_PER_SECOND
        self._budget, self._budget_at = min(earned, RETRIES_AT_ONCE), now
        return self._early + self._budget

    def _may_retry(self, now: float) -> bool:
        if self._early:
            self._early -= 1
            return True
        if self._earned(now) < 1:
            return False
        self._budget -= 1
        return True


def _since(queue: deque[Ready]) -> float:
    """When the first of a queue began to wait."""
    return queue[0].parked_at or 0.0

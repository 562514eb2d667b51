"""Due timers that wait to be offered to admission.

To offer a timer costs a large part of what its call costs. Under overload far more timers are due than can be sent. So
a tenant with enough calls that wait for their turn is left out until few of them are left. Calls that a gate holds back
do not count: if one target does not answer, calls of other targets are still offered.

Instances that are overdue when they become known, as after an outage, wait apart: they are offered when no timer on
time is left, or enough of those wait. So what is due now stays on time while the rest is made up for. Cursors are never
overdue: the next fire of a schedule is known only when the one before is recorded.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.limits.shares import OVERDUE_AFTER, WEIGHTS, Class
from horae.domain.schedules.timers import Timer

QUANTUM: Final = 8
"""Timers per turn for a tenant of weight one."""
Queue = tuple[UUID, Class]
HasEnough = Callable[[UUID, Class, Callable[[], None]], bool]
"""Whether enough calls of a tenant and class wait for their turn; if so, the callback is called when few are left."""


class DueChunk(NamedTuple):
    """Timers to offer next; either all of them were overdue when they became known, or none."""

    timers: Sequence[Timer]
    are_overdue: bool


class DueTimers:
    """Due timers: those on time before those that were overdue when they became known."""

    def __init__(
        self, weight_of: Callable[[UUID], int], has_enough: Callable[..., bool], wake: Callable[[], None]
    ) -> None:
        """`has_enough` is asked as `HasEnough`, and with `are_overdue`."""
        self._on_time = TimerQueues(weight_of, partial(has_enough, are_overdue=False), wake)
        self._overdue = TimerQueues(weight_of, partial(has_enough, are_overdue=True), wake)

    def __len__(self) -> int:
        return len(self._on_time) + len(self._overdue)

    def add(self, timers: Sequence[Timer], now: datetime) -> None:
        """Add due timers."""
        due_before = now - OVERDUE_AFTER
        overdue = [timer for timer in timers if timer.at < due_before and timer.fired is None]
        if overdue:
            self._overdue.add(overdue)
            timers = [timer for timer in timers if timer.at >= due_before or timer.fired is not None]
        self._on_time.add(timers)

    def take(self, most: int) -> DueChunk:
        """Take at most `most` timers to offer next; none if every tenant has enough calls waiting."""
        chunk = self._on_time.take(most)
        return DueChunk(chunk, are_overdue=False) if chunk else DueChunk(self._overdue.take(most), are_overdue=True)


class TimerQueues:
    """Due timers: the most urgent class first, inside a class tenants by weight. `wake` is called when more may go."""

    def __init__(self, weight_of: Callable[[UUID], int], has_enough: HasEnough, wake: Callable[[], None]) -> None:
        self._weight_of = weight_of
        self._has_enough = has_enough
        self._wake = wake
        self._size = 0
        self._timers: dict[Queue, deque[Timer]] = {}
        self._rings: dict[Class, deque[UUID]] = {class_: deque() for class_ in sorted(WEIGHTS)}

    def __len__(self) -> int:
        return self._size

    def add(self, timers: Iterable[Timer]) -> None:
        """Add due timers."""
        for timer in timers:
            class_ = (timer.priority, timer.lane)
            queue = self._timers.get((timer.tenant_id, class_))
            if queue is None:
                queue = self._timers[timer.tenant_id, class_] = deque()
                self._rings[class_].append(timer.tenant_id)
            queue.append(timer)
            self._size += 1

    def take(self, most: int) -> list[Timer]:
        """Take at most `most` timers to offer next; none if every tenant has enough calls waiting."""
        chunk: list[Timer] = []
        for class_, ring in self._rings.items():
            while ring and len(chunk) < most:
                tenant = ring[0]
                if self._has_enough(tenant, class_, partial(self._resume, (tenant, class_))):
                    ring.popleft()
                    continue
                queue = self._timers[tenant, class_]
                turn = min(QUANTUM * self._weight_of(tenant), most - len(chunk), len(queue))
                chunk += [queue.popleft() for _ in range(turn)]
                if queue:
                    ring.rotate(-1)
                else:
                    ring.popleft()
                    del self._timers[tenant, class_]
        self._size -= len(chunk)
        return chunk

    def _resume(self, key: Queue) -> None:
        """Let the timers of a tenant take turns again: few of its calls are left."""
        tenant, class_ = key
        if key in self._timers:
            self._rings[class_].append(tenant)
            self._wake()

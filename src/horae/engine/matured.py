"""Timers that have come due and wait to be offered to admission.

Offering a timer costs as much as a good part of its call. Under overload far more come due than can be sent, so a
tenant whose calls already wait for their turn in sufficient number is left out until they have become few. What a gate
holds back does not count: behind one target that does not answer, the calls of the others are offered all the same.
"""

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final
from uuid import UUID

from horae.domain.shares import WEIGHTS, Class
from horae.domain.timers import Timer

QUANTUM: Final = 8
"""Timers that a tenant of weight one is served in its turn."""
Queue = tuple[UUID, Class]
HasEnough = Callable[[UUID, Class, Callable[[], None]], bool]
"""Whether calls of a tenant and class wait in sufficient number; if so, the callback is called when they are few."""


class MaturedTimers:
    """The most urgent class first, inside a class tenants by their weights. `wake` is called when more may go."""

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
        """They have come due."""
        for timer in timers:
            class_ = (timer.priority, timer.lane)
            queue = self._timers.get((timer.tenant_id, class_))
            if queue is None:
                queue = self._timers[timer.tenant_id, class_] = deque()
                self._rings[class_].append(timer.tenant_id)
            queue.append(timer)
            self._size += 1

    def take(self, most: int) -> list[Timer]:
        """At most so many that are to be offered next; none where every tenant has enough waiting."""
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
        """Few of a tenant's calls wait: its timers take turns again."""
        tenant, class_ = key
        if key in self._timers:
            self._rings[class_].append(tenant)
            self._wake()

"""Who is next: classes by their shares, inside a class tenants by their weights, inside a tenant first come."""

from collections import deque
from collections.abc import Callable
from uuid import UUID

from horae.domain.shares import WEIGHTS, Class
from horae.engine.admission.ready import Ready


class Line:
    """One class: deficit round robin between its tenants. Every fire costs one, so a turn is worth its weight."""

    def __init__(self, weight_of: Callable[[UUID], int]) -> None:
        self.weight_of = weight_of
        self._of_tenant: dict[UUID, deque[Ready]] = {}
        self._ring: deque[UUID] = deque()
        self._left = 0

    def __bool__(self) -> bool:
        return bool(self._ring)

    def put(self, ready: Ready, *, first: bool = False) -> None:
        """Behind its tenant's others, or before them when it has waited at a gate."""
        tenant = ready.timer.tenant_id
        queue = self._of_tenant.get(tenant)
        if queue is None:
            queue = self._of_tenant[tenant] = deque()
            self._ring.append(tenant)
            if len(self._ring) == 1:
                self._left = self.weight_of(tenant)
        (queue.appendleft if first else queue.append)(ready)

    def take(self) -> Ready:
        """The next one."""
        ring = self._ring
        tenant = ring[0]
        queue = self._of_tenant[tenant]
        ready = queue.popleft()
        self._left -= 1
        if not queue:
            del self._of_tenant[tenant]
            ring.popleft()
            self._left = self.weight_of(ring[0]) if ring else 0
        elif self._left <= 0:
            ring.rotate(-1)
            self._left = self.weight_of(ring[0])
        return ready


class Fair:
    """All classes. Each service moves a class back by the inverse of its weight; the one furthest ahead is next."""

    def __init__(self, weight_of: Callable[[UUID], int]) -> None:
        self.weight_of = weight_of
        self._lines = {class_: Line(weight_of) for class_ in WEIGHTS}
        self._passed = dict.fromkeys(WEIGHTS, 0.0)
        self._waiting: list[Class] = []
        self._now = 0.0
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def put(self, ready: Ready, *, first: bool = False) -> None:
        """Wait for a turn. A class that was idle starts level with the others: it saved up nothing."""
        class_ = (ready.timer.priority, ready.timer.lane)
        line = self._lines[class_]
        if not line:
            self._passed[class_] = max(self._passed[class_], self._now)
            self._waiting.append(class_)
        line.put(ready, first=first)
        self._size += 1

    def take(self, may: Callable[[Class], bool]) -> Ready | None:
        """The next one of the classes that may have a slot now."""
        best = None
        passed = self._passed
        for class_ in self._waiting:
            if (best is None or passed[class_] < passed[best]) and may(class_):
                best = class_
        if best is None:
            return None
        self._now = passed[best]
        passed[best] += 1 / WEIGHTS[best]
        self._size -= 1
        line = self._lines[best]
        ready = line.take()
        if not line:
            self._waiting.remove(best)
        return ready

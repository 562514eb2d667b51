"""Whose turn it is: classes by their shares, inside a class tenants by their weights, inside a tenant its targets."""

from collections import deque
from collections.abc import Callable
from uuid import UUID

from horae.domain.shares import WEIGHTS, Class
from horae.engine.admission.flow import Flow
from horae.engine.admission.ready import Desk, Ready


class TenantQueue:
    """One class at one desk: deficit round robin between its tenants. Every call costs one, a turn is worth its weight.

    The flows of a tenant take turns one call at a time, so that a target with many calls delays no other target.
    `passed` is how far the queue has come beside those of the same class at other desks. A tenant that is parked takes
    no turns, whoever of it waits or comes.
    """

    def __init__(self, weight_of: Callable[[UUID], int]) -> None:
        self.weight_of = weight_of
        self.passed = 0.0
        self.weight = 0
        self._flows: dict[UUID, deque[Flow]] = {}
        self._parked: dict[UUID, deque[Flow]] = {}
        self._weights: dict[UUID, int] = {}
        self._ring: deque[UUID] = deque()
        self._left = 0

    def __bool__(self) -> bool:
        return bool(self._ring)

    def add(self, flow: Flow) -> None:
        """Let a flow take turns."""
        tenant = flow.tenant
        flows = self._flows.get(tenant)
        if flows is None:
            flows = self._parked.get(tenant)
        if flows is None:
            self._enter(tenant, deque((flow,)))
        else:
            flows.append(flow)

    def head(self) -> Flow:
        """The flow whose turn it is."""
        return self._flows[self._ring[0]][0]

    def remove_head(self) -> None:
        """A gate holds the head back: it takes no turns for now, and its tenant's turn goes on."""
        self._flows[self._ring[0]].popleft()
        self._drop_if_idle()

    def park_head(self) -> None:
        """The tenant whose turn it is takes no turns for now."""
        tenant = self._ring[0]
        self._parked[tenant] = self._flows[tenant]
        self._leave(tenant)

    def resume(self, tenant: UUID) -> None:
        """A parked tenant takes turns again."""
        self._enter(tenant, self._parked.pop(tenant))

    def serve_head(self, *, more: bool) -> None:
        """The head was served one call; it goes behind its tenant's others, or away where it has no more."""
        flows = self._flows[self._ring[0]]
        if more:
            flows.rotate(-1)
        else:
            flows.popleft()
        self._left -= 1
        if not self._drop_if_idle() and self._left <= 0:
            self._ring.rotate(-1)
            self._left = self._weights[self._ring[0]] = self._renewed(self._ring[0])

    def _drop_if_idle(self) -> bool:
        """Forget the tenant whose turn it is where nothing of it waits; returns whether that was so."""
        tenant = self._ring[0]
        if self._flows[tenant]:
            return False
        self._leave(tenant)
        return True

    def _enter(self, tenant: UUID, flows: deque[Flow]) -> None:
        self._flows[tenant] = flows
        self._weights[tenant] = self.weight_of(tenant)
        self.weight += self._weights[tenant]
        self._ring.append(tenant)
        if len(self._ring) == 1:
            self._left = self._weights[tenant]

    def _leave(self, tenant: UUID) -> None:
        """Take the tenant whose turn it is out of the ring."""
        del self._flows[tenant]
        self._ring.popleft()
        self.weight -= self._weights.pop(tenant)
        self._left = self._weights[self._ring[0]] if self._ring else 0

    def _renewed(self, tenant: UUID) -> int:
        """A tenant's weight as it is now."""
        weight = self.weight_of(tenant)
        self.weight += weight - self._weights[tenant]
        return weight


class Fair:
    """All classes over all desks. A desk that is closed is not asked, whoever waits for it.

    Each call served moves its class back by the inverse of the class's weight, and its desk's queue by the inverse of
    the weights of the tenants in it. The class and the queue furthest ahead are next.
    """

    def __init__(self, weight_of: Callable[[UUID], int]) -> None:
        self.weight_of = weight_of
        self._queues: dict[tuple[Class, Desk], TenantQueue] = {}
        self._open: dict[Class, list[TenantQueue]] = {class_: [] for class_ in WEIGHTS}
        self._closed: set[Desk] = set()
        self._parked: dict[UUID, list[tuple[Class, Desk]]] = {}
        self._waiting: list[Class] = []
        self._passed = dict.fromkeys(WEIGHTS, 0.0)
        self._now = 0.0
        self._queue_now = dict.fromkeys(WEIGHTS, 0.0)

    def add(self, flow: Flow) -> None:
        """Let a flow take turns. What was idle starts level with the others: it saved up nothing."""
        key = (flow.class_, flow.desk)
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = TenantQueue(self.weight_of)
        was_idle = not queue
        queue.add(flow)
        flow.listed = True
        if was_idle and queue and flow.desk not in self._closed:
            self._activate(flow.class_, queue)

    def next(self, may: Callable[[Class], bool]) -> Flow | None:
        """The flow whose turn it is, of the classes that may have a slot now. It stays where it is."""
        while True:
            best = None
            passed = self._passed
            for class_ in self._waiting:
                if (best is None or passed[class_] < passed[best]) and may(class_):
                    best = class_
            if best is None:
                return None
            flow = self._first_queue(best).head()
            if flow:
                return flow
            self.remove(flow)

    def serve(self, flow: Flow, now: float) -> Ready:
        """Take the next call of the flow whose turn it is."""
        class_ = flow.class_
        queue = self._queues[class_, flow.desk]
        self._now = self._passed[class_]
        self._passed[class_] += 1 / WEIGHTS[class_]
        self._queue_now[class_] = queue.passed
        queue.passed += 1 / queue.weight
        ready = flow.pop(now)
        flow.listed = bool(flow)
        queue.serve_head(more=flow.listed)
        if not queue:
            self._deactivate(class_, queue)
        return ready

    def remove(self, flow: Flow) -> None:
        """The flow whose turn it is takes no turns for now: it is empty, or a gate holds it back."""
        queue = self._queues[flow.class_, flow.desk]
        queue.remove_head()
        flow.listed = False
        if not queue:
            self._deactivate(flow.class_, queue)

    def park(self, flow: Flow) -> None:
        """The tenant whose turn it is takes no turns in this class at this desk, until it is resumed."""
        queue = self._queues[flow.class_, flow.desk]
        queue.park_head()
        self._parked.setdefault(flow.tenant, []).append((flow.class_, flow.desk))
        if not queue:
            self._deactivate(flow.class_, queue)

    def resume(self, tenant: UUID) -> None:
        """A tenant takes turns again wherever it was parked."""
        for class_, desk in self._parked.pop(tenant, ()):
            queue = self._queues[class_, desk]
            was_idle = not queue
            queue.resume(tenant)
            if was_idle and desk not in self._closed:
                self._activate(class_, queue)

    def close(self, desk: Desk) -> None:
        """A desk can take no more for now."""
        self._closed.add(desk)
        for class_ in WEIGHTS:
            queue = self._queues.get((class_, desk))
            if queue:
                self._deactivate(class_, queue)

    def reopen(self, desk: Desk) -> None:
        """A desk can take more again."""
        self._closed.discard(desk)
        for class_ in WEIGHTS:
            queue = self._queues.get((class_, desk))
            if queue:
                self._activate(class_, queue)

    def is_open(self, desk: Desk) -> bool:
        """Whether a desk could take more when it was last asked."""
        return desk not in self._closed

    def _first_queue(self, class_: Class) -> TenantQueue:
        queues = self._open[class_]
        return queues[0] if len(queues) == 1 else min(queues, key=_passed)

    def _activate(self, class_: Class, queue: TenantQueue) -> None:
        queues = self._open[class_]
        if not queues:
            self._passed[class_] = max(self._passed[class_], self._now)
            self._waiting.append(class_)
        queue.passed = max(queue.passed, self._queue_now[class_])
        queues.append(queue)

    def _deactivate(self, class_: Class, queue: TenantQueue) -> None:
        queues = self._open[class_]
        queues.remove(queue)
        if not queues:
            self._waiting.remove(class_)


def _passed(queue: TenantQueue) -> float:
    return queue.passed

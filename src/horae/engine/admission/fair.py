"""Turns: classes by their shares, inside a class tenants by their weights, inside a tenant one target after another."""

from collections import deque
from collections.abc import Callable
from uuid import UUID

from horae.domain.instances.instances import Priority
from horae.domain.limits.shares import WEIGHTS, Class
from horae.engine.admission.target import CallDispatcher, DueCall, Flow


class TenantQueue:
    """One class at one dispatcher: deficit round robin between its tenants.

    A tenant's turn is as many calls as its weight. The flows of a tenant take turns one call at a time, so that a
    target with many calls delays no other target. A parked tenant takes no turns, whatever is added for it. `passed`
    is the virtual time of this queue among the queues of the same class at other dispatchers.
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
        """Take the head out of the turns, because a gate holds it back. Its tenant keeps its turn."""
        self._flows[self._ring[0]].popleft()
        self._drop_if_idle()

    def park_head(self) -> None:
        """Take the tenant whose turn it is out of the turns, until `resume`."""
        tenant = self._ring[0]
        self._parked[tenant] = self._flows[tenant]
        self._leave(tenant)

    def resume(self, tenant: UUID) -> None:
        """A parked tenant takes turns again."""
        self._enter(tenant, self._parked.pop(tenant))

    def serve_head(self, *, more: bool) -> None:
        """One call of the head was served. With `more` the head goes behind the other flows of its tenant."""
        flows = self._flows[self._ring[0]]
        if more:
            flows.rotate(-1)
        else:
            flows.popleft()
        self._left -= 1
        if not self._drop_if_idle() and self._left <= 0:
            self._ring.rotate(-1)
            self._left = self._weights[self._ring[0]] = self._refresh_weight(self._ring[0])

    def _drop_if_idle(self) -> bool:
        """Remove the tenant whose turn it is if it has no flow left; returns whether it was removed."""
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

    def _refresh_weight(self, tenant: UUID) -> int:
        """Read a tenant's present weight again, and correct the sum."""
        weight = self.weight_of(tenant)
        self.weight += weight - self._weights[tenant]
        return weight


class Fair:
    """All classes at all dispatchers. The queues of a closed dispatcher take no turns.

    Weighted fair queueing by virtual time: a served call adds the inverse of the class's weight to its class, and the
    inverse of the sum of its tenants' weights to its queue. The class, and in it the queue, with the least is next.
    With `critical_first`, no other class takes turns while a critical one waits for its turn.
    """

    def __init__(self, weight_of: Callable[[UUID], int], *, critical_first: bool = False) -> None:
        self.weight_of = weight_of
        self.critical_first = critical_first
        self._queues: dict[tuple[Class, CallDispatcher], TenantQueue] = {}
        self._open: dict[Class, list[TenantQueue]] = {class_: [] for class_ in WEIGHTS}
        self._closed: set[CallDispatcher] = set()
        self._parked: dict[UUID, list[tuple[Class, CallDispatcher]]] = {}
        self._waiting: list[Class] = []
        self._passed = dict.fromkeys(WEIGHTS, 0.0)
        self._now = 0.0
        self._queue_now = dict.fromkeys(WEIGHTS, 0.0)

    def add(self, flow: Flow) -> None:
        """Let a flow take turns. A queue that was idle starts at the present virtual time: it has saved up nothing."""
        key = (flow.class_, flow.dispatcher)
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = TenantQueue(self.weight_of)
        was_idle = not queue
        queue.add(flow)
        flow.listed = True
        if was_idle and queue and flow.dispatcher not in self._closed:
            self._activate(flow.class_, queue)

    def next(self, may: Callable[[Class], bool]) -> Flow | None:
        """The flow whose turn it is, of the classes that may have a slot now. It is not removed."""
        while True:
            best = None
            passed = self._passed
            for class_ in self._first_classes() if self.critical_first else self._waiting:
                if (best is None or passed[class_] < passed[best]) and may(class_):
                    best = class_
            if best is None:
                return None
            flow = self._first_queue(best).head()
            if flow:
                return flow
            self.remove(flow)

    def serve(self, flow: Flow, now: float) -> DueCall:
        """Take the next call of the flow whose turn it is."""
        class_ = flow.class_
        queue = self._queues[class_, flow.dispatcher]
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
        """Take the flow whose turn it is out of the turns: it is empty, or a gate holds it back."""
        queue = self._queues[flow.class_, flow.dispatcher]
        queue.remove_head()
        flow.listed = False
        if not queue:
            self._deactivate(flow.class_, queue)

    def park(self, flow: Flow) -> None:
        """Take the tenant whose turn it is out of the turns of this class and dispatcher, until `resume`."""
        queue = self._queues[flow.class_, flow.dispatcher]
        queue.park_head()
        self._parked.setdefault(flow.tenant, []).append((flow.class_, flow.dispatcher))
        if not queue:
            self._deactivate(flow.class_, queue)

    def resume(self, tenant: UUID) -> None:
        """Let a tenant take turns again, in every class and dispatcher where it was parked."""
        for class_, dispatcher in self._parked.pop(tenant, ()):
            queue = self._queues[class_, dispatcher]
            was_idle = not queue
            queue.resume(tenant)
            if was_idle and dispatcher not in self._closed:
                self._activate(class_, queue)

    def close(self, dispatcher: CallDispatcher) -> None:
        """Take a full dispatcher out of the turns."""
        self._closed.add(dispatcher)
        for class_ in WEIGHTS:
            queue = self._queues.get((class_, dispatcher))
            if queue:
                self._deactivate(class_, queue)

    def reopen(self, dispatcher: CallDispatcher) -> None:
        """Let the queues of a dispatcher take turns again."""
        self._closed.discard(dispatcher)
        for class_ in WEIGHTS:
            queue = self._queues.get((class_, dispatcher))
            if queue:
                self._activate(class_, queue)

    def is_open(self, dispatcher: CallDispatcher) -> bool:
        """Whether a dispatcher had room when it was last asked."""
        return dispatcher not in self._closed

    def _first_classes(self) -> list[Class]:
        """The critical classes that wait; all classes if none of them is critical."""
        return [class_ for class_ in self._waiting if class_[0] == Priority.CRITICAL] or self._waiting

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

"""Calls that wait for limits that several nodes share, one queue per limit."""

from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Final, Protocol
from uuid import UUID

from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.limits.limits import Key, Limit
from horae.engine.admission.target import CallDispatcher, DueCall
from horae.engine.admission.waiting import LateFires, WaitingQueue

LIMIT_PATIENCE_S: Final = 2.0
"""Seconds that a fire may wait at a limit before it is recorded without a slot."""
QUEUES_CHECKED_AT_ONCE: Final = 256
READMITTED_AT_ONCE: Final = 512
"""Calls that one `recheck_queues` lets try again, beside one per queue. A limit without a slice has room for all."""
MAX_IDLE_QUEUES: Final = 10_000
MAX_ACCEPTED_PER_TENANT: Final = 20_000
"""Accepted attempts of a tenant that this node counts. Further calls that such a limit counts wait for their end."""


class Permits(Protocol):
    """The limits that several nodes share."""

    def take(self, key: Key, limit: Limit) -> bool:
        """Count one call against a limit, in memory; False when this node has no permit or place left."""
        ...

    def give(self, key: Key) -> None:
        """Return the permit of a counted call: it has ended, or it is not sent and counts against no rate."""
        ...

    def undo(self, key: Key) -> None:
        """Return the permit and the place of a call that was counted against a rate and is not sent."""
        ...

    def room(self, key: Key) -> int:
        """How many more calls could be counted now."""
        ...

    def wait(self, key: Key, many: int) -> None:
        """Report how many calls wait for a limit."""
        ...


class LimitQueue(WaitingQueue[DueCall]):
    """The calls that wait for one limit. The queue counts as held all the time.

    `reason` says whether a rate or a concurrency is exhausted, `waiting` how many calls wait per dispatcher.
    """

    __slots__ = ("key", "reason", "waiting")

    def __init__(self, key: Key, now: float) -> None:
        super().__init__()
        self.key = key
        self.reason = HoldReason.RATE
        self.waiting: dict[CallDispatcher, int] = {}
        self.hold(LIMIT_PATIENCE_S, now)

    def add(self, ready: DueCall, now: float, *, first: bool = False) -> None:
        """Add a call at the end, or at the front."""
        super().add(ready, now, first=first)
        self.waiting[ready.dispatcher] = self.waiting.get(ready.dispatcher, 0) + 1

    def _leave(self, ready: DueCall, now: float) -> None:
        super()._leave(ready, now)
        self.waiting[ready.dispatcher] -= 1


class LimitGate:
    """Counts calls against their limits, with a queue per exhausted limit. `requeue` offers a call to admission again.

    - `_owed`: per key, permits to take for accepted work, before any waiting call gets one.
    - `_readers`: the cells whose accepted work is still to be read. Until then no more concurrent work is counted.
    - `_over_bound`: the tenants with as much accepted work as this node counts.
    """

    def __init__(
        self, permits: Permits, requeue: Callable[[DueCall], None], now: Callable[[], float], late: LateFires[DueCall]
    ) -> None:
        self._permits, self._requeue, self._now, self._late = permits, requeue, now, late
        self._queues: dict[Key, LimitQueue] = {}
        self._ring: deque[LimitQueue] = deque()
        self._size = 0
        self._most_queues = MAX_IDLE_QUEUES
        self._owed: dict[Key, tuple[int, Limit]] = {}
        self._readers: set[object] = set()
        self._accepted: Counter[UUID] = Counter()
        self._over_bound: set[UUID] = set()

    def __len__(self) -> int:
        return self._size

    def count(self, ready: DueCall, limits: Sequence[tuple[Key, Limit]]) -> HoldReason | None:
        """Count a call against all its limits. At the first exhausted limit it waits; returns the reason.

        1. A key that is named twice counts the call once.
        2. On a refusal the permits taken so far are returned, and one call that waits for each of them may try again.
        3. So a refused call changes no limit. A call that tries again because of it can only move on to another queue,
           and `dispatch` does not run in a circle.
        """
        taken: list[Key] = []
        rated: list[Key] = []
        for key, limit in limits:
            if key in taken:
                continue
            if self._take(key, limit):
                taken.append(key)
                if limit.rate is not None:
                    rated.append(key)
                continue
            for other in taken:
                (self._permits.undo if other in rated else self._permits.give)(other)
                self._readmit(other, 1)  # a call that only waits for that limit
            queue = self._queue_of(key)
            queue.add(ready, self._now(), first=ready.held_ms > 0)
            self._size += 1
            self._late.watch(queue)
            queue.reason = HoldReason.RATE if limit.concurrency is None else HoldReason.CONCURRENCY
            return queue.reason
        ready.quotas, ready.paces = tuple(taken), tuple(rated)
        if rated:
            ready.admitted_at = self._now()
        return None

    def count_accepted(self, limits: Sequence[tuple[Key, Limit]]) -> None:
        """Count work that runs already. A missing permit is owed: it is taken before any waiting call gets one."""
        for key, limit in limits:
            many, _ = self._owed.get(key, (0, limit))
            self._owed[key] = (many + 1, Limit(concurrency=limit.concurrency))
            self._take_owed(key)

    def take_all_owed(self) -> None:
        """Take the permits that are owed, as far as the limits have some."""
        for key in list(self._owed):
            self._take_owed(key)

    def release(self, keys: Sequence[Key]) -> None:
        """Accepted work has ended: return its permits, and let the next waiting call try again."""
        for key in keys:
            many, limit = self._owed.get(key, (0, None))
            if many > 1 and limit is not None:
                self._owed[key] = (many - 1, limit)
            elif many == 1:
                del self._owed[key]
            else:
                self._permits.give(key)
            if self._queues.get(key):
                self._readmit(key, min(1, self._permits.room(key)))

    def add_accepted(self, tenant_id: UUID) -> None:
        """Count one more accepted attempt of a tenant."""
        self._accepted[tenant_id] += 1
        if self._accepted[tenant_id] >= MAX_ACCEPTED_PER_TENANT:
            self._over_bound.add(tenant_id)

    def end_accepted(self, tenant_id: UUID) -> None:
        """Count one accepted attempt less. Calls that waited for this try again in `recheck_queues`."""
        self._accepted[tenant_id] -= 1
        if self._accepted[tenant_id] < MAX_ACCEPTED_PER_TENANT:
            self._over_bound.discard(tenant_id)
        if not self._accepted[tenant_id]:
            del self._accepted[tenant_id]

    def block(self, reader: object) -> None:
        """Block concurrency limits of instances until `unblock`: `reader` has yet to read what runs already."""
        self._readers.add(reader)

    def unblock(self, reader: object) -> None:
        """End the block of a reader: it has read what runs, or could not."""
        self._readers.discard(reader)
        if not self._readers:
            self.recheck_queues()

    def release_call(self, ready: DueCall, kept: Sequence[Key] = ()) -> None:
        """A counted call has ended, or is not sent: return its permits, except those in `kept`, which stay counted."""
        goes_on = tuple(key for key in ready.quotas if key in kept) if kept else ()
        left = [key for key in ready.quotas if key not in kept] if kept else list(ready.quotas)
        while left:
            key = left.pop()
            ready.quotas = (*left, *goes_on)  # before anything can fail, so that no permit is returned twice
            (self._permits.undo if key in ready.paces else self._permits.give)(key)
            if self._queues.get(key):
                self._readmit(key, min(1, self._permits.room(key)))
        ready.paces = ()

    def on_grant(self, key: Key) -> None:
        """A limit allows more calls: let as many waiting calls try again."""
        self._readmit(key, self._permits.room(key))

    def recheck_queues(self) -> None:
        """Let at least one call of some queues try again: a wake-up may have been lost, or the limit was removed."""
        more = READMITTED_AT_ONCE
        for _ in range(min(len(self._ring), QUEUES_CHECKED_AT_ONCE)):
            queue = self._ring[0]
            self._ring.rotate(-1)
            if queue:
                waiting = len(queue)
                self._readmit(queue.key, max(1, min(self._permits.room(queue.key), more)))
                more -= waiting - len(queue)

    def count_removed(self) -> None:
        """Count one waiting call less: it left its queue to be recorded."""
        self._size -= 1

    def clear(self) -> None:
        """Drop all waiting calls."""
        self._queues.clear()
        self._ring.clear()
        self._size = 0

    def _take(self, key: Key, limit: Limit) -> bool:
        if (self._readers or self._over_bound) and limit.concurrency is not None and self._is_blocked(key):
            return False
        if key in self._owed and not self._take_owed(key):
            return False
        return self._permits.take(key, limit)

    def _is_blocked(self, key: Key) -> bool:
        """Whether a concurrency limit of instances is blocked now, by a reader or by too much accepted work."""
        return not key.counts_requests and (bool(self._readers) or key.tenant_id in self._over_bound)

    def _take_owed(self, key: Key) -> bool:
        """Take the permits that are owed for a key; returns whether none is owed any more."""
        many, limit = self._owed[key]
        while many and self._permits.take(key, limit):
            many -= 1
        if many:
            self._owed[key] = (many, limit)
        else:
            del self._owed[key]
        return not many

    def _queue_of(self, key: Key) -> LimitQueue:
        queue = self._queues.get(key)
        if queue is None:
            if len(self._queues) >= self._most_queues:
                self._forget_idle()
            queue = self._queues[key] = LimitQueue(key, self._now())
            self._ring.append(queue)
        return queue

    def _forget_idle(self) -> None:
        """Forget empty queues. It runs again only after the number in use has doubled, so the cost is amortised."""
        self._queues = {key: queue for key, queue in self._queues.items() if queue}
        self._ring = deque(self._queues.values())
        self._most_queues = max(MAX_IDLE_QUEUES, 2 * len(self._queues))

    def _readmit(self, key: Key, most: int) -> None:
        """Let at most `most` waiting calls of a limit try again, and report to the limit how many still wait."""
        queue = self._queues.get(key)
        if not queue or (queue.reason == HoldReason.CONCURRENCY and self._is_blocked(key)):
            return
        now = self._now()
        freed = [queue.pop(now) for _ in range(min(most, len(queue)))]
        self._size -= len(freed)
        if queue:
            self._permits.wait(key, len(queue))
        for ready in reversed(freed):
            self._requeue(ready)

"""Those who wait for a limit that several nodes share, in the order they came."""

from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Final, Protocol
from uuid import UUID

from horae.domain.admission import HoldReason
from horae.domain.limits import Key, Limit
from horae.engine.admission.ready import Desk, Ready
from horae.engine.admission.waiting import LateFires, WaitingQueue

PATIENCE_S: Final = 2.0
"""Seconds a fire may wait at a limit before it is recorded."""
QUEUES_ASKED_AT_ONCE: Final = 256
READMITTED_AT_ONCE: Final = 512
"""Calls that periodic looks let ask again, beside one of each queue: of a limit that is not known all of them would."""
MAX_IDLE_QUEUES: Final = 10_000
MAX_ACCEPTED_PER_TENANT: Final = 20_000
"""Accepted attempts of a tenant that limits count here; what more it has to call waits until some have ended."""


class Permits(Protocol):
    """The limits that several nodes share."""

    def take(self, key: Key, limit: Limit) -> bool:
        """Count one call against a limit, from memory; False when this node has none left."""
        ...

    def give(self, key: Key) -> None:
        """A call that was counted has ended, or is not made and counts against no rate."""
        ...

    def undo(self, key: Key) -> None:
        """A call that was counted against a rate has not left, and will not."""
        ...

    def room(self, key: Key) -> int:
        """How many more could be counted now."""
        ...

    def wait(self, key: Key, many: int) -> None:
        """So many wait for it."""
        ...


class LimitQueue(WaitingQueue):
    """Those who wait for one limit. It is held as long as it stands.

    `reason` is what the limit is of, `waiting` how many wait for each desk.
    """

    __slots__ = ("key", "reason", "waiting")

    def __init__(self, key: Key, now: float) -> None:
        super().__init__()
        self.key = key
        self.reason = HoldReason.RATE
        self.waiting: dict[Desk, int] = {}
        self.hold(PATIENCE_S, now)

    def add(self, ready: Ready, now: float, *, first: bool = False) -> None:
        """Wait behind the others, or before them."""
        super().add(ready, now, first=first)
        self.waiting[ready.desk] = self.waiting.get(ready.desk, 0) + 1

    def _leave(self, ready: Ready, now: float) -> None:
        super()._leave(ready, now)
        self.waiting[ready.desk] -= 1


class Limited:
    """Counts calls against their limits, and has a queue for each limit that had none left. `again` asks anew."""

    def __init__(
        self, permits: Permits, again: Callable[[Ready], None], now: Callable[[], float], late: LateFires
    ) -> None:
        self._permits, self._again, self._now, self._late = permits, again, now, late
        self._queues: dict[Key, LimitQueue] = {}
        self._ring: deque[LimitQueue] = deque()
        self._size = 0
        self._most_queues = MAX_IDLE_QUEUES
        self._owed: dict[Key, tuple[int, Limit]] = {}
        self._readers: set[object] = set()
        self._accepted: Counter[UUID] = Counter()
        self._crowded: set[UUID] = set()

    def __len__(self) -> int:
        return self._size

    def count(self, ready: Ready, limits: Sequence[tuple[Key, Limit]]) -> HoldReason | None:
        """Count a call against its limits; at the first that has none left it waits, and this says why.

        A key that is named twice counts it once. A call that is refused changes no limit then, so whoever it lets ask
        again can at most move on to another queue: no dispatch goes round and round.
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
                self._readmit(other, 1)  # someone whom only that one holds back
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
        """Count what runs already. Where a limit has no permit left it is owed one, before anyone else gets any."""
        for key, limit in limits:
            many, _ = self._owed.get(key, (0, limit))
            self._owed[key] = (many + 1, Limit(concurrency=limit.concurrency))
            self._pay(key)

    def pay_all(self) -> None:
        """Take the permits that are owed, as far as there are any."""
        for key in list(self._owed):
            self._pay(key)

    def release(self, keys: Sequence[Key]) -> None:
        """What these limits counted has ended: the next one may ask."""
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
        """A target has accepted an attempt that goes on being counted."""
        self._accepted[tenant_id] += 1
        if self._accepted[tenant_id] >= MAX_ACCEPTED_PER_TENANT:
            self._crowded.add(tenant_id)

    def end_accepted(self, tenant_id: UUID) -> None:
        """One of them has ended. Whoever waits for that asks again by `ask_again`."""
        self._accepted[tenant_id] -= 1
        if self._accepted[tenant_id] < MAX_ACCEPTED_PER_TENANT:
            self._crowded.discard(tenant_id)
        if not self._accepted[tenant_id]:
            del self._accepted[tenant_id]

    def stand_still(self, reader: object) -> None:
        """Somebody has yet to read what runs: until `go_on` nothing more is counted that may run at once with it."""
        self._readers.add(reader)

    def go_on(self, reader: object) -> None:
        """It was read, as far as that was possible."""
        self._readers.discard(reader)
        if not self._readers:
            self.ask_again()

    def let_go(self, ready: Ready, kept: Sequence[Key] = ()) -> None:
        """A call that was counted has ended, or is not made: the next one may ask. Some keys may go on counting it."""
        goes_on = tuple(key for key in ready.quotas if key in kept) if kept else ()
        left = [key for key in ready.quotas if key not in kept] if kept else list(ready.quotas)
        while left:
            key = left.pop()
            ready.quotas = (*left, *goes_on)  # before anything can fail: none is given back twice
            (self._permits.undo if key in ready.paces else self._permits.give)(key)
            if self._queues.get(key):
                self._readmit(key, min(1, self._permits.room(key)))
        ready.paces = ()

    def granted(self, key: Key) -> None:
        """A limit allows some more: as many of those who waited for it ask again."""
        self._readmit(key, self._permits.room(key))

    def ask_again(self) -> None:
        """One of each of some limits at least: it may have been forgotten there, or the limit was lifted."""
        more = READMITTED_AT_ONCE
        for _ in range(min(len(self._ring), QUEUES_ASKED_AT_ONCE)):
            queue = self._ring[0]
            self._ring.rotate(-1)
            if queue:
                waiting = len(queue)
                self._readmit(queue.key, max(1, min(self._permits.room(queue.key), more)))
                more -= waiting - len(queue)

    def left(self) -> None:
        """One who waited for a limit has left to be recorded."""
        self._size -= 1

    def clear(self) -> None:
        """Let go of everyone who waits."""
        self._queues.clear()
        self._ring.clear()
        self._size = 0

    def _take(self, key: Key, limit: Limit) -> bool:
        if (self._readers or self._crowded) and limit.concurrency is not None and self._stands_still(key):
            return False
        if key in self._owed and not self._pay(key):
            return False
        return self._permits.take(key, limit)

    def _stands_still(self, key: Key) -> bool:
        """Whether nothing more is counted now that may run at once with what a limit of concurrency counts."""
        return not key.counts_requests and (bool(self._readers) or key.tenant_id in self._crowded)

    def _pay(self, key: Key) -> bool:
        """Take the permits that are owed; whether none is any more."""
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
        """Twice as many as are in use may come before it is done again: its cost is shared by that many."""
        self._queues = {key: queue for key, queue in self._queues.items() if queue}
        self._ring = deque(self._queues.values())
        self._most_queues = max(MAX_IDLE_QUEUES, 2 * len(self._queues))

    def _readmit(self, key: Key, most: int) -> None:
        """Let as many as may pass a limit now ask again; the limit knows how many are left waiting."""
        queue = self._queues.get(key)
        if not queue or (queue.reason == HoldReason.CONCURRENCY and self._stands_still(key)):
            return
        now = self._now()
        freed = [queue.pop(now) for _ in range(min(most, len(queue)))]
        self._size -= len(freed)
        if queue:
            self._permits.wait(key, len(queue))
        for ready in reversed(freed):
            self._again(ready)

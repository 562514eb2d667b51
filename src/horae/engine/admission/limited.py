"""Those who wait for a limit that several nodes share, in the order they came."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from horae.domain.admission import HoldReason
from horae.domain.limits import Key, Limit
from horae.engine.admission.ready import Ready, late_fires


class Permits(Protocol):
    """The limits that several nodes share."""

    def take(self, key: Key, limit: Limit) -> bool:
        """Count one call against a limit, from memory; False when this node has none left."""
        ...

    def give(self, key: Key) -> None:
        """A call that was counted has ended."""
        ...

    def undo(self, key: Key) -> None:
        """A call that was counted is not made."""
        ...

    def room(self, key: Key) -> int:
        """How many more could be counted now."""
        ...

    def wait(self, key: Key, many: int) -> None:
        """So many wait for it."""
        ...


class Limited:
    """Counts calls against their limits, and has a queue for each limit that had none left. `again` asks anew."""

    def __init__(self, permits: Permits, again: Callable[[Ready], None], now: Callable[[], float]) -> None:
        self._permits, self._again, self._now = permits, again, now
        self._queues: dict[Key, deque[Ready]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def count(self, ready: Ready, limits: Sequence[tuple[Key, Limit]]) -> HoldReason | None:
        """Count a call against its limits; at the first that has none left it waits, and this says why."""
        taken: list[Key] = []
        for key, limit in limits:
            if self._permits.take(key, limit):
                taken.append(key)
                continue
            for other in taken:
                self._permits.undo(other)
                self._readmit(other, 1)  # someone whom only that one holds back
            queue = self._queues.setdefault(key, deque())
            (queue.appendleft if ready.held_ms else queue.append)(ready)
            ready.park(self._now())
            return HoldReason.RATE if limit.concurrency is None else HoldReason.CONCURRENCY
        ready.quotas = tuple(taken)
        return None

    def let_go(self, ready: Ready, *, made: bool) -> None:
        """A call that was counted has ended, or is not made: the next one may ask."""
        for key in ready.quotas:
            (self._permits.give if made else self._permits.undo)(key)
            self._readmit(key, min(1, self._permits.room(key)))
        ready.quotas = ()

    def granted(self, key: Key) -> None:
        """A limit allows some more: as many of those who waited for it ask again."""
        self._readmit(key, self._permits.room(key))

    def ask_again(self) -> None:
        """One of each at least: it may have been forgotten there, or the limit was lifted."""
        for key in list(self._queues):
            self._readmit(key, max(1, self._permits.room(key)))

    def late(self, longer_than: float, most: int) -> list[Ready]:
        """Fires that have waited without being recorded yet; they leave for that."""
        found: list[Ready] = []
        for queue in self._queues.values():
            found += late_fires(queue, self._now(), longer_than, most - len(found))
        return found

    def clear(self) -> None:
        """Let go of everyone who waits."""
        self._queues.clear()

    def _readmit(self, key: Key, most: int) -> None:
        """Let as many as may pass a limit now ask again; the limit knows how many are left waiting."""
        queue = self._queues.get(key)
        if queue is None:
            return
        now = self._now()
        freed = [queue.popleft() for _ in range(min(most, len(queue)))]
        if queue:
            self._permits.wait(key, len(queue))
        else:
            del self._queues[key]
        for ready in reversed(freed):
            ready.unpark(now)
            self._again(ready)

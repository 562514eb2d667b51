"""A queue of calls that wait for the same thing, and the watch over fires that wait in it unrecorded."""

import heapq
from collections import deque
from collections.abc import Container
from itertools import count
from typing import Final, Generic, Protocol, Self, TypeVar
from uuid import UUID

from horae.domain.schedules.timers import Timer

MIN_STALE_ENTRIES: Final = 64
"""A queue is not cleaned up below this number of stale entries, of calls that left before their turn."""


class QueuedCall(Protocol):
    """What a queue uses of a call."""

    queue: "WaitingQueue[Self] | None"
    entered_at_s: float

    @property
    def timer(self) -> Timer:
        """The timer that is due."""

    @property
    def held_ms(self) -> int:
        """How long gates have held the call so far."""

    def unrecorded_s(self, wall: float) -> float:
        """Seconds by which an unrecorded fire is late; zero if its row exists already."""

    def add_held(self, seconds: float) -> None:
        """Add a time for which a gate held this call."""


Call = TypeVar("Call", bound=QueuedCall)


class WaitingQueue(Generic[Call]):
    """First come, first served. Each method takes constant time, amortised, however many calls wait.

    An unrecorded fire (one without a row) may leave before its turn. Its entry stays until its turn comes, or until
    half of all entries are stale.

    While the queue is `held`, a gate is closed. That time counts as `held_ms` for every call in it, and a fire that is
    late by more than `patience_s` is to be recorded. `watched_at` belongs to `LateFires`.
    """

    __slots__ = ("_entries", "_held_at", "_held_s", "_size", "_unrecorded", "patience_s", "watched_at")

    def __init__(self) -> None:
        self.patience_s: float | None = None
        self.watched_at: float | None = None
        self._entries: deque[Call] = deque()
        self._unrecorded: deque[Call] | None = None
        self._size = 0
        self._held_at: float | None = None
        self._held_s = 0.0

    def __len__(self) -> int:
        return self._size

    @property
    def held(self) -> bool:
        """Whether a gate is closed for the calls in this queue."""
        return self._held_at is not None

    def first_held_s(self, now: float) -> float:
        """Seconds for which gates have held the call that came first. The queue must not be empty."""
        ready = self.first()
        return ready.held_ms / 1000 + self._held_until(now) - ready.entered_at_s

    def hold(self, patience_s: float, now: float) -> None:
        """Start counting held time: a gate has closed. Called again, it only changes the patience."""
        self.patience_s = patience_s
        if self._held_at is None:
            self._held_at = now

    def resume(self, now: float) -> None:
        """Stop counting held time: the gate is open again."""
        if self._held_at is not None:
            self._held_s += max(0.0, now - self._held_at)
            self._held_at = None

    def add(self, ready: Call, now: float, *, first: bool = False) -> None:
        """Add a call at the end, or at the front."""
        ready.queue = self
        ready.entered_at_s = self._held_s if self._held_at is None else self._held_until(now)
        self._size += 1
        if first:
            self._entries.appendleft(ready)
        else:
            self._entries.append(ready)
        if ready.timer.fired is not None:
            if self._unrecorded is None:
                self._unrecorded = deque()
            if first:
                self._unrecorded.appendleft(ready)
            else:
                self._unrecorded.append(ready)

    def first(self) -> Call:
        """The next call, which stays in the queue. The queue must not be empty."""
        while self._entries[0].queue is not self:
            self._entries.popleft()
        return self._entries[0]

    def pop(self, now: float) -> Call:
        """Remove and return the next call. The queue must not be empty."""
        ready = self.first()
        self._entries.popleft()
        self._leave(ready, now)
        return ready

    def drop_first(self, gone: Container[UUID], now: float) -> list[Call]:
        """Remove and return the calls at the front whose instances are gone."""
        found: list[Call] = []
        for entries in self._parts():
            while self._drop_stale(entries) and entries[0].timer.id in gone:
                found.append(entries.popleft())
                self._leave(found[-1], now)
        return found

    def pop_late(self, now: float, most: int, wall: float) -> list[Call]:
        """Remove and return unrecorded fires that are late by more than the patience."""
        found: list[Call] = []
        queue, patience_s = self._unrecorded, self.patience_s
        if queue is None or patience_s is None:
            return found
        while len(found) < most and self._drop_stale(queue) and queue[0].unrecorded_s(wall) > patience_s:
            ready = queue.popleft()
            self._leave(ready, now)
            found.append(ready)
        self._tidy()
        return found

    def late_at(self) -> float | None:
        """The wall time at which the first unrecorded fire becomes too late; None if there is no unrecorded fire."""
        if self._unrecorded is None or self.patience_s is None or not self._drop_stale(self._unrecorded):
            return None
        return self._unrecorded[0].timer.at.timestamp() + self.patience_s

    def _parts(self) -> tuple[deque[Call], ...]:
        """The parts of the queue, each in the order in which its calls came."""
        return (self._entries,)

    def _held_until(self, now: float) -> float:
        """Seconds for which the queue has been held in all, up to now."""
        return self._held_s if self._held_at is None else self._held_s + max(0.0, now - self._held_at)

    def _leave(self, ready: Call, now: float) -> None:
        ready.queue = None
        ready.add_held(self._held_until(now) - ready.entered_at_s)
        self._size -= 1
        if self._unrecorded:
            self._drop_stale(self._unrecorded)

    def _drop_stale(self, entries: deque[Call]) -> bool:
        """Drop entries at the front whose calls have left; returns whether an entry remains."""
        while entries and entries[0].queue is not self:
            entries.popleft()
        return bool(entries)

    def _tidy(self) -> None:
        if sum(map(len, self._parts())) - self._size > max(self._size, MIN_STALE_ENTRIES):
            for entries in self._parts():
                waiting = [ready for ready in entries if ready.queue is self]
                entries.clear()
                entries.extend(waiting)


class LateFires(Generic[Call]):
    """Finds fires that are too late to stay unrecorded, without a look at the other queues.

    Lateness is measured in wall time, because fires are due by it. Held time is measured in steady ticks.
    """

    def __init__(self) -> None:
        self._watched: list[tuple[float, int, WaitingQueue[Call]]] = []
        self._order = count()

    def watch(self, queue: WaitingQueue[Call]) -> None:
        """Plan a look at a held queue for when its first fire becomes too late. The earliest plan counts."""
        at = queue.late_at()
        if at is not None and (queue.watched_at is None or at < queue.watched_at):
            queue.watched_at = at
            heapq.heappush(self._watched, (at, next(self._order), queue))

    def pop(self, now: float, most: int, wall: float) -> list[tuple[WaitingQueue[Call], Call]]:
        """Remove at most `most` fires that are too late; returns them with their queues."""
        found: list[tuple[WaitingQueue[Call], Call]] = []
        while self._watched and self._watched[0][0] < wall and len(found) < most:
            at, _, queue = heapq.heappop(self._watched)
            if queue.watched_at != at:
                continue  # the queue is planned for an earlier time, or was looked at since
            queue.watched_at = None
            if queue.held:
                found += [(queue, ready) for ready in queue.pop_late(now, most - len(found), wall)]
                self.watch(queue)
        return found

    def clear(self) -> None:
        """Forget all queues."""
        for _, _, queue in self._watched:
            queue.watched_at = None
        self._watched.clear()

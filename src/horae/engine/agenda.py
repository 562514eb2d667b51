"""The timers of one cell that are due soon. They are hints: a stale one fails its claim, a lost one is read again.

A timer is known from the moment it is offered until it is fired, claimed or given up. So a second scan of the same row
changes nothing.

The timers of one tenant and class, either cursors or instances, are a group. A group with very many timers is *deep*:

1. It has a bookmark, a time. What is due from there on stays in its row, also the next fire of a cursor.
2. What is due before the bookmark is taken as usual. If even that is too much, the bookmark moves back.
3. When enough of its timers are forgotten, the feeder reads on from the bookmark.

So the backlog of one tenant takes no memory from other tenants, and does not delay the tenant's other classes.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from horae.domain.instances.instances import Lane, Priority
from horae.domain.limits.shares import Class
from horae.domain.schedules.timers import Timer
from horae.engine.wheel import Wheel

MOST: Final = 300_000
DEEP: Final = 100_000
"""Timers from which on a group is deep. Twice as many may be known, with the ones before its bookmark."""
NEVER_MS: Final = 1 << 62
WRITE_AHEAD_MS: Final = 4
WRITE_AHEAD: Final = timedelta(milliseconds=WRITE_AHEAD_MS)
"""How long before its due time a fire is written, so that it can be sent when it is due. Nothing is sent early."""


Group = tuple[UUID, Priority, Lane, bool]
"""A tenant, a class (priority and lane), and whether the timers are cursors."""


def group_of(timer: Timer) -> Group:
    """The group that a timer belongs to."""
    return timer.tenant_id, timer.priority, timer.lane, timer.fired is not None


def millis(at: datetime) -> int:
    """A time in milliseconds, rounded up so that no timer is early."""
    return -int(-at.timestamp() * 1000 // 1)


class Agenda:
    """Timers in a timing wheel, each once, with a count per group. `deep` has the bookmarks.

    `hungry` is called when a deep group has room again: it wakes the feeder. `has_time=False`: the cell's clock has not
    been read yet. The wheel begins at 1970 and jumps at the first `take`.
    """

    def __init__(
        self,
        now: Callable[[], datetime],
        wake: Callable[[], None] = lambda: None,
        hungry: Callable[[], None] = lambda: None,
        *,
        has_time: bool = True,
    ) -> None:
        self.now = now
        self.wake = wake
        self.on_room = hungry
        self.deep: dict[Group, datetime] = {}
        self.held: frozenset[UUID] = frozenset()  # paused or removed tenants: their rows are not read
        self.withheld_classes: frozenset[Class] = frozenset()  # a measure withholds them: their rows are not read
        self.critical_first = False  # a measure says so: critical rows are read before all others
        self.forgotten = 0  # counts `forget`; a forgotten timer may still wait in its row
        self._wheel: Wheel[Timer] = Wheel(millis(now()) if has_time else 0)
        self._due: deque[Timer] = deque()
        self._planned_ms = NEVER_MS
        self._known: dict[UUID, Timer] = {}
        self._counts: Counter[Group] = Counter()

    def __len__(self) -> int:
        return len(self._known)

    @property
    def full(self) -> bool:
        """Whether the feeder should not read further ahead."""
        return len(self._known) >= MOST

    def offer(self, timers: Iterable[Timer]) -> None:
        """Remember timers until they are due.

        1. A timer that is known with the same time is left alone.
        2. So is a cursor that was read before this node fired it: its next fire is known already.
        3. A timer of a deep group is left in its row if it is due at the bookmark or later.
        4. If its group is full, its time becomes the bookmark, and it is left in its row.
        """
        known, counts, deep, put = self._known, self._counts, self.deep, self._wheel.put
        earliest = self._planned_ms
        for timer in timers:
            before = known.get(timer.id)
            if before is not None and (before.at == timer.at or _has_fired_since(timer, before)):
                continue
            group = group_of(timer)
            if deep and group in deep and timer.at >= deep[group]:
                continue
            if before is None:
                if counts[group] >= DEEP and self._leave(group, timer.at):
                    continue
                counts[group] += 1
            elif (old := group_of(before)) != group:
                self._count_out(old)
                counts[group] += 1
            known[timer.id] = timer
            at_ms = millis(timer.at)
            put(at_ms, timer)
            earliest = min(earliest, at_ms)
        if earliest < self._planned_ms:
            self._planned_ms = earliest
            self.wake()

    def take(self, most: int) -> list[Timer]:
        """Take at most `most` timers that are due, or will be within 4 ms. They stay known until they are forgotten."""
        now_ms = int(self.now().timestamp() * 1000)  # rounded down, so that the claim finds the row due
        self._due += self._wheel.take(now_ms + WRITE_AHEAD_MS)
        known, due = self._known, self._due
        taken = [due.popleft() for _ in range(min(most, len(due)))]
        return [timer for timer in taken if (one := known.get(timer.id)) is not None and one.at == timer.at]

    @property
    def has_due(self) -> bool:
        """Whether due timers remain that were not taken."""
        return bool(self._due)

    def soon(self) -> list[Timer]:
        """The timers that are due in the next second."""
        return self._wheel.soon()

    def forget(self, timer: Timer) -> None:
        """Drop a timer: it was fired, claimed or given up, or its shard is no longer ours."""
        known = self._known.get(timer.id)
        if known is not None and known.at == timer.at:
            del self._known[timer.id]
            self.forgotten += 1
            group = group_of(known)
            if self._count_out(group) == DEEP // 2 and group in self.deep:
                self.on_room()

    def wait_s(self) -> float | None:
        """Seconds until the next timer; None if there is none. `wake` is called when an earlier timer is offered."""
        next_ms = self._wheel.next_ms()
        self._planned_ms = NEVER_MS if next_ms is None else next_ms
        return None if next_ms is None else max(0.0, (next_ms - WRITE_AHEAD_MS) / 1000 - self.now().timestamp())

    def has_room(self, group: Group) -> bool:
        """Whether the feeder may read on from the bookmark of a deep group."""
        return self._counts[group] <= DEEP // 2

    def _leave(self, group: Group, at: datetime) -> bool:
        """Set the bookmark of a full group to a timer's time; returns whether the timer is left in its row.

        A timer before an existing bookmark is taken, until twice `DEEP` timers of the group are known.
        """
        left = group not in self.deep or self._counts[group] >= 2 * DEEP
        if left:
            self.deep[group] = at
        return left

    def _count_out(self, group: Group) -> int:
        """Count one timer of a group less; returns how many remain."""
        left = self._counts[group] - 1
        if left:
            self._counts[group] = left
        else:
            del self._counts[group]
        return left


def _has_fired_since(read: Timer, known: Timer) -> bool:
    """Whether a cursor has fired since it was read."""
    if read.fired is None or known.fired is None:
        return False
    return (known.version, known.fired) > (read.version, read.fired)

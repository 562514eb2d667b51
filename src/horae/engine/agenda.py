"""What this node knows to be due soon, in one cell. A hint: stale entries fail the claim, lost ones are fed again.

A timer is known from the moment it is offered until it was fired, claimed or given up, so that a second look at the
same row changes nothing.

The timers of one tenant and class, cursors or instances, are a group. A group with very many timers is deep:

1. It has a bookmark. What is due from there on stays in its row, also a cursor that was fired and goes on.
2. What is due before the bookmark is taken as of any other group. Where even that is too much, the bookmark comes back.
3. As its timers are forgotten, there is room: the feeder reads on from the bookmark.

So one tenant's backlog costs the others neither memory nor their place, and the tenant's other classes nothing.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from horae.domain.instances import Lane, Priority
from horae.domain.timers import Timer
from horae.engine.wheel import Wheel

MOST: Final = 300_000
DEEP: Final = 100_000
"""Timers of a group from which on it is deep. Twice as many may be known of it, with those before its bookmark."""
NEVER_MS: Final = 1 << 62
AHEAD_MS: Final = 4
AHEAD: Final = timedelta(milliseconds=AHEAD_MS)
"""So long before its time a fire is written, so that it can be sent when it is due; nothing is sent early."""


Group = tuple[UUID, Priority, Lane, bool]
"""A tenant, a class, and whether they are cursors."""


def group_of(timer: Timer) -> Group:
    """The group that a timer belongs to."""
    return timer.tenant_id, timer.priority, timer.lane, timer.fired is not None


def millis(at: datetime) -> int:
    """A time in the wheel's unit, rounded up: nothing is early."""
    return -int(-at.timestamp() * 1000 // 1)


class Agenda:
    """Timers in a wheel, each once, and how many of them each group has. `deep` has the bookmarks.

    `has_time=False`: the cell has not told its time yet. The wheel begins at 1970, and jumps at the first look.
    """

    def __init__(
        self, now: Callable[[], datetime], wake: Callable[[], None] = lambda: None, *, has_time: bool = True
    ) -> None:
        self.now = now
        self.wake = wake
        self.hungry: Callable[[], None] = lambda: None  # called when a deep group has room: there is more to look for
        self.deep: dict[Group, datetime] = {}
        self.held: frozenset[UUID] = frozenset()  # tenants whose rows are left where they are
        self.forgotten = 0  # how often; what was forgotten may still wait in its row
        self._wheel: Wheel[Timer] = Wheel(millis(now()) if has_time else 0)
        self._due: deque[Timer] = deque()
        self._planned_ms = NEVER_MS
        self._known: dict[UUID, Timer] = {}
        self._counts: Counter[Group] = Counter()

    def __len__(self) -> int:
        return len(self._known)

    @property
    def full(self) -> bool:
        """Whether feeding further ahead should wait."""
        return len(self._known) >= MOST

    def offer(self, timers: Iterable[Timer]) -> None:
        """Remember timers until they are due. One that is known with the same time already is left alone.

        So is a cursor that was read before this node fired it, and comes late: its next fire is known already.
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
        """At most so many of what has come due, or does so in a moment. It stays known until it is forgotten."""
        now_ms = int(self.now().timestamp() * 1000)  # rounded down: its claim must find it due
        self._due += self._wheel.take(now_ms + AHEAD_MS)
        known, due = self._known, self._due
        taken = [due.popleft() for _ in range(min(most, len(due)))]
        return [timer for timer in taken if (one := known.get(timer.id)) is not None and one.at == timer.at]

    @property
    def has_due(self) -> bool:
        """Whether more has come due than was taken."""
        return bool(self._due)

    def soon(self) -> list[Timer]:
        """What comes due in the second after this one."""
        return self._wheel.soon()

    def forget(self, timer: Timer) -> None:
        """It was fired, claimed, or is not ours any more."""
        known = self._known.get(timer.id)
        if known is not None and known.at == timer.at:
            del self._known[timer.id]
            self.forgotten += 1
            group = group_of(known)
            if self._count_out(group) == DEEP // 2 and group in self.deep:
                self.hungry()

    def wait_s(self) -> float | None:
        """Seconds until the next timer; None when there is none. Whoever sleeps so long is woken for an earlier one."""
        next_ms = self._wheel.next_ms()
        self._planned_ms = NEVER_MS if next_ms is None else next_ms
        return None if next_ms is None else max(0.0, (next_ms - AHEAD_MS) / 1000 - self.now().timestamp())

    def has_room(self, group: Group) -> bool:
        """Whether a deep group's rows may be fed again."""
        return self._counts[group] <= DEEP // 2

    def _leave(self, group: Group, at: datetime) -> bool:
        """Leave a timer in its row, with a bookmark there; not where it lies before one, as long as that is not far."""
        left = group not in self.deep or self._counts[group] >= 2 * DEEP
        if left:
            self.deep[group] = at
        return left

    def _count_out(self, group: Group) -> int:
        """One of a group is no longer known; returns how many are."""
        left = self._counts[group] - 1
        if left:
            self._counts[group] = left
        else:
            del self._counts[group]
        return left


def _has_fired_since(read: Timer, known: Timer) -> bool:
    """Whether a cursor has gone on from where it was read."""
    if read.fired is None or known.fired is None:
        return False
    return (known.version, known.fired) > (read.version, read.fired)

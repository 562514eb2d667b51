"""What this node knows to be due soon, in one cell. A hint: stale entries fail the claim, lost ones are fed again.

A timer is known from the moment it is offered until it was fired, claimed or given up, so that a second look at the
same row changes nothing. A tenant with very many timers is deep: the rest of them stays in the rows, and where to go
on is remembered, so that one tenant's backlog costs the others neither memory nor their place.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from horae.domain.timers import Timer
from horae.engine.wheel import Wheel

MOST: Final = 300_000
DEEP: Final = 100_000
NEVER_MS: Final = 1 << 62
AHEAD_MS: Final = 4
AHEAD: Final = timedelta(milliseconds=AHEAD_MS)
"""So long before its time a fire is written, so that it can be sent when it is due; nothing is sent early."""


def millis(at: datetime) -> int:
    """A time in the wheel's unit, rounded up: nothing is early."""
    return -int(-at.timestamp() * 1000 // 1)


class Agenda:
    """Timers in a wheel, each once, and how many of them each tenant has.

    `has_time=False`: the cell has not told its time yet. The wheel begins at 1970, and jumps at the first look.
    """

    def __init__(
        self, now: Callable[[], datetime], wake: Callable[[], None] = lambda: None, *, has_time: bool = True
    ) -> None:
        self.now = now
        self.wake = wake
        self.hungry: Callable[[], None] = lambda: (
            None
        )  # called when there is something to look for: a deep tenant has room
        self.deep: dict[UUID, datetime] = {}
        self.held: frozenset[UUID] = frozenset()  # tenants whose rows are left where they are
        self.forgotten = 0  # how often; what was forgotten may still wait in its row
        self._wheel: Wheel[Timer] = Wheel(millis(now()) if has_time else 0)
        self._due: deque[Timer] = deque()
        self._planned_ms = NEVER_MS
        self._known: dict[UUID, datetime] = {}
        self._of_tenant: Counter[UUID] = Counter()

    def __len__(self) -> int:
        return len(self._known)

    @property
    def full(self) -> bool:
        """Whether feeding further ahead should wait."""
        return len(self._known) >= MOST

    def offer(self, timers: Iterable[Timer]) -> None:
        """Remember timers until they are due. One that is known with the same time already is left alone."""
        known, counts, put = self._known, self._of_tenant, self._wheel.put
        earliest = self._planned_ms
        for timer in timers:
            before = known.get(timer.id)
            if before == timer.at:
                continue
            if before is None:
                if counts[timer.tenant_id] >= DEEP:
                    self._leave(timer)
                    continue
                counts[timer.tenant_id] += 1
            known[timer.id] = timer.at
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
        return [timer for timer in taken if known.get(timer.id) == timer.at]

    @property
    def has_due(self) -> bool:
        """Whether more has come due than was taken."""
        return bool(self._due)

    def soon(self) -> list[Timer]:
        """What comes due in the second after this one."""
        return self._wheel.soon()

    def forget(self, timer: Timer) -> None:
        """It was fired, claimed, or is not ours any more."""
        if self._known.get(timer.id) == timer.at:
            del self._known[timer.id]
            self.forgotten += 1
            left = self._of_tenant[timer.tenant_id] - 1
            self._of_tenant[timer.tenant_id] = left
            if left == DEEP // 2 and timer.tenant_id in self.deep:
                self.hungry()

    def wait_s(self) -> float | None:
        """Seconds until the next timer; None when there is none. Whoever sleeps so long is woken for an earlier one."""
        next_ms = self._wheel.next_ms()
        self._planned_ms = NEVER_MS if next_ms is None else next_ms
        return None if next_ms is None else max(0.0, (next_ms - AHEAD_MS) / 1000 - self.now().timestamp())

    def has_room(self, tenant_id: UUID) -> bool:
        """Whether a deep tenant's rows may be fed again."""
        return self._of_tenant[tenant_id] <= DEEP // 2

    def _leave(self, timer: Timer) -> None:
        bookmark = self.deep.get(timer.tenant_id)
        if bookmark is None or timer.at < bookmark:
            self.deep[timer.tenant_id] = timer.at

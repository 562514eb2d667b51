"""One cell's time: the database's clock at the last reading, carried on by CLOCK_BOOTTIME.

No engine code reads a wall clock, so stepping a node's changes nothing. CLOCK_BOOTTIME goes on in suspend, where
CLOCK_MONOTONIC stops. When the database's own clock moves against it by more than two seconds between two
readings, the clock is no longer trusted and dispatch in that cell stops until a person says otherwise, or until the
database is set right. Meanwhile time goes on as it was: what is written then must not lie hours ahead afterwards.
A process that starts later has seen no jump; those who have leave their doubt in the cell, and it goes by that.
"""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

JUMP: Final = timedelta(seconds=2)
UNREAD: Final = "the cell of this clock has not answered yet"


def boottime() -> float:
    """Seconds since this machine started, through suspend."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Reading(NamedTuple):
    """What `now()` is computed from. Swapped as one: the thread that keeps the leases writes, all others read."""

    base: datetime
    sent: float
    read_at: float
    offset: timedelta
    vouches: int
    shift: float


class Clock:
    """Answers `now()` from memory; `set()` takes a reading. Safe to set in one thread and to read in others."""

    def __init__(self, ticks: Callable[[], float] = boottime) -> None:
        self._ticks = ticks
        self._reading: Reading | None = None
        self.trusted = True
        self.ahead = timedelta()  # the database, of what we go by; nothing while it is trusted
        self._by_hearsay = False
        self._disproved = False

    def ticks(self) -> float:
        """The carrier's own count, for taking a reading's time before and after it."""
        return self._ticks()

    def now(self) -> datetime:
        """The cell's time. Before the first reading there is none: the cell has not answered yet."""
        reading = self._reading
        if reading is None:
            raise ConnectionError(UNREAD)
        return reading.base + timedelta(seconds=self._ticks() - reading.read_at) + reading.offset

    def told(self) -> datetime:
        """What the database itself says now, trusted or not: for comparing with what it has dated itself."""
        return self.now() + self.ahead

    def age(self) -> float:
        """Seconds since the last reading."""
        reading = self._reading
        return float("inf") if reading is None else self._ticks() - reading.read_at

    def seconds(self) -> float:
        """The cell's time in seconds since 1970, for those who ask at every call."""
        reading = self._reading
        if reading is None:
            raise ConnectionError(UNREAD)
        return self._ticks() + reading.shift

    @property
    def was_read(self) -> bool:
        """Whether the cell has ever told its time."""
        return self._reading is not None

    def set(
        self,
        base: datetime,
        sent: float,
        offset: timedelta = timedelta(),
        vouches: int = 0,
        doubt: timedelta | None = None,
    ) -> timedelta:
        """Take a reading that was asked for at tick `sent`; returns how far the database jumped since the last.

        The reading counts from the tick of its arrival, so we are behind the database by at most the round trip
        and never ahead of it. Each reading was taken somewhere on its way, which may have been long: a process that was
        stopped meanwhile sees no jump. A higher count of `vouches` says that a person has looked at the clock since;
        `doubt` is how far ahead of the truth other processes know the database to be.
        """
        last, arrived = self._reading, self._ticks()
        jump = timedelta() if last is None else _jump(last, base, sent, arrived)
        self._disproved = self._disproved and doubt is not None
        if last is not None and vouches > last.vouches:
            self.trust()
        elif self._by_hearsay and doubt is None:
            self.trust()  # who knew it took it back
        elif last is not None and abs(jump) > JUMP:
            base = self._go_on(base, last.base + timedelta(seconds=arrived - last.read_at))
        elif doubt is not None and not self._disproved and (last is None or self.trusted):
            base, self._by_hearsay = self._go_on(base, base - doubt), True
        else:
            self._disproved = self._disproved or not self.trusted
            self.trust()
        self._reading = Reading(base, sent, arrived, offset, vouches, (base + offset).timestamp() - arrived)
        return jump

    def _go_on(self, told: datetime, known: datetime) -> datetime:
        """Go by what is known instead of what the database says."""
        self.trusted, self.ahead = False, told - known
        return known

    def trust(self) -> None:
        """Go on with the database's clock as it is."""
        self.trusted, self.ahead, self._by_hearsay = True, timedelta(), False


def _jump(last: Reading, base: datetime, sent: float, arrived: float) -> timedelta:
    """How far a reading lies outside of what the one before allows."""
    earliest = last.base + timedelta(seconds=sent - last.read_at)
    latest = last.base + timedelta(seconds=arrived - last.sent)
    return min(base - earliest, timedelta()) or max(base - latest, timedelta())

"""One cell's time: the database's clock at the last reading, carried on by CLOCK_BOOTTIME.

No engine code reads a wall clock, so stepping a node's changes nothing. CLOCK_BOOTTIME goes on in suspend, where
CLOCK_MONOTONIC stops. When the database's own clock moves against it by more than two seconds between two
readings, the clock is no longer trusted and dispatch in that cell stops until a person says otherwise, or until the
database is set right. Meanwhile time goes on as it was: what is written then must not lie hours ahead afterwards.
"""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

JUMP: Final = timedelta(seconds=2)


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
        self._ahead = timedelta()
        self.trusted = True

    def ticks(self) -> float:
        """The carrier's own count, for taking a reading's time before and after it."""
        return self._ticks()

    def now(self) -> datetime:
        """The cell's time. Before the first reading there is none, and asking is a mistake."""
        reading = self._reading
        if reading is None:
            raise RuntimeError("this clock has never been read from its cell")
        return reading.base + timedelta(seconds=self._ticks() - reading.read_at) + reading.offset

    def told(self) -> datetime:
        """What the database itself says now, trusted or not: for comparing with what it has dated itself."""
        return self.now() + self._ahead

    def age(self) -> float:
        """Seconds since the last reading."""
        reading = self._reading
        return float("inf") if reading is None else self._ticks() - reading.read_at

    def seconds(self) -> float:
        """The cell's time in seconds since 1970, for those who ask at every call."""
        reading = self._reading
        assert reading is not None, "this clock has never been read from its cell"
        return self._ticks() + reading.shift

    def set(self, base: datetime, sent: float, offset: timedelta = timedelta(), vouches: int = 0) -> timedelta:
        """Take a reading that was asked for at tick `sent`; returns how far the database jumped since the last.

        The reading counts from the tick of its arrival, so we are behind the database by at most the round trip
        and never ahead of it. Each reading was taken somewhere on its way, which may have been long: a process that was
        stopped meanwhile sees no jump. A higher count of `vouches` says that a person has looked at the clock since.
        """
        last, arrived, jump = self._reading, self._ticks(), timedelta()
        if last is not None:
            earliest = last.base + timedelta(seconds=sent - last.read_at)
            latest = last.base + timedelta(seconds=arrived - last.sent)
            jump = min(base - earliest, timedelta()) or max(base - latest, timedelta())
        self._ahead = timedelta()
        if last is not None and abs(jump) > JUMP and vouches <= last.vouches:
            self.trusted = False
            carried = last.base + timedelta(seconds=arrived - last.read_at)
            base, self._ahead = carried, base - carried
        else:
            self.trust()
        self._reading = Reading(base, sent, arrived, offset, vouches, (base + offset).timestamp() - arrived)
        return jump

    def trust(self) -> None:
        """A person has looked: go on with the database's clock as it is."""
        self.trusted = True

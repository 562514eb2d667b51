"""One cell's time: the database's clock at the last reading, carried on by CLOCK_BOOTTIME.

No engine code reads a wall clock, so stepping a node's changes nothing. CLOCK_BOOTTIME goes on in suspend, where
CLOCK_MONOTONIC stops. When the database's own clock moves against it by more than two seconds between two
readings, the clock is no longer trusted and dispatch in that cell stops until a person says otherwise.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

JUMP: Final = timedelta(seconds=2)


def boottime() -> float:
    """Seconds since this machine started, through suspend."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Clock:
    """Answers `now()` from memory; `set()` takes a reading."""

    def __init__(self, ticks: Callable[[], float] = boottime) -> None:
        self._ticks = ticks
        self._read_at: float | None = None
        self._base = datetime.fromtimestamp(0, UTC)
        self._offset = timedelta()
        self.trusted = True

    def ticks(self) -> float:
        """The carrier's own count, for taking a reading's time before and after it."""
        return self._ticks()

    def now(self) -> datetime:
        """The cell's time. Before the first reading there is none, and asking is a mistake."""
        if self._read_at is None:
            raise RuntimeError("this clock has never been read from its cell")
        return self._base + timedelta(seconds=self._ticks() - self._read_at) + self._offset

    def set(self, reading: datetime, sent: float, offset: timedelta = timedelta()) -> timedelta:
        """Take a reading that was asked for at tick `sent`; returns how far the database jumped since the last.

        The reading counts from the tick of its arrival, so we are behind the database by at most the round trip
        and never ahead of it.
        """
        arrived, jump = self._ticks(), timedelta()
        if self._read_at is not None:
            earliest = self._base + timedelta(seconds=sent - self._read_at)
            latest = self._base + timedelta(seconds=arrived - self._read_at) + (arrived - sent) * timedelta(seconds=1)
            jump = min(reading - earliest, timedelta()) or max(reading - latest, timedelta())
            if abs(jump) > JUMP:
                self.trusted = False
        self._base, self._read_at, self._offset = reading, arrived, offset
        return jump

    def trust(self) -> None:
        """A person has looked: go on with the database's clock as it is."""
        self.trusted = True

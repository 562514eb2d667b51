"""The time of one cell: the database's clock at the last reading, carried on by CLOCK_BOOTTIME.

1. Engine code reads no wall clock of its machine, so a jump of that clock changes nothing.
2. CLOCK_BOOTTIME goes on while the machine is suspended; Linux's CLOCK_MONOTONIC stops. macOS has no CLOCK_BOOTTIME,
   and its CLOCK_MONOTONIC goes on.
3. If the database's clock jumps against CLOCK_BOOTTIME by more than two seconds between two readings, it is no longer
   trusted. Dispatch in that cell stops until a person confirms the clock, or until it is set right.
4. Meanwhile the cell's time goes on as before the jump: rows that are written then must not lie hours in the future
   afterwards.
5. A process that starts after a jump has not seen it. So processes that have seen it record their doubt in the cell,
   and a new process uses that.
"""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

MAX_CLOCK_JUMP: Final = timedelta(seconds=2)
"""How far a reading may lie outside of what the last one allows."""
TICKING_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
UNREAD: Final = "the cell of this clock has not answered yet"


def boottime() -> float:
    """Seconds since this machine started, with the time of suspension."""
    return time.clock_gettime(TICKING_CLOCK)


class ClockState(NamedTuple):
    """What `now()` is computed from. It is replaced as a whole: the lease thread writes it, all threads read it.

    - `base`: the cell's time at tick `read_at`, without `offset`; `sent`: the tick at which the reading was requested.
    - `offset`: what tests and `horae dev` add to the time; `shift`: seconds from ticks to the cell's time.
    - `vouches`: how often a person has confirmed the clock.
    """

    base: datetime
    sent: float
    read_at: float
    offset: timedelta
    vouches: int
    shift: float


class Clock:
    """Answers `now()` from memory; `set()` takes a reading. One thread may set it while others read it."""

    def __init__(self, ticks: Callable[[], float] = boottime) -> None:
        self._ticks = ticks
        self._reading: ClockState | None = None
        self.trusted = True
        self.ahead = timedelta()  # how far the database is ahead of `now()`; zero while it is trusted
        self._from_record = False
        self._disproved = False

    def ticks(self) -> float:
        """The present tick of CLOCK_BOOTTIME, to be taken before a reading is requested."""
        return self._ticks()

    def now(self) -> datetime:
        """The cell's time. Raises `ConnectionError` before the first reading."""
        reading = self._reading
        if reading is None:
            raise ConnectionError(UNREAD)
        return reading.base + timedelta(seconds=self._ticks() - reading.read_at) + reading.offset

    def database_time(self) -> datetime:
        """The database's own time, trusted or not: to compare with times that the database itself has written."""
        return self.now() + self.ahead

    def age(self) -> float:
        """Seconds since the last reading."""
        reading = self._reading
        return float("inf") if reading is None else self._ticks() - reading.read_at

    def seconds(self) -> float:
        """The cell's time in seconds since 1970; cheaper than `now()`."""
        reading = self._reading
        if reading is None:
            raise ConnectionError(UNREAD)
        return self._ticks() + reading.shift

    @property
    def was_read(self) -> bool:
        """Whether there was a first reading."""
        return self._reading is not None

    def set(
        self,
        base: datetime,
        sent: float,
        offset: timedelta = timedelta(),
        vouches: int = 0,
        doubt: timedelta | None = None,
    ) -> timedelta:
        """Take a reading that was requested at tick `sent`; returns how far the database jumped since the last one.

        A reading counts from the tick of its arrival: this clock is never ahead of the database, and behind it by at
        most the round trip. `vouches` counts how often a person has confirmed the clock. `doubt` is how far the
        database is ahead of the true time, as other processes have recorded in the cell.

        1. Compute the jump. The database read its clock at an unknown moment between request and arrival, so a process
           that was stopped in between sees no jump. Then the first case that applies decides:
        2. A person has confirmed the clock since the last reading: trust it.
        3. We only had the doubt of others, and it was withdrawn: trust the clock.
        4. It jumped by more than `MAX_CLOCK_JUMP`: do not trust it, and go on with our own time.
        5. Others doubt it, we have not disproved them, and this is our first reading or we trusted the clock until now:
           do not trust it, and subtract their doubt.
        6. Otherwise trust it. If we did not before, the database was set right: the doubt of others is disproved, until
           it is withdrawn.
        """
        last, arrived = self._reading, self._ticks()
        jump = timedelta() if last is None else _jump_of(last, base, sent, arrived)
        self._disproved = self._disproved and doubt is not None
        if last is not None and vouches > last.vouches:
            self.trust()
        elif self._from_record and doubt is None:
            self.trust()  # the recorded doubt was withdrawn
        elif last is not None and abs(jump) > MAX_CLOCK_JUMP:
            base = self._distrust(base, last.base + timedelta(seconds=arrived - last.read_at))
        elif doubt is not None and not self._disproved and (last is None or self.trusted):
            base, self._from_record = self._distrust(base, base - doubt), True
        else:
            self._disproved = self._disproved or not self.trusted
            self.trust()
        self._reading = ClockState(base, sent, arrived, offset, vouches, (base + offset).timestamp() - arrived)
        return jump

    def _distrust(self, database_time: datetime, known: datetime) -> datetime:
        """Do not trust the clock: use the known time instead of the database's."""
        self.trusted, self.ahead = False, database_time - known
        return known

    def trust(self) -> None:
        """Trust the database's clock as it is."""
        self.trusted, self.ahead, self._from_record = True, timedelta(), False


def _jump_of(last: ClockState, base: datetime, sent: float, arrived: float) -> timedelta:
    """How far a reading lies outside of the range that the last reading allows; zero if it lies inside."""
    earliest = last.base + timedelta(seconds=sent - last.read_at)
    latest = last.base + timedelta(seconds=arrived - last.sent)
    return min(base - earliest, timedelta()) or max(base - latest, timedelta())

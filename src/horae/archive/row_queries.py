"""What is asked of the archive, what it answers, and what a read may cost. Needs no library of the archive."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from threading import Lock
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from horae.archive.layout import DayFolder
from horae.domain.ids import creation_time
from horae.domain.instances.searches import LAST_ID, InstanceFilter, InstanceMark, smallest_id_at
from horae.runtime.clock import boottime

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
MAX_READ_BYTES: Final = 128 << 20
"""Bytes that one search reads from the archive; then its page ends."""
MAX_READ_S: Final = 5.0
"""Seconds after which a search begins no further request; then its page ends."""


class ColdDay(NamedTuple):
    """A day of a cell whose rows are in the archive only. `generation`: the manifest to read."""

    folder: DayFolder
    generation: int

    @property
    def day(self) -> date:
        """The day on which its instances ended."""
        return self.folder.day

    @property
    def manifest(self) -> str:
        """The name of its manifest."""
        return self.folder.manifest(self.generation)


class DayVanished(Exception):
    """An object of a day was deleted between the reading of the register and its own."""

    def __init__(self, day: ColdDay) -> None:
        super().__init__(f"{day.manifest} or one of its files is gone")
        self.day = day


class RowOrder(StrEnum):
    """What rows are sorted by, newest first."""

    FIRE_TIME = "fire_time"
    CREATED = "created"


Position = tuple[int, int]
"""A place in an order: microseconds of the fire time or milliseconds of the creation, then the id. Greater is newer."""


class RowQuery(msgspec.Struct, frozen=True):
    """Which rows of one tenant are wanted: of one job or of all, before a mark, newest first."""

    tenant_id: UUID
    job_id: UUID | None
    order: RowOrder
    sought: InstanceFilter
    before: InstanceMark
    limit: int

    @property
    def is_by_fire_time(self) -> bool:
        """Whether rows are sorted by fire time."""
        return self.order is RowOrder.FIRE_TIME

    @property
    def upper(self) -> Position:
        """All rows wanted are before this position."""
        if self.is_by_fire_time:
            return min((micros_of(self.before.at), self.before.id.int), (micros_of(self.sought.until), 0))
        return min(position_of_id(self.before.id), position_of_id(smallest_id_at(self.sought.until)))

    @property
    def lower(self) -> Position:
        """All rows wanted are at this position or after it."""
        if self.is_by_fire_time:
            return micros_of(self.sought.since), 0
        return position_of_id(smallest_id_at(self.sought.since))

    def position(self, fire_time: datetime, id_: UUID) -> Position:
        """The position of a row."""
        return (micros_of(fire_time), id_.int) if self.is_by_fire_time else position_of_id(id_)

    def mark(self, position: Position) -> InstanceMark:
        """The mark of all rows before a position."""
        id_ = UUID(int=position[1])
        return InstanceMark(EPOCH + position[0] * MICROSECOND if self.is_by_fire_time else creation_time(id_), id_)


def position_of_id(id_: UUID) -> Position:
    """The position of a row in the order of creation."""
    return id_.int >> 80, id_.int


def micros_of(at: datetime) -> int:
    """Microseconds since 1970."""
    return (at - EPOCH) // MICROSECOND


def after(position: Position) -> Position:
    """The next position: what is before it includes the given one."""
    return position[0], min(position[1] + 1, LAST_ID.int)


class ReadCost(msgspec.Struct, frozen=True):
    """What a read of the archive cost: days that were looked into, requests and bytes that were not in memory."""

    days: int
    requests: int
    bytes: int
    seconds: float


class FoundPage(NamedTuple):
    """Rows in their order, and the mark of the next page; None where there is none."""

    rows: list[dict[str, Any]]
    next: InstanceMark | None
    cost: ReadCost


class BoundReached(Exception):
    """A search has read as much as it may."""


class ReadMeter:
    """Counts what one search reads, and ends it at its bounds. Several threads may use it."""

    def __init__(
        self, seconds: float = MAX_READ_S, most_bytes: int = MAX_READ_BYTES, clock: Callable[[], float] = boottime
    ) -> None:
        self._clock, self._began = clock, clock()
        self._seconds, self._most_bytes = seconds, most_bytes
        self._lock = Lock()
        self._days: set[date] = set()
        self._requests = self._bytes = 0
        self._is_cancelled = False

    def restart(self) -> None:
        """Begin to measure the time: the search has its turn."""
        self._began = self._clock()

    def check(self) -> None:
        """Raise `BoundReached` where nothing more may be read."""
        over = self._bytes >= self._most_bytes or self._clock() - self._began >= self._seconds
        if over or self._is_cancelled:
            raise BoundReached

    def cancel(self) -> None:
        """Nobody waits for the result any more."""
        self._is_cancelled = True

    def extend(self) -> None:
        """Allow as much again, to read the rows that were found."""
        self._seconds += MAX_READ_S
        self._most_bytes += MAX_READ_BYTES

    def count(self, read: int) -> None:
        """Note a request and the bytes of its answer."""
        with self._lock:
            self._requests += 1
            self._bytes += read

    def count_day(self, day: date) -> None:
        """Note that a day was looked into."""
        with self._lock:
            self._days.add(day)

    def cost(self) -> ReadCost:
        """What was read so far."""
        return ReadCost(len(self._days), self._requests, self._bytes, round(self._clock() - self._began, 3))

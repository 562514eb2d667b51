"""Scanning ahead in pages: how far each class has been read, and the range of a scan."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.instances.instances import Lane, Priority
from horae.domain.placement import SHARDS
from horae.domain.schedules.timers import Timer

BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
LAST_ID: Final = UUID(int=(1 << 128) - 1)


class ScanMark(NamedTuple):
    """The position up to which a class has been read. Times repeat, so shard and id break ties."""

    priority: Priority
    lane: Lane
    at: datetime = BEGINNING
    shard: int = -1
    id: UUID = UUID(int=0)

    def at_timer(self, timer: Timer) -> "ScanMark":
        """The mark after the last row of a full page."""
        return self._replace(at=timer.at, shard=timer.shard, id=timer.id)

    def through(self, until: datetime) -> "ScanMark":
        """The mark of a class that has been read to the end of a scan."""
        return self._replace(at=until, shard=SHARDS, id=LAST_ID)

    def before(self, at: datetime) -> "ScanMark":
        """The mark from which rows of that very time are read."""
        return self._replace(at=at, shard=-1, id=UUID(int=0))


class ScanRange(NamedTuple):
    """The range of a scan: how far, without which tenants, for which tenant only, and how many rows of each class."""

    until: datetime
    without: Sequence[UUID] = ()
    only: UUID | None = None
    limit: int = 500

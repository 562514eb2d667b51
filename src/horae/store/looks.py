"""Looking ahead in pages: how far each class has been read, and what a look asks for."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.instances import Lane, Priority
from horae.domain.placement import SHARDS
from horae.domain.timers import Timer

BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
LAST_ID: Final = UUID(int=(1 << 128) - 1)


class Mark(NamedTuple):
    """Everything of a class up to here has been read. Times repeat, so shard and id break the tie."""

    priority: Priority
    lane: Lane
    at: datetime = BEGINNING
    shard: int = -1
    id: UUID = UUID(int=0)

    def at_timer(self, timer: Timer) -> "Mark":
        """The mark behind the last row of a full page."""
        return self._replace(at=timer.at, shard=timer.shard, id=timer.id)

    def through(self, until: datetime) -> "Mark":
        """The mark of a class that has been read to the end of a look."""
        return self._replace(at=until, shard=SHARDS, id=LAST_ID)

    def before(self, at: datetime) -> "Mark":
        """The mark from which a time itself is read."""
        return self._replace(at=at, shard=-1, id=UUID(int=0))


class Look(NamedTuple):
    """How far, without whom, for whom alone, and how many rows of each class."""

    until: datetime
    without: Sequence[UUID] = ()
    only: UUID | None = None
    limit: int = 500

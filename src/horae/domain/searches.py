"""What someone looks for among instances, and where a page of what was found ends.

Of one job: by fire time, newest first. Of a whole tenant: by birth, which every id tells; `since` and `until` speak of
the same. An instance that ends between two pages keeps its place.
"""

from datetime import UTC, datetime
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.ids import compose
from horae.domain.lifecycle import State

FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)
LAST: Final = datetime(2199, 1, 1, tzinfo=UTC)
LAST_ID: Final = UUID(int=2**128 - 1)
MOST: Final = 1000


class Mark(NamedTuple):
    """Where a page ends: everything up to here, newest first, was told."""

    at: datetime
    id: UUID


NEWEST: Final = Mark(LAST, LAST_ID)


class Sought(msgspec.Struct, frozen=True):
    """Which instances are meant; what is not given is any."""

    states: tuple[State, ...] = ()
    since: datetime = FIRST
    until: datetime = LAST
    business_key: str | None = None

    def __post_init__(self) -> None:
        if self.since.tzinfo is None or self.until.tzinfo is None:
            raise Invalid("a time needs its offset, for example 2026-11-15T09:00:00+08:00")

    @property
    def plain(self) -> bool:
        """Whether every instance of a stretch of time is meant."""
        return not self.states and self.business_key is None


ANY: Final = Sought()


def check_limit(limit: int) -> None:
    """Refuse pages that nobody could read."""
    if not 1 <= limit <= MOST:
        raise Invalid(f"a page has 1 to {MOST} entries, not {limit}")


def born_from(at: datetime) -> UUID:
    """The smallest id that can have been born at a time."""
    return compose(0, max(0, int(at.timestamp() * 1000)), 0)


def born_at(id_: UUID) -> datetime:
    """When an id was born."""
    return datetime.fromtimestamp((id_.int >> 80) / 1000, UTC)

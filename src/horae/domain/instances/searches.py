"""Searches for instances: filters, and where a page of results ends.

Instances of one job are sorted by fire time, those of a tenant by creation time, which their ids contain, or by fire
time; newest first. `since` and `until` refer to the same time. An instance that ends between two pages keeps its place.
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.errors import Invalid
from horae.domain.ids import compose
from horae.domain.instances.lifecycle import State

FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)
LAST: Final = datetime(2199, 1, 1, tzinfo=UTC)
LAST_ID: Final = UUID(int=2**128 - 1)
MOST: Final = 1000
"""Entries of one page."""


class InstanceOrder(StrEnum):
    """The order of a tenant's instances: `since` and `until` of a search refer to the same time."""

    CREATED = "created"
    FIRE_TIME = "fire_time"


class InstanceMark(NamedTuple):
    """Where a page ends: all instances up to here, newest first, were returned."""

    at: datetime
    id: UUID


NEWEST: Final = InstanceMark(LAST, LAST_ID)


class InstanceFilter(msgspec.Struct, frozen=True):
    """Which instances are meant; an empty field matches all."""

    states: tuple[State, ...] = ()
    since: datetime = FIRST
    until: datetime = LAST
    business_key: str | None = None

    def __post_init__(self) -> None:
        if self.since.tzinfo is None or self.until.tzinfo is None:
            raise Invalid("a time needs its offset, for example 2026-11-15T09:00:00+08:00")

    @property
    def plain(self) -> bool:
        """Whether it matches every instance of a time range."""
        return not self.states and self.business_key is None


ANY: Final = InstanceFilter()


def check_limit(limit: int) -> None:
    """Refuse a page size out of bounds."""
    if not 1 <= limit <= MOST:
        raise Invalid(f"a page has 1 to {MOST} entries, not {limit}")


def smallest_id_at(at: datetime) -> UUID:
    """Return the smallest id that can have been created at a time."""
    return compose(0, max(0, int(at.timestamp() * 1000)), 0)

"""How much of a node each class gets, both ways: critical work does not wait for low, and low does not starve."""

from collections.abc import Mapping
from datetime import timedelta
from itertools import product
from types import MappingProxyType
from typing import Final, NamedTuple

from horae.domain.instances.instances import Lane, Priority

Class = tuple[Priority, Lane]
"""Priority and lane."""
OF_PRIORITY: Final = {Priority.CRITICAL: 16, Priority.NORMAL: 4, Priority.LOW: 1}
"""Weights of the priorities."""
OF_LANE: Final = {Lane.FIRST: 4, Lane.RETRY: 2, Lane.BACKFILL: 1}
"""Weights of the lanes."""
WEIGHTS: Final[Mapping[Class, int]] = MappingProxyType(
    {(priority, lane): OF_PRIORITY[priority] * OF_LANE[lane] for priority, lane in product(Priority, Lane)}
)
"""The proportions in which waiting classes are served."""

OVERDUE_AFTER: Final = timedelta(seconds=2)
"""An instance that was not sent for longer is overdue, as after an outage: it waits behind the calls on time."""
OVERDUE_TURN: Final = 8
"""While calls of a target and class that are on time wait beside overdue ones, one call in so many is overdue."""

BACKFILL_SHARE: Final = 0.06
"""The part of all slots that is reserved for backfills, a third of it for each priority."""
BACKFILL_CAP_SHARE: Final = 0.25
"""The part of all slots that backfills may occupy: slow calls of theirs leave the rest to due work."""
DEFAULT_BACKFILL_SLOTS: Final = 500
"""Slots that backfills may use on a node with default settings."""

RESERVED_SLOT_SHARE: Final[Mapping[Class, float]] = MappingProxyType(
    {
        (priority, lane): {Lane.FIRST: 0.08, Lane.RETRY: 0.04, Lane.BACKFILL: BACKFILL_SHARE / len(Priority)}[lane]
        for priority, lane in product(Priority, Lane)
    }
)
"""The part of all slots that slow calls of other classes cannot occupy."""


class LaneShare(NamedTuple):
    """The part of all slots that is reserved for backfills, and the part that they may occupy."""

    reserved: float = BACKFILL_SHARE
    cap: float = BACKFILL_CAP_SHARE

    def most(self, slots: int) -> int:
        """Return the slots that backfills may use: at least one."""
        return max(1, int(self.cap * slots))


DEFAULT_LANE_SHARE: Final = LaneShare()


def reserve(slots: int, share: LaneShare = DEFAULT_LANE_SHARE) -> dict[Class, int]:
    """Return the slots that are reserved for each class: at least one, if there are enough for all."""
    least = 1 if slots >= 2 * len(RESERVED_SLOT_SHARE) else 0
    parts = {**RESERVED_SLOT_SHARE, **{(one, Lane.BACKFILL): share.reserved / len(Priority) for one in Priority}}
    return {class_: max(least, int(part * slots)) for class_, part in parts.items()}

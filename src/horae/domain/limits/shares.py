"""How much of a node each class gets, both ways: critical work does not wait for low, and low does not starve."""

from collections.abc import Mapping
from itertools import product
from types import MappingProxyType
from typing import Final

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

RESERVED_SLOT_SHARE: Final[Mapping[Class, float]] = MappingProxyType(
    {
        (priority, lane): {Lane.FIRST: 0.08, Lane.RETRY: 0.04, Lane.BACKFILL: 0.02}[lane]
        for priority, lane in product(Priority, Lane)
    }
)
"""The part of all slots that slow calls of other classes cannot occupy."""


def reserve(slots: int) -> dict[Class, int]:
    """Return the slots that are reserved for each class: at least one, if there are enough for all."""
    least = 1 if slots >= 2 * len(RESERVED_SLOT_SHARE) else 0
    return {class_: max(least, int(part * slots)) for class_, part in RESERVED_SLOT_SHARE.items()}

"""How much of a node each class is promised, both ways: critical work never waits for low, low never starves."""

from collections.abc import Mapping
from itertools import product
from types import MappingProxyType
from typing import Final

from horae.domain.instances import Lane, Priority

Class = tuple[Priority, Lane]
OF_PRIORITY: Final = {Priority.CRITICAL: 16, Priority.NORMAL: 4, Priority.LOW: 1}
OF_LANE: Final = {Lane.FIRST: 4, Lane.RETRY: 2, Lane.BACKFILL: 1}
WEIGHTS: Final[Mapping[Class, int]] = MappingProxyType(
    {(priority, lane): OF_PRIORITY[priority] * OF_LANE[lane] for priority, lane in product(Priority, Lane)}
)
"""Who is served next while several wait: in these proportions."""

RESERVED: Final[Mapping[Class, float]] = MappingProxyType(
    {
        (priority, lane): {Lane.FIRST: 0.08, Lane.RETRY: 0.04, Lane.BACKFILL: 0.02}[lane]
        for priority, lane in product(Priority, Lane)
    }
)
"""The part of all slots that slow calls of other classes cannot take away."""


def reserve(slots: int) -> dict[Class, int]:
    """Slots kept for each class: at least one, where there are enough for all."""
    least = 1 if slots >= 2 * len(RESERVED) else 0
    return {class_: max(least, int(part * slots)) for class_, part in RESERVED.items()}

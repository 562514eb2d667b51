"""Which shards should move: to give every cell an even part, or to empty a cell.

Shards move in whole groups (`horae.domain.placement`), so that a tenant of up to 64 shards stays in one cell.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import NamedTuple

from horae.domain.placement import GROUPS


class PlannedMove(NamedTuple):
    """A shard that should move, from one cell to another."""

    shard: int
    source: str
    target: str


def plan_rebalance(held: Mapping[str, Collection[int]]) -> list[PlannedMove]:
    """Return the moves after which every cell holds about as many shards: groups go from the fullest to the emptiest.

    A group moves only if both cells are more even afterwards. `held` has the shards of every cell, also of empty ones.
    """
    groups = {cell: _groups_of(shards) for cell, shards in held.items()}
    size = {cell: len(shards) for cell, shards in held.items()}
    planned: list[PlannedMove] = []
    while True:
        source = max(size, key=lambda cell: (size[cell], cell))
        target = min(size, key=lambda cell: (size[cell], cell))
        if not groups[source]:
            return planned
        number = max(groups[source])
        moved = groups[source][number]
        if size[source] - size[target] <= len(moved):
            return planned
        del groups[source][number]
        size[source], size[target] = size[source] - len(moved), size[target] + len(moved)
        planned += [PlannedMove(shard, source, target) for shard in moved]


def plan_drain(held: Mapping[str, Collection[int]], source: str) -> list[PlannedMove]:
    """Return the moves that empty a cell: each group goes to the cell that holds the fewest shards then."""
    size = {cell: len(shards) for cell, shards in held.items() if cell != source}
    planned: list[PlannedMove] = []
    for _, moved in sorted(_groups_of(held[source]).items()):
        target = min(size, key=lambda cell: (size[cell], cell))
        size[target] += len(moved)
        planned += [PlannedMove(shard, source, target) for shard in moved]
    return planned


def _groups_of(shards: Collection[int]) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = defaultdict(list)
    for shard in sorted(shards):
        groups[shard % GROUPS].append(shard)
    return groups

"""Compares the shard map of a restored cell with those of the other cells: shards may have moved after the target."""

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

ACTIVE: Final = "ACTIVE"
FROZEN: Final = "FROZEN"
ELSEWHERE: Final = "ELSEWHERE"


class ShardFindings(NamedTuple):
    """`left`: shards that another cell holds by now, with that cell. `lost`: shards that no cell holds any more."""

    left: dict[int, str]
    lost: list[int]


def compare_shards(
    own: Mapping[int, str], others: Mapping[str, Mapping[int, str]], arrived: Collection[int] = ()
) -> ShardFindings:
    """Compare the states of all shards in a restored cell with their states in every other cell.

    Shards that have `arrived` were opened here by a move whose source has not heard of it.
    """
    holders = _holders(others, arrived)
    left = {shard: holders[shard] for shard, state in own.items() if state != ELSEWHERE and shard in holders}
    lost = [shard for shard, state in sorted(own.items()) if state == ELSEWHERE and shard not in holders]
    return ShardFindings(left, lost)


def first_change(before: ShardFindings, now: ShardFindings) -> int | None:
    """The first shard about which two findings differ."""
    left = {shard for shard, _ in before.left.items() ^ now.left.items()}
    return min(left | set(before.lost) ^ set(now.lost), default=None)


def _holders(others: Mapping[str, Mapping[int, str]], arrived: Collection[int]) -> dict[int, str]:
    """The cell that holds each shard.

    A cell where a shard is FROZEN holds it until a move has opened it in another cell: it was ACTIVE there once, so the
    rows of a restored cell are older, unless the shard has arrived there.
    """
    leaving = {shard: cell for shard, cell in _cells_with(others, FROZEN).items() if shard not in arrived}
    return leaving | _cells_with(others, ACTIVE)


def _cells_with(others: Mapping[str, Mapping[int, str]], wanted: str) -> dict[int, str]:
    """The cell in which each shard has this state."""
    return {shard: cell for cell, states in others.items() for shard, state in states.items() if state == wanted}

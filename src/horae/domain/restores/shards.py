"""Compares the shard map of a restored cell with those of the other cells: shards may have moved after the target."""

from collections.abc import Mapping
from typing import Final, NamedTuple

ACTIVE: Final = "ACTIVE"
ELSEWHERE: Final = "ELSEWHERE"


class ShardFindings(NamedTuple):
    """`left`: shards that another cell holds by now, with that cell. `lost`: shards that no cell holds any more."""

    left: dict[int, str]
    lost: list[int]


def compare_shards(own: Mapping[int, str], others: Mapping[str, Mapping[int, str]]) -> ShardFindings:
    """Compare the states of all shards in a restored cell with their states in every other cell."""
    holder = {shard: cell for cell, states in others.items() for shard, state in states.items() if state == ACTIVE}
    kept = {shard for states in others.values() for shard, state in states.items() if state != ELSEWHERE}
    left = {shard: holder[shard] for shard, state in own.items() if state != ELSEWHERE and shard in holder}
    lost = [shard for shard, state in sorted(own.items()) if state == ELSEWHERE and shard not in kept]
    return ShardFindings(left, lost)

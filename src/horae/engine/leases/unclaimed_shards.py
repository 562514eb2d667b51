"""Unclaimed shards: free for longer than a TTL although a living node should take them.

Another node takes them then. It keeps them for a while before it gives them back, because the node that did not take
them once would probably leave them free again.
"""

from collections.abc import Collection
from typing import Final

FREE_BEFORE_TAKEN_TTLS: Final = 1.0
"""How long a shard stays free before another node takes it."""
TAKEN_SHARD_KEPT_TTLS: Final = 4.0
"""How long the node that took such a shard keeps it."""


class UnclaimedShards:
    """The unclaimed shards that this node sees, since when, and the ones that it has taken."""

    def __init__(self, ttl: float) -> None:
        self._ttl = ttl
        self._since: dict[int, float] = {}
        self._kept: dict[int, float] = {}

    def overdue(self, free: Collection[int], tick: float, fraction: float) -> list[int]:
        """The shards that have been free for 1 to 1.5 TTLs; `fraction` keeps nodes from taking them all at once."""
        self._since = {shard: self._since.get(shard, tick) for shard in free}
        long = self._ttl * (FREE_BEFORE_TAKEN_TTLS + fraction / 2)
        return sorted(shard for shard, since in self._since.items() if tick - since > long)

    def keep(self, taken: Collection[int], tick: float) -> None:
        """Record that this node has taken these shards."""
        self._kept |= dict.fromkeys(taken, tick + TAKEN_SHARD_KEPT_TTLS * self._ttl)

    def kept_shards(self, tick: float) -> frozenset[int]:
        """The taken shards that are not to be given back yet."""
        self._kept = {shard: until for shard, until in self._kept.items() if until > tick}
        return frozenset(self._kept)

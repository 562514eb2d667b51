"""Shards that nobody comes for: free for longer than a TTL although a living node is dealt them.

Someone else takes them then, and keeps them for a while before offering them again: whoever did not come for them
once would leave them to nobody once more.
"""

from collections.abc import Collection
from typing import Final

PATIENCE: Final = 1.0
KEPT: Final = 4.0
"""Both in TTLs."""


class Strays:
    """How long this node has seen which shards lie about, and which of them it looks after."""

    def __init__(self, ttl: float) -> None:
        self._ttl = ttl
        self._since: dict[int, float] = {}
        self._kept: dict[int, float] = {}

    def overdue(self, free: Collection[int], tick: float, fraction: float) -> list[int]:
        """Those that have been free for a TTL and, so that not all come at once, up to half of one more."""
        self._since = {shard: self._since.get(shard, tick) for shard in free}
        long = self._ttl * (PATIENCE + fraction / 2)
        return sorted(shard for shard, since in self._since.items() if tick - since > long)

    def keep(self, taken: Collection[int], tick: float) -> None:
        """These are looked after from now on."""
        self._kept |= dict.fromkeys(taken, tick + KEPT * self._ttl)

    def kept(self, tick: float) -> frozenset[int]:
        """Those not to be given back yet."""
        self._kept = {shard: until for shard, until in self._kept.items() if until > tick}
        return frozenset(self._kept)

"""Wake-ups without a thundering herd (seed 004): many are merged into one, and times far ahead need none.

A wake is a hint. It names shards in which something became due soon, and the range of times. A lost wake costs delay,
never a fire.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

import msgspec

LONGEST_SAFETY_LOOK: Final = timedelta(seconds=300)
"""An idle node scans by itself at least this often; a deployment may choose a shorter period."""
WAKE_HORIZON: Final = LONGEST_SAFETY_LOOK + timedelta(seconds=60)
"""Later times are found by the owner's own scans, at least a minute before they are due."""
WAKE_LOOK_BACK: Final = timedelta(seconds=10)
"""How far into the past a wake reaches: nothing becomes due before its request, and no transaction lasts longer."""
MOST: Final = 500
"""Shards that a wake names; with more it means all shards, because a notification holds 8,000 bytes."""


class Wake(msgspec.Struct, frozen=True, array_like=True):
    """Scan these shards (None: all of them) for rows that are due between two times."""

    shards: frozenset[int] | None
    earliest: datetime
    latest: datetime

    def names(self, shard: int) -> bool:
        """Whether the wake includes a shard."""
        return self.shards is None or shard in self.shards


def wake_of(due: Iterable[tuple[int, datetime]], now: datetime) -> Wake | None:
    """Return the wake for new times in their shards; None when all of them are beyond the horizon."""
    near = [(shard, at) for shard, at in due if at <= now + WAKE_HORIZON]
    if not near:
        return None
    shards = frozenset(shard for shard, _ in near)
    earliest = max(min(at for _, at in near), now - WAKE_LOOK_BACK)
    latest = max(now, *(at for _, at in near))  # a past time becomes due when it is written
    return Wake(shards if len(shards) <= MOST else None, earliest, latest)


def merge_wakes(wakes: Iterable[Wake]) -> Wake:
    """Return one wake for many."""
    all_of = list(wakes)
    named = [wake.shards for wake in all_of if wake.shards is not None]
    shards = frozenset[int]().union(*named)
    return Wake(
        shards if len(named) == len(all_of) and len(shards) <= MOST else None,
        min(wake.earliest for wake in all_of),
        max(wake.latest for wake in all_of),
    )


encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(Wake).decode

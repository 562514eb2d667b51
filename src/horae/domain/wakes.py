"""Wake-ups without a herd (seed 004): many of them are one, and what lies far ahead is none.

A wake is a hint. It names the shards where something became due soon, and from when to when; a lost one costs delay,
never a fire.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

import msgspec

HORIZON: Final = timedelta(seconds=60)
"""What lies further ahead is found by the owner's own looks long before it is due."""
LATE: Final = timedelta(seconds=10)
"""Nothing becomes due earlier than it was asked for, and no transaction lasts longer than this."""
MOST: Final = 500
"""Naming more shards than these tells no more than naming none; a notification holds 8,000 bytes."""


class Wake(msgspec.Struct, frozen=True, array_like=True):
    """Look at these shards (None: at all of them) for what is due between two times."""

    shards: frozenset[int] | None
    earliest: datetime
    latest: datetime

    def names(self, shard: int) -> bool:
        """Whether a shard is meant."""
        return self.shards is None or shard in self.shards


def wake_of(shard: int, at: datetime, now: datetime) -> Wake | None:
    """What a new time in a shard is worth telling; None when it lies beyond the horizon."""
    if at > now + HORIZON:
        return None
    due = max(at, now - LATE)
    return Wake(frozenset((shard,)), due, due)


def merged(wakes: Iterable[Wake]) -> Wake:
    """One wake for many."""
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

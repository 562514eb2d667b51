"""Wake-ups without a herd (seed 004): many of them are one, and what lies far ahead is none.

A wake is a hint. It names the shards where something became due soon, and from when to when; a lost one costs delay,
never a fire.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

import msgspec

LONGEST_SAFETY_LOOK: Final = timedelta(seconds=300)
"""An idle node looks by itself at least so often; a deployment may choose a shorter period."""
HORIZON: Final = LONGEST_SAFETY_LOOK + timedelta(seconds=60)
"""What lies further ahead is found by the owner's own looks, a minute before it is due or earlier."""
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


def wake_of(due: Iterable[tuple[int, datetime]], now: datetime) -> Wake | None:
    """What new times, each in its shard, are worth telling; None when all of them lie beyond the horizon."""
    near = [(shard, at) for shard, at in due if at <= now + HORIZON]
    if not near:
        return None
    shards = frozenset(shard for shard, _ in near)
    earliest = max(min(at for _, at in near), now - LATE)
    latest = max(now, *(at for _, at in near))  # a past time became due when it was written
    return Wake(shards if len(shards) <= MOST else None, earliest, latest)


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

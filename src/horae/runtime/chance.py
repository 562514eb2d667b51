"""The only dice in the house: random bits for ids and tokens, and a fraction for jitter."""

import os
import random
from datetime import datetime
from uuid import UUID

from horae.domain.ids import ENTROPY_BITS, compose

fraction = random.random
_bits = random.getrandbits  # ids must differ, not be secret; seeded by the system at start


def mint(shard: int, now: datetime) -> UUID:
    """A new id in a shard."""
    return mint_at(shard, millis(now))


def mint_at(shard: int, millis: int) -> UUID:
    """The same for a time in milliseconds since 1970: for many ids of one moment."""
    return compose(shard, millis, _bits(ENTROPY_BITS))


def millis(now: datetime) -> int:
    """A time as ids have it."""
    return int(now.timestamp() * 1000)


def token() -> UUID:
    """A secret that nobody can guess: it marks one claim of one attempt."""
    return UUID(bytes=os.urandom(16), version=4)


def span() -> int:
    """64 random bits that name one step of a trace; never zero, which would mean none."""
    return _bits(64) or 1

"""The only dice in the house: random bits for ids and tokens, and a fraction for jitter."""

import os
import random
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from horae.domain.ids import ENTROPY_BITS, compose

fraction = random.random
_bits = random.getrandbits  # ids must differ, not be secret; seeded by the system at start


def mint(shard: int, now: datetime) -> UUID:
    """A new id in a shard."""
    return minting(now)(shard)


def minting(now: datetime) -> Callable[[int], UUID]:
    """`mint` for many ids of one moment."""
    millis = int(now.timestamp() * 1000)
    return lambda shard: compose(shard, millis, _bits(ENTROPY_BITS))


def token() -> UUID:
    """A secret that nobody can guess: it marks one claim of one attempt."""
    return UUID(bytes=os.urandom(16), version=4)


def span() -> int:
    """64 random bits that name one step of a trace; never zero, which would mean none."""
    return _bits(64) or 1

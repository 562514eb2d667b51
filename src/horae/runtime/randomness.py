"""The only source of randomness: bits for ids and tokens, and a fraction for jitter."""

import os
import random
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from horae.domain.ids import ENTROPY_BITS, compose

fraction = random.random
_bits = random.getrandbits  # ids must be unique, not secret; seeded by the system at start


def new_id(shard: int, now: datetime) -> UUID:
    """A new id in a shard."""
    return id_maker(now)(shard)


def id_maker(now: datetime) -> Callable[[int], UUID]:
    """A function that makes ids of one moment, for many ids."""
    millis = int(now.timestamp() * 1000)
    return lambda shard: compose(shard, millis, _bits(ENTROPY_BITS))


def new_token() -> UUID:
    """A random token that cannot be guessed: it marks one claim of one attempt."""
    return UUID(bytes=os.urandom(16), version=4)


def new_span_id() -> int:
    """64 random bits that identify one span of a trace; never zero, which means no span."""
    return _bits(64) or 1

"""The only source of randomness: bits for ids and tokens, and a fraction for jitter."""

import os
import random
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from horae.domain.ids import ENTROPY_BITS, compose
from horae.domain.traces.contexts import sampled_entropy

fraction = random.random
_bits = random.getrandbits  # ids must be unique, not secret; seeded by the system at start


def new_id(shard: int, now: datetime, sampled_from: int = 0) -> UUID:
    """A new id in a shard."""
    return compose(shard, _millis(now), _entropy(sampled_from))


def id_maker(now: datetime, sampled_from: int = 0) -> Callable[[int], UUID]:
    """A function that makes ids of one moment, for many ids.

    `sampled_from`: the traces of these ids must be sampled, so the random bits that decide about it are at least this.
    """
    millis = _millis(now)
    return lambda shard: compose(shard, millis, _entropy(sampled_from))


def _millis(now: datetime) -> int:
    return int(now.timestamp() * 1000)


def _entropy(sampled_from: int) -> int:
    entropy = _bits(ENTROPY_BITS)
    return sampled_entropy(entropy, sampled_from) if sampled_from else entropy


def new_token() -> UUID:
    """A random token that cannot be guessed: it marks one claim of one attempt."""
    return UUID(bytes=os.urandom(16), version=4)


def new_trace_id() -> int:
    """128 random bits that identify a trace; never zero, which means no trace."""
    return _bits(128) or 1


def new_span_id() -> int:
    """64 random bits that identify one span of a trace; never zero, which means no span."""
    return _bits(64) or 1

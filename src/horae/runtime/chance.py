"""The only dice in the house: random bits for ids and tokens, and a fraction for jitter."""

import os
import random
from datetime import datetime
from uuid import UUID

from horae.domain.ids import compose

fraction = random.random


def mint(shard: int, now: datetime) -> UUID:
    """A new id in a shard."""
    return compose(shard, int(now.timestamp() * 1000), int.from_bytes(os.urandom(8), "big"))


def token() -> UUID:
    """A secret that nobody can guess: it marks one claim of one attempt."""
    return UUID(bytes=os.urandom(16), version=4)

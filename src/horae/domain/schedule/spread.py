"""Moving fires off the full minute: a window per job, a jitter per fire, both by a stable hash."""

from datetime import datetime, timedelta
from hashlib import blake2b

import msgspec

from horae.domain.errors import InvalidSchedule

LONGEST = 86_400.0


class Spread(msgspec.Struct, frozen=True, omit_defaults=True):
    """`window`: every fire of a job comes later by the same part of it. `jitter`: each fire by another part."""

    window: float = 0.0
    jitter: float = 0.0

    def __post_init__(self) -> None:
        if not (0 <= self.window <= LONGEST and 0 <= self.jitter <= LONGEST):
            raise InvalidSchedule(f"a window or jitter is 0 to {LONGEST:g} seconds")


def offset(spread: Spread, key: str, fire_time: datetime) -> timedelta:
    """How much later than its nominal time a fire of this job is due. The same whoever asks, and whenever."""
    later = timedelta(0)
    if spread.window:
        later += spread.window * _part(key) * timedelta(seconds=1)
    if spread.jitter:
        later += spread.jitter * _part(f"{key}\0{fire_time.timestamp():.6f}") * timedelta(seconds=1)
    return later


def _part(text: str) -> float:
    """A number from 0 to 1 (excluded) that depends on nothing but the text."""
    return int.from_bytes(blake2b(text.encode(), digest_size=6).digest()) / 2**48

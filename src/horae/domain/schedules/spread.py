"""Spread: moves fires away from the full minute, by a window per job and a jitter per fire, both from a stable hash."""

from datetime import datetime, timedelta
from hashlib import blake2b

import msgspec

from horae.domain.errors import InvalidSchedule

MAX_SPREAD_S = 86_400
"""Seconds of a window, and of a jitter."""


class Spread(msgspec.Struct, frozen=True, omit_defaults=True):
    """Delays in seconds. `window`: one part of it for all fires of a job. `jitter`: a different part for each fire.

    `exact`: the owner needs the seconds of the schedule, so nothing proposes to move them.
    """

    window: float = 0.0
    jitter: float = 0.0
    exact: bool = False

    def __post_init__(self) -> None:
        if not (0 <= self.window <= MAX_SPREAD_S and 0 <= self.jitter <= MAX_SPREAD_S):
            raise InvalidSchedule(f"a window or jitter is 0 to {MAX_SPREAD_S:g} seconds")
        if self.exact and (self.window or self.jitter):
            raise InvalidSchedule("a job that fires at its exact second has no window and no jitter")


def offset(spread: Spread, key: str, fire_time: datetime) -> timedelta:
    """Return how much later than its nominal time a fire is due; the same in every process and at every time."""
    later = timedelta(0)
    if spread.window:
        later += spread.window * _part(key) * timedelta(seconds=1)
    if spread.jitter:
        later += spread.jitter * _part(f"{key}\0{fire_time.timestamp():.6f}") * timedelta(seconds=1)
    return later


def _part(text: str) -> float:
    """Return a number from 0 to 1 (excluded) that depends only on the text."""
    return int.from_bytes(blake2b(text.encode(), digest_size=6).digest()) / 2**48

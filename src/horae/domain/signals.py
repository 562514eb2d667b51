"""What is counted each minute per cell, tenant and class, and what it says about health.

Trigger delays are kept as a histogram: how many lay at or below each bound. That is enough for a percentile to within
its bucket, and it can be added up over minutes, nodes and cells.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Final
from uuid import UUID

import msgspec

BOUNDS_MS: Final = (5, 10, 25, 50, 100, 250, 500, 750, 1000, 1500, 2000, 3000, 5000, 10_000, 30_000, 60_000, 300_000)
"""The upper ends of the buckets; one more is for all that lies above."""
BUCKETS: Final = len(BOUNDS_MS) + 1
DEGRADED_MS: Final = 2000
NOBODY: Final = UUID(int=0)
"""In whose name is counted what belongs to too many tenants to name them all."""


class Ending(IntEnum):
    """What came of an attempt, as far as it is counted."""

    SUCCESS = 0
    FAILED = 1
    DEAD = 2
    SKIPPED = 3


class Mode(StrEnum):
    """Whether the scheduler keeps its promise about delays."""

    NORMAL = "NORMAL"
    DEGRADED = "DEGRADED"


class Class(msgspec.Struct, frozen=True, order=True):
    """Whose, and in which class."""

    tenant_id: UUID
    priority: int
    lane: int


class Signal(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of some minutes, added up."""

    success: int = 0
    failed: int = 0
    dead: int = 0
    skipped: int = 0
    delays: Sequence[int] = (0,) * BUCKETS
    retry_backlog: int = 0
    backlog: int = 0

    @property
    def fires(self) -> int:
        """How many first attempts were sent or handed over."""
        return sum(self.delays)

    @property
    def success_rate(self) -> float:
        """Of the attempts that were made, how many succeeded; nothing made is nothing wrong."""
        made = self.success + self.failed + self.dead
        return self.success / made if made else 1.0


def bucket_of(delay_ms: int) -> int:
    """Where a delay is counted."""
    return bisect_left(BOUNDS_MS, delay_ms)


def percentile_ms(delays: Sequence[int], part: float) -> int:
    """Below which delay that part of all lies, between the ends of its bucket; zero when there are none."""
    left, low = part * sum(delays), 0
    if not left:
        return 0
    for many, high in zip(delays, (*BOUNDS_MS, BOUNDS_MS[-1]), strict=True):
        if many and left <= many:
            return round(low + (high - low) * left / many)
        left, low = left - many, high
    return low


def added(signals: Sequence[Signal]) -> Signal:
    """One for many."""
    columns = zip(*(one.delays for one in signals), strict=True) if signals else ((0,) * BUCKETS,)
    return Signal(
        success=sum(one.success for one in signals),
        failed=sum(one.failed for one in signals),
        dead=sum(one.dead for one in signals),
        skipped=sum(one.skipped for one in signals),
        delays=tuple(sum(column) for column in columns) if signals else (0,) * BUCKETS,
        retry_backlog=sum(one.retry_backlog for one in signals),
        backlog=sum(one.backlog for one in signals),
    )


def mode_of(p95_ms: int) -> Mode:
    """Degraded while the 95th percentile of trigger delays is above two seconds."""
    return Mode.DEGRADED if p95_ms > DEGRADED_MS else Mode.NORMAL


class Stretch(msgspec.Struct, frozen=True):
    """Some minutes together: what was counted in them, and the most that waited in any of them."""

    at: datetime
    counted: Signal
    retry_backlog: int
    backlog: int


def stretches(minutes: Iterable[tuple[datetime, Signal]], since: datetime, step: timedelta, many: int) -> list[Stretch]:
    """Signals of minutes, in as many stretches of equal length; what lies outside of them is left out."""
    held: list[dict[datetime, list[Signal]]] = [{} for _ in range(many)]
    for minute, signal in minutes:
        place = (minute - since) // step
        if 0 <= place < many:
            held[place].setdefault(minute, []).append(signal)
    return [_stretch(since + step * place, found) for place, found in enumerate(held)]


def _stretch(at: datetime, found: dict[datetime, list[Signal]]) -> Stretch:
    sums = [added(signals) for signals in found.values()]
    return Stretch(
        at,
        added(sums),
        retry_backlog=max((one.retry_backlog for one in sums), default=0),
        backlog=max((one.backlog for one in sums), default=0),
    )

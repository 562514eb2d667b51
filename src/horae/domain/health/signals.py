"""Signals: what is counted each minute per cell, tenant and class, and what it says about health.

Trigger delays are kept as a histogram. That gives percentiles to within a bucket, and histograms can be added up over
minutes, nodes and cells.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Final
from uuid import UUID

import msgspec

BOUNDS_MS: Final = (5, 10, 25, 50, 100, 250, 500, 750, 1000, 1500, 2000, 3000, 5000, 10_000, 30_000, 60_000, 300_000)
"""The upper bounds of the buckets; one more bucket is for all longer delays."""
BUCKETS: Final = len(BOUNDS_MS) + 1
DEGRADED_DELAY_MS: Final = 2000
"""The 95th percentile of trigger delays above which the scheduler is degraded."""
NOBODY: Final = UUID(int=0)
"""Stands for the tenants that are not counted by name, because there are too many."""


class AttemptResult(IntEnum):
    """The result of an attempt, as it is counted."""

    SUCCESS = 0
    FAILED = 1
    DEAD = 2
    SKIPPED = 3


class HealthMode(StrEnum):
    """Whether anything is wrong (`domain.health.causes`)."""

    NORMAL = "NORMAL"
    DEGRADED = "DEGRADED"


class Class(msgspec.Struct, frozen=True, order=True):
    """A tenant with a priority and a lane."""

    tenant_id: UUID
    priority: int
    lane: int


class Signal(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of some minutes, added up."""

    success: int = 0
    failed: int = 0
    dead: int = 0
    skipped: int = 0
    delays: Sequence[int] = (0,) * BUCKETS
    retry_backlog: int = 0
    backlog: int = 0

    @property
    def fires(self) -> int:
        """How many first attempts were sent or claimed."""
        return sum(self.delays)

    @property
    def success_rate(self) -> float:
        """The part of attempts that succeeded; 1 without attempts."""
        made = self.success + self.failed + self.dead
        return self.success / made if made else 1.0


def bucket_of(delay_ms: int) -> int:
    """Return the bucket of a delay."""
    return bisect_left(BOUNDS_MS, delay_ms)


def percentile_ms(delays: Sequence[int], part: float) -> int:
    """Return the delay below which that part of all lies, interpolated within its bucket; zero without delays."""
    left, low = part * sum(delays), 0
    if not left:
        return 0
    for many, high in zip(delays, (*BOUNDS_MS, BOUNDS_MS[-1]), strict=True):
        if many and left <= many:
            return round(low + (high - low) * left / many)
        left, low = left - many, high
    return low


def add_signals(signals: Sequence[Signal]) -> Signal:
    """Return the sum of signals."""
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


class SignalSpan(msgspec.Struct, frozen=True):
    """Some minutes together: their counts, and the highest backlog in any of them."""

    at: datetime
    counted: Signal
    retry_backlog: int
    backlog: int


def signal_spans(
    minutes: Iterable[tuple[datetime, Signal]], since: datetime, step: timedelta, many: int
) -> list[SignalSpan]:
    """Return `many` spans of equal length with the signals of their minutes; minutes outside of them are left out."""
    held: list[dict[datetime, list[Signal]]] = [{} for _ in range(many)]
    for minute, signal in minutes:
        place = (minute - since) // step
        if 0 <= place < many:
            held[place].setdefault(minute, []).append(signal)
    return [_span(since + step * place, found) for place, found in enumerate(held)]


def _span(at: datetime, found: dict[datetime, list[Signal]]) -> SignalSpan:
    sums = [add_signals(signals) for signals in found.values()]
    return SignalSpan(
        at,
        add_signals(sums),
        retry_backlog=max((one.retry_backlog for one in sums), default=0),
        backlog=max((one.backlog for one in sums), default=0),
    )

"""How far a backfill is, when it will end, and what a backfill would cost before it is started.

The estimate is the mean pace so far, over the time in which the backfill was not paused. It counts instances that have
ended, not decided fires: those that the mode leaves out take no time.
"""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec

from horae.domain.schedules.backfills import Backfill, BackfillMode, BackfillStatus

ESTIMATED_FROM_SHARE: Final = 0.1
"""The part of all instances that must have ended before their pace says when the rest will."""
UNKNOWN_CALL_S: Final = 0.1
"""The assumed seconds of a call of a job without any."""
MIN_CALL_S: Final = 0.001
"""The shortest call that a forecast counts with."""
MAX_CREATED_PER_S: Final = 500.0
"""Instances a second that one backfill creates at most beside live work: portions of 200, one after the other."""


class BackfillProgress(msgspec.Struct, frozen=True):
    """Instances that have ended, of how many, and the seconds until all have; None before a tenth of them has ended."""

    done: int
    total: int
    running_s: float
    left_s: float | None


def progress_of(backfill: Backfill, live: int, now: datetime) -> BackfillProgress:
    """Return the progress of a backfill with so many live instances."""
    done = max(0, backfill.inserted - live)
    total = _total(backfill)
    until = backfill.paused_at or now
    running_s = max(0.0, (until - backfill.created_at).total_seconds() - backfill.paused_s)
    if done >= total:
        return BackfillProgress(done, total, running_s, 0.0)
    left_s = running_s * (total - done) / done if done >= total * ESTIMATED_FROM_SHARE and done > 0 else None
    return BackfillProgress(done, total, running_s, left_s)


def combined(parts: Iterable[BackfillProgress]) -> BackfillProgress:
    """Return the progress of several backfills that run beside each other: the whole ends with the last."""
    parts = list(parts)
    done, total = sum(part.done for part in parts), sum(part.total for part in parts)
    running_s = max((part.running_s for part in parts), default=0.0)
    if done >= total:
        return BackfillProgress(done, total, running_s, 0.0)
    if done < total * ESTIMATED_FROM_SHARE:
        return BackfillProgress(done, total, running_s, None)
    mean_s = running_s * (total - done) / done
    return BackfillProgress(done, total, running_s, max(mean_s, *(part.left_s or 0.0 for part in parts)))


def _total(backfill: Backfill) -> int:
    """How many instances it will have had at its end, as far as that is known."""
    if backfill.status in (BackfillStatus.DONE, BackfillStatus.CANCELLED):
        return backfill.inserted
    if backfill.needed is None:
        return backfill.planned - backfill.already
    undecided = backfill.planned - backfill.inserted - backfill.already
    return min(max(backfill.needed, backfill.inserted), backfill.inserted + max(undecided, 0))


class PastFires(msgspec.Struct, frozen=True):
    """How the fires of a range went before: how many succeeded, and how many died and did not succeed."""

    succeeded: int
    failed: int


def count_needed(mode: BackfillMode, planned: int, past: PastFires) -> int:
    """Return how many of the planned fires a mode runs."""
    match mode:
        case BackfillMode.ALL:
            return planned
        case BackfillMode.UNSUCCESSFUL:
            return max(0, planned - past.succeeded)
        case BackfillMode.MISSING:
            return max(0, planned - past.succeeded - past.failed)
        case BackfillMode.FAILED:
            return min(planned, past.failed)


class PaceBound(StrEnum):
    """What bounds the pace of a backfill."""

    RATE = "RATE"
    """Its own rate."""
    LIMIT_RATE = "LIMIT_RATE"
    """The rate of a limit: of the tenant, the job, a quota or the target."""
    LIMIT_CONCURRENCY = "LIMIT_CONCURRENCY"
    """The concurrency of a limit."""
    LANE_SLOTS = "LANE_SLOTS"
    """The slots that backfills may use on all nodes."""
    CREATION = "CREATION"
    """How fast a node creates its instances."""


class BoundedPace(msgspec.Struct, frozen=True):
    """One bound and the calls a second that it allows. `name` is the limit's."""

    bound: PaceBound
    calls_per_s: float
    name: str | None = None


class BackfillForecast(msgspec.Struct, frozen=True):
    """What a backfill would cost: the calls a second, the seconds, and the slots in use, by the lowest bound.

    `duration_s` is None where nothing can be called now, because no node is alive.
    """

    calls_per_s: float
    duration_s: float | None
    slots: float
    call_s: float
    limited_by: PaceBound
    bounds: list[BoundedPace]


def forecast(needed: int, call_s: float | None, bounds: Iterable[BoundedPace]) -> BackfillForecast:
    """Return what so many calls of so many seconds each cost. The lowest bound comes first."""
    seconds = UNKNOWN_CALL_S if call_s is None else max(call_s, MIN_CALL_S)
    ordered = sorted(bounds, key=lambda one: one.calls_per_s)
    pace = ordered[0].calls_per_s
    duration_s = needed / pace if pace > 0 else None
    return BackfillForecast(pace, duration_s, min(pace * seconds, float(needed)), seconds, ordered[0].bound, ordered)

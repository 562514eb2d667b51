"""What became of each fire that should exist on a day, and the numbers of it.

1. A fire with several rows, such as a replay or a backfill, counts as the best of them.
2. A fire is on time if its first attempt was sent, or handed to a worker, within the limit of the service level.
3. A fire without a row is undecided while its cursor has not reached it, and missing otherwise.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec

from horae.domain.certificates.evidence import AbsentFire, EvidenceRow
from horae.domain.fire_audit.expected import ExpectedFire, expected_fires
from horae.domain.fire_audit.histories import JobHistory
from horae.domain.fire_audit.skips import SEEN_WITHIN
from horae.domain.health.service_level import IN_TIME_LIMIT, IN_TIME_LIMIT_MS
from horae.domain.ids import creation_time
from horae.domain.instances.lifecycle import State


class FireResult(StrEnum):
    """What became of a fire. The order is that in which one of several rows counts."""

    ON_TIME = "on_time"
    """It succeeded, and its first attempt was within the limit."""
    LATE = "late"
    """It succeeded, and its first attempt was later."""
    WAITING = "waiting"
    """It waits, runs, or will be retried."""
    DEAD = "dead"
    """It was given up."""
    CANCELLED = "cancelled"
    """Somebody cancelled it."""
    SKIPPED = "skipped"
    """It was not to run; the row has the reason."""
    UNDECIDED = "undecided"
    """It has no row, because the cursor of its job has not reached it."""
    MISSING = "missing"
    """It has no row and should have one."""


NOT_OWED: Final = "not_owed"
"""Why a fire without a row is no fault and not counted: a changed, limited or paused schedule need not decide it."""
RANKS: Final = {result: rank for rank, result in enumerate(FireResult)}
ENDED: Final = {
    State.DEAD: FireResult.DEAD,
    State.CANCELLED: FireResult.CANCELLED,
    State.SKIPPED: FireResult.SKIPPED,
}


class CountedFire(NamedTuple):
    """A fire and what became of it; a skipped one has a reason."""

    at: datetime
    result: FireResult
    reason: str | None = None


class DayCounts(msgspec.Struct, frozen=True):
    """Numbers of fires. `expected` is the sum of all others."""

    expected: int = 0
    on_time: int = 0
    late: int = 0
    waiting: int = 0
    dead: int = 0
    cancelled: int = 0
    undecided: int = 0
    missing: int = 0
    skipped: dict[str, int] = {}


class JobResults(NamedTuple):
    """What became of the fires of one job, and those that have no row."""

    fires: list[CountedFire]
    absent: list[AbsentFire]


def results_of(job: JobHistory, rows: Sequence[EvidenceRow], since: datetime, until: datetime) -> JobResults:
    """Return what became of each fire of a job from `since` to `until` (excluded)."""
    expected = expected_fires(job, since, until)
    rows_at = _rows_by_fire([fire.at for fire in expected], rows)
    found = JobResults([], [])
    for fire in expected:
        if fire.at in rows_at:
            counted = (_counted(fire.at, row) for row in rows_at[fire.at])
            found.fires.append(min(counted, key=lambda one: RANKS[one.result]))
            continue
        why = _why_absent(job, fire)
        found.absent.append(AbsentFire(fire.at, why))
        if why != NOT_OWED:
            found.fires.append(CountedFire(fire.at, FireResult(why)))
    return found


def count(fires: Iterable[CountedFire]) -> DayCounts:
    """Return the numbers of fires."""
    results: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    for fire in fires:
        if fire.result is FireResult.SKIPPED:
            skipped[fire.reason or ""] += 1
        else:
            results[fire.result] += 1
    return DayCounts(expected=results.total() + skipped.total(), skipped=dict(sorted(skipped.items())), **results)


def add_up(counts: Iterable[DayCounts]) -> DayCounts:
    """Return the sums of counts."""
    total: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    for one in counts:
        skipped.update(one.skipped)
        total.update({name: getattr(one, name) for name in DayCounts.__struct_fields__ if name != "skipped"})
    return DayCounts(**total, skipped=dict(sorted(skipped.items())))


def _rows_by_fire(fires: Sequence[datetime], rows: Iterable[EvidenceRow]) -> dict[datetime, list[EvidenceRow]]:
    """Return the rows of each fire: its own, and the ranges over it. Fires by hand and re-runs are rows of none."""
    found: defaultdict[datetime, list[EvidenceRow]] = defaultdict(list)
    for row in rows:
        if row.is_range:
            end = bisect_right(fires, row.range_to or row.fire_time)
            for at in fires[bisect_left(fires, row.fire_time) : end]:
                found[at].append(row)
        elif row.recorded().is_of_schedule:
            found[row.fire_time].append(row)
    return found


def _counted(at: datetime, row: EvidenceRow) -> CountedFire:
    if row.state == State.SUCCESS:
        return CountedFire(at, FireResult.ON_TIME if _is_on_time(row) else FireResult.LATE)
    return CountedFire(at, ENDED.get(State(row.state), FireResult.WAITING), row.reason)


def _is_on_time(row: EvidenceRow) -> bool:
    """Whether the first attempt was in time, and the row was not decided late, which gives it a later due time."""
    if row.delay_ms is None or row.delay_ms > IN_TIME_LIMIT_MS:
        return False
    decided_after_ms = (creation_time(row.id) - row.fire_time) / IN_TIME_LIMIT * IN_TIME_LIMIT_MS
    return row.due_at <= row.fire_time or decided_after_ms <= IN_TIME_LIMIT_MS + row.held_ms


def _why_absent(job: JobHistory, fire: ExpectedFire) -> str:
    if job.cursor is not None and min(fire.at, fire.due) >= job.cursor:
        return FireResult.UNDECIDED
    waits = any(pause.until is None and pause.since <= fire.at + SEEN_WITHIN for pause in job.tenant_pauses)
    return FireResult.MISSING if fire.is_certain and not waits else NOT_OWED

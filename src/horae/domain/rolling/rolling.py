"""Rolling sets: when subjects are refreshed, how their calls are spread, and how well a set is covered."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from math import ceil
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.instances.retries import RetryPolicy
from horae.domain.schedules.triggers import RollingTrigger
from horae.domain.tasks.tasks import check_key

BATCH: Final = 1000
"""Subjects that are occupied at once."""
ONE_TRY: Final = RetryPolicy(max_failures=1)
"""The default retry policy of a refresh: the subject is refreshed again in its next window anyway."""
SPREAD_TICK_SHARE: Final = 0.9
"""The part of the rest of a tick over which its calls are spread: the last calls must not run into the next tick."""
AGES: Final = 7
"""Classes of age in `Coverage.ages`."""
STALE_INDEX: Final = 5
"""The index in `Coverage.ages` of subjects that are not fresh."""
NEVER_INDEX: Final = 6
"""The index in `Coverage.ages` of subjects that never succeeded."""
AT_ONCE: Final = datetime.min.replace(tzinfo=UTC)
"""The time of a subject that need not wait for a tick: it is before every other time."""
OCCUPIED_AHEAD: Final = timedelta(seconds=5)
"""How long before their calls subjects are occupied: a node that is killed has occupied only few."""


MAX_CALLS_UNDER_WAY_S: Final = 15.0
"""Seconds of calls that may be under way, with those occupied ahead; more than this means that the target is slow."""
FEW: Final = 10
"""Calls that may be under way at any pace."""


class SubjectStatus(IntEnum):
    """How the last refresh of a subject stands. `RUNNING` lasts until the end is recorded, which takes some seconds."""

    NEVER_RUN = 0
    RUNNING = 1
    SUCCEEDED = 2
    FAILED = 3


class Subject(NamedTuple):
    """A member of a rolling job's set. `instance_id` is set while a refresh is under way."""

    key: str
    added_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    last_success_at: datetime | None = None
    batch_no: UUID | None = None
    remark: str | None = None
    instance_id: UUID | None = None
    updated_at: datetime | None = None
    status: int = SubjectStatus.NEVER_RUN


class SubjectFilter(NamedTuple):
    """Which subjects a list shows: keys that begin with `prefix`, one status, one batch."""

    prefix: str = ""
    status: SubjectStatus | None = None
    batch_no: UUID | None = None


class RollingPace(msgspec.Struct, frozen=True):
    """How the calls of a tick are spread: the next one is due at `due`, then one every `gap` seconds."""

    tick: datetime
    version: int
    due: datetime
    gap: float

    def batch(self, now: datetime) -> int:
        """Return how many subjects to occupy now, so that calls are planned up to `OCCUPIED_AHEAD` and no further."""
        if self.due >= now + OCCUPIED_AHEAD / 2:
            return 0  # enough for now: few large batches cost less than many small ones
        ahead = (now + OCCUPIED_AHEAD - max(self.due, now)).total_seconds()
        return min(BATCH, max(1, ceil(ahead / self.gap))) if self.gap > 0 else BATCH

    def room(self, under_way: int) -> int:
        """Return how many more calls may be under way: a target that is slower than its rate is not overloaded."""
        return BATCH if self.gap <= 0 else max(0, FEW + ceil(MAX_CALLS_UNDER_WAY_S / self.gap) - under_way)

    def times(self, now: datetime, many: int) -> list[datetime]:
        """Return when the next `many` calls are due."""
        first = max(self.due, now)
        return [first + timedelta(seconds=self.gap * n) for n in range(many)]

    def after(self, now: datetime, many: int) -> "RollingPace":
        """Return the pace after `many` more calls."""
        return msgspec.structs.replace(self, due=max(self.due, now) + timedelta(seconds=self.gap * many))


def pace_of(
    trigger: RollingTrigger, version: int, tick: datetime, now: datetime, eligible: int, rate: float | None
) -> RollingPace:
    """Spread the eligible subjects over the rest of the tick, never faster than the target's rate."""
    left = max(0.0, (trigger.end(tick) - now).total_seconds()) * SPREAD_TICK_SHARE
    gap = left / eligible if eligible else 0.0
    return RollingPace(tick, version, now, max(gap, 1 / rate if rate else 0.0))


class Coverage(msgspec.Struct, frozen=True):
    """How many subjects of a set are fresh, whether that is enough, and an estimate of when it will be.

    `ages` counts the subjects by their last success: within a quarter, half, three quarters and all of the window,
    within the fresh time, before that, never. Each subject is counted once.
    """

    at: datetime
    subjects: int
    fresh: int
    occupied: int
    met: bool
    estimate_at: datetime | None = None
    ages: tuple[int, ...] = ()

    @property
    def share(self) -> float:
        """Which part of the set is fresh; 1 for an empty set."""
        return self.fresh / self.subjects if self.subjects else 1.0


class CoverageCount(NamedTuple):
    """The counts of a set at a time."""

    at: datetime
    subjects: int
    fresh: int
    occupied: int
    ages: tuple[int, ...] = ()

    def plus(self, more: "CoverageCount") -> "CoverageCount":
        """Return the sum of both, with the time of this one."""
        ages = tuple(one + other for one, other in zip(self.ages, more.ages, strict=True))
        return CoverageCount(
            self.at, self.subjects + more.subjects, self.fresh + more.fresh, self.occupied + more.occupied, ages
        )


def since_when(trigger: RollingTrigger, now: datetime) -> list[datetime]:
    """Return the times since which a subject must have succeeded: first to be fresh, then for each younger age."""
    begin = trigger.refreshed_before(now)
    window = now - begin
    return [min(trigger.fresh_since(now), begin), begin, *(now - window * part for part in (0.75, 0.5, 0.25))]


def count_from_rows(at: datetime, rows: Iterable[tuple[int | None, int, int]]) -> CoverageCount:
    """Return the counts from rows of age, subjects and refreshes under way.

    Age 0 is not fresh, None never succeeded, the highest age is the youngest.
    """
    ages, occupied = [0] * AGES, 0
    for age, many, under_way in rows:
        ages[NEVER_INDEX if age is None else STALE_INDEX - age] += many
        occupied += under_way
    return CoverageCount(at, sum(ages), sum(ages[:STALE_INDEX]), occupied, tuple(ages))


def judge(trigger: RollingTrigger, now: CoverageCount, before: CoverageCount | None) -> Coverage:
    """Return whether a set is covered; if not, when it will be at the pace since the count before."""
    found = Coverage(now.at, now.subjects, now.fresh, now.occupied, met=True, ages=now.ages)
    needed = ceil(trigger.share * now.subjects) - now.fresh
    if needed <= 0:
        return found
    gained = now.fresh - before.fresh if before is not None else 0
    if before is None or gained <= 0 or now.at <= before.at:
        return msgspec.structs.replace(found, met=False)
    when = now.at + (now.at - before.at) * (needed / gained)
    return msgspec.structs.replace(found, met=False, estimate_at=when)


def check_subject(key: str) -> None:
    """Refuse a subject that is not a valid key."""
    check_key(key)

"""Rolling sets: when subjects are refreshed, how their calls are spread, and how well a set is covered."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.retries import RetryPolicy
from horae.domain.tasks import check_key
from horae.domain.triggers import RollingTrigger

BATCH: Final = 1000
ONE_TRY: Final = RetryPolicy(max_failures=1)
"""Of a refresh, where its job does not say otherwise: a subject comes again with its window."""
MARGIN: Final = 0.9
"""Of what is left of a tick: its last calls must not be the next one's."""
AGES: Final = 7
STALE, NEVER = 5, 6
AT_ONCE: Final = datetime.min.replace(tzinfo=UTC)
"""As old as a subject is that need not wait for a tick; before it there is nothing."""
AHEAD: Final = timedelta(seconds=5)
"""So far ahead of their calls subjects are occupied: what is killed has taken little with it."""


BEHIND: Final = 15.0
"""Seconds of calls that may be under way, what is ahead of its time among them; more means that the target is slow."""
FEW: Final = 10


class Subject(NamedTuple):
    """A member of a rolling job's set. `instance_id`: a refresh of it is under way."""

    key: str
    added_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    last_success_at: datetime | None = None
    batch_no: UUID | None = None
    remark: str | None = None
    instance_id: UUID | None = None


class Pace(msgspec.Struct, frozen=True):
    """How a tick's calls are spread: the next is due at `due`, then one every `gap` seconds."""

    tick: datetime
    version: int
    due: datetime
    gap: float

    def batch(self, now: datetime) -> int:
        """How many subjects to occupy now: so that calls are known a little ahead, and no further."""
        if self.due >= now + AHEAD / 2:
            return 0  # enough for a while: a few larger batches cost less than many small ones
        ahead = (now + AHEAD - max(self.due, now)).total_seconds()
        return min(BATCH, max(1, ceil(ahead / self.gap))) if self.gap > 0 else BATCH

    def room(self, under_way: int) -> int:
        """How many more may be under way: a target slower than its rate is not buried in what it cannot take."""
        return BATCH if self.gap <= 0 else max(0, FEW + ceil(BEHIND / self.gap) - under_way)

    def times(self, now: datetime, many: int) -> list[datetime]:
        """When so many calls are due."""
        first = max(self.due, now)
        return [first + timedelta(seconds=self.gap * n) for n in range(many)]

    def after(self, now: datetime, many: int) -> "Pace":
        """The same behind so many calls."""
        return msgspec.structs.replace(self, due=max(self.due, now) + timedelta(seconds=self.gap * many))


def pace_of(
    trigger: RollingTrigger, version: int, tick: datetime, now: datetime, eligible: int, rate: float | None
) -> Pace:
    """Spread what is eligible over what is left of the tick, never faster than the target's rate."""
    left = max(0.0, (trigger.end(tick) - now).total_seconds()) * MARGIN
    gap = left / eligible if eligible else 0.0
    return Pace(tick, version, now, max(gap, 1 / rate if rate else 0.0))


class Coverage(msgspec.Struct, frozen=True):
    """How many subjects of a set are fresh, whether that is enough, and when it will be by the pace of late.

    `ages`: how many succeeded last within a quarter, half, three quarters and all of the window, within what counts as
    fresh, before that, never; each once.
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
        """Which part of the set is fresh; of nothing all is."""
        return self.fresh / self.subjects if self.subjects else 1.0


class Counted(NamedTuple):
    """What was counted at a time."""

    at: datetime
    subjects: int
    fresh: int
    occupied: int
    ages: tuple[int, ...] = ()

    def plus(self, more: "Counted") -> "Counted":
        """Both together, as of now."""
        ages = tuple(one + other for one, other in zip(self.ages, more.ages, strict=True))
        return Counted(
            self.at, self.subjects + more.subjects, self.fresh + more.fresh, self.occupied + more.occupied, ages
        )


def since_when(trigger: RollingTrigger, now: datetime) -> list[datetime]:
    """Since when a subject must have succeeded to be fresh, then to be of each younger age."""
    window = trigger.window
    lengths = (trigger.fresh_seconds, window, window * 3 / 4, window / 2, window / 4)
    return [now - timedelta(seconds=length) for length in lengths]


def tallied(at: datetime, rows: Iterable[tuple[int | None, int, int]]) -> Counted:
    """What was counted by age: 0 is not fresh, None never succeeded, the highest is the youngest."""
    ages, occupied = [0] * AGES, 0
    for age, many, under_way in rows:
        ages[NEVER if age is None else STALE - age] += many
        occupied += under_way
    return Counted(at, sum(ages), sum(ages[:STALE]), occupied, tuple(ages))


def judge(trigger: RollingTrigger, now: Counted, before: Counted | None) -> Coverage:
    """Whether a set is covered; if not, when it will be if it goes on as since it was counted before."""
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
    """Refuse what could not be told apart or printed later."""
    check_key(key)

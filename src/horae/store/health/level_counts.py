"""Counts which due times of one cell were served in time, in memory; written once a minute by `upkeep.signals`."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from horae.domain.health.service_level import (
    IN_TIME_LIMIT,
    IN_TIME_LIMIT_MS,
    OUR_SKIPS,
    LevelCount,
    is_missed,
    spread_range,
)
from horae.domain.health.signals import NOBODY
from horae.domain.ids import creation_time
from horae.domain.instances.expiry import WaitingInstance
from horae.domain.instances.instances import Instance, Lane
from horae.domain.instances.outcomes import SkipReason
from horae.domain.schedules import FireVerdict, SkipVerdict, Verdict
from horae.domain.schedules.timers import Timer

LevelPlace = tuple[int, UUID, int]
"""A minute, as a number since 1970, a tenant and a priority."""
MINUTE_S: Final = 60


class LevelRow(NamedTuple):
    """The counts of one minute, tenant and priority."""

    begins_at: datetime
    tenant_id: UUID
    priority: int
    in_time: int
    late: int


class SkippedFires(Protocol):
    """Fires that do not run: `fires` of them, from `fire_time` to `until`."""

    @property
    def fire_time(self) -> datetime:
        """The first one."""

    @property
    def until(self) -> datetime:
        """The last one."""

    @property
    def fires(self) -> int:
        """How many they are."""

    @property
    def reason(self) -> SkipReason:
        """Why they do not run."""


class LevelCounts:
    """Each due time is counted once, in the minute of its due time.

    - A due time with an attempt counts at its first attempt: `count_call` for calls, `count_claim` for workers.
    - A fire that was missed counts when it gets its verdict (`count_verdicts`), and not again at its attempt.
    """

    def __init__(self) -> None:
        self._counts: dict[LevelPlace, list[int]] = {}
        self._taken: Counter[tuple[int, bool]] = Counter()

    def count_call(self, ran: Instance, delay_ms: int) -> None:
        """Count a first attempt that was sent so many milliseconds after it was due, without the time at gates."""
        if not _counted_before(ran):
            self._add(ran.due_at, ran.tenant_id, ran.priority, delay_ms > IN_TIME_LIMIT_MS or _was_decided_late(ran))

    def count_claim(self, ran: Instance) -> None:
        """Count a first attempt that a worker claimed. Only the time until it could be claimed is ours."""
        if not _counted_before(ran):
            late = creation_time(ran.id) - ran.due_at > IN_TIME_LIMIT
            self._add(ran.due_at, ran.tenant_id, ran.priority, late or _was_decided_late(ran))

    def count_verdicts(self, timer: Timer, verdicts: Iterable[Verdict], now: datetime) -> None:
        """Count the missed fires among the verdicts of a cursor: those that are caught up, and those that are skipped.

        A fire that is late and not missed keeps its due time, and counts at its attempt.
        """
        for verdict in verdicts:
            if isinstance(verdict, SkipVerdict):
                self.count_skip(timer, verdict, now)
            elif _is_caught_up(verdict, now):
                self._add(verdict.fire_time, timer.tenant_id, timer.priority, True)

    def count_overlaps(self, timer: Timer, skipped: Iterable[FireVerdict], now: datetime, held: timedelta) -> None:
        """Count fires that the overlap policy skips only because we are late. A gate may have `held` them until now."""
        for verdict in skipped:
            if now - verdict.due_at - held > IN_TIME_LIMIT and not _is_caught_up(verdict, now):
                self._add(verdict.due_at, timer.tenant_id, timer.priority, True)

    def count_skip(self, timer: Timer, skip: SkippedFires, now: datetime) -> None:
        """Count fires that are skipped, if the cause is ours."""
        if skip.reason in OUR_SKIPS:
            for begin, many in spread_range(skip.fire_time, skip.until, skip.fires, now):
                self._add(begin, timer.tenant_id, timer.priority, True, many)

    def count_expired(self, waiting: WaitingInstance) -> None:
        """Count an instance that expired before its first attempt, although no gate held it back."""
        if not waiting.attempt and not _counted_before(waiting):
            self._add(waiting.due_at, waiting.tenant_id, waiting.priority, True)

    def take(self, most: int) -> list[LevelRow]:
        """Return all counts with the sums of all tenants, and start again from zero.

        Beyond `most` rows only the sums are kept; the rows of tenants with late fires come first.
        """
        counts, self._counts = self._counts, {}
        sums: dict[LevelPlace, list[int]] = {}
        for (minute, _, priority), (in_time, late) in counts.items():
            total = sums.setdefault((minute, NOBODY, priority), [0, 0])
            total[0] += in_time
            total[1] += late
        self._add_taken(sums, 1)
        own = [(place, row) for place, row in counts.items() if place[1] != NOBODY]
        own.sort(key=lambda item: (-item[1][1], -item[1][0]))
        return [
            LevelRow(datetime.fromtimestamp(minute * MINUTE_S, UTC), tenant_id, priority, *row)
            for (minute, tenant_id, priority), row in (*sums.items(), *own[:most])
        ]

    def give_back(self, rows: Iterable[LevelRow]) -> None:
        """Add counts that could not be written, so that they are written with the next ones.

        What had no row of its own stays with nobody: only its sum is known.
        """
        own: Counter[tuple[int, int, bool]] = Counter()
        sums: dict[LevelPlace, list[int]] = {}
        for row in rows:
            minute = _minute_of(row.begins_at)
            place = (minute, row.tenant_id, row.priority)
            if row.tenant_id == NOBODY:
                sums[place] = [row.in_time, row.late]
                continue
            own[minute, row.priority, False] += row.in_time
            own[minute, row.priority, True] += row.late
            self._add_to(place, False, row.in_time)
            self._add_to(place, True, row.late)
        self._add_taken(sums, -1)
        for (minute, nobody, priority), (in_time, late) in sums.items():
            self._add_to((minute, nobody, priority), False, in_time - own[minute, priority, False])
            self._add_to((minute, nobody, priority), True, late - own[minute, priority, True])

    def totals(self) -> dict[int, LevelCount]:
        """Everything that was counted since the process began, by priority."""
        both = Counter(self._taken)
        for (_, _, priority), (in_time, late) in self._counts.items():
            both[priority, False] += in_time
            both[priority, True] += late
        return {priority: LevelCount(both[priority, False], both[priority, True]) for priority, _ in both}

    def _add(self, at: datetime, tenant_id: UUID, priority: int, late: bool, many: int = 1) -> None:
        self._add_to((_minute_of(at), tenant_id, priority), late, many)

    def _add_to(self, place: LevelPlace, late: bool, many: int) -> None:
        if many:
            row = self._counts.get(place)
            if row is None:
                row = self._counts[place] = [0, 0]
            row[late] += many

    def _add_taken(self, sums: dict[LevelPlace, list[int]], sign: int) -> None:
        for (_, _, priority), (in_time, late) in sums.items():
            self._taken[priority, False] += sign * in_time
            self._taken[priority, True] += sign * late


def _minute_of(at: datetime) -> int:
    return int(at.timestamp() // MINUTE_S)


def _is_caught_up(verdict: FireVerdict, now: datetime) -> bool:
    """Whether a fire was missed, and is due anew because its misfire policy catches it up."""
    return verdict.due_at != verdict.fire_time and is_missed(verdict.fire_time, now)


def _was_decided_late(ran: Instance) -> bool:
    """Whether the row of a recurring fire was written late, and has a later due time since then."""
    if ran.due_at <= ran.fire_time or ran.business_key is not None:
        return False
    return creation_time(ran.id) - ran.fire_time > IN_TIME_LIMIT + timedelta(milliseconds=ran.held_ms)


def _counted_before(ran: Instance | WaitingInstance) -> bool:
    """Whether an instance is no due time of its own: a retry, a backfill, a missed fire, or a replay of a fire."""
    if ran.lane != Lane.FIRST:
        return True
    if ran.due_at == ran.fire_time or ran.business_key is not None:
        return False
    return is_missed(ran.fire_time, creation_time(ran.id))

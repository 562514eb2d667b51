"""Fires that a job still owes under the schedule that a change is about to replace.

A version owes the fires that became due while it was in force, and no others. If the cursor is behind when the schedule
changes, it first walks up to now under the old schedule, as a node would. The next version continues there.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from msgspec.structs import replace

from horae.domain.errors import Contended, Unavailable
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import SkipReason
from horae.domain.jobs.jobs import Job
from horae.domain.schedules import (
    FireVerdict,
    Schedule,
    SkipVerdict,
    Verdict,
    advance,
    verdicts_with_positions,
)
from horae.domain.schedules.overlap import Way, decide
from horae.domain.schedules.timers import Timer, cursor_of
from horae.store.instances import instances
from horae.store.schedules import cursors
from horae.store.tx import Tx

ROWS_PER_STATEMENT: Final = 500
"""Verdicts that one statement writes at most."""


async def write_owed_fires(tx: Tx, job: Job, schedule: Schedule, decided: list[Verdict]) -> Job:
    """Write a row for every due fire. Returns the job with its cursor after now, or at the end of its schedule.

    The verdicts are added to `decided`.

    1. Nothing is owed where the cursor is in the future or the job is not recurring.
    2. The cursor is locked where it was read. If it has moved, a node has fired, and the change begins again.
    3. The schedule advances step by step up to now. Each verdict leaves a row: a fire waits for its claim, a skip says
       why.
    """
    stood = job.next_fire_at
    if stood is None or stood > tx.now or not job.recurring:
        return job
    if not schedule.calendars.keys() >= set(job.calendars):
        raise Unavailable(f"a calendar of job {job.name!r} is not known here yet; nothing was changed, ask again")
    fired = await cursors.lock(tx, cursor_of(job, stood))
    if fired is None:
        raise Contended(f"job {job.name!r} fired while it was being changed")
    walk = _CursorWalk(tx, job, await instances.lock_live(tx, job.shard, job.id) if job.exclusive else {})
    while stood is not None and stood <= tx.now:
        step = advance(schedule, stood, tx.now, fired=fired)
        if not step.verdicts:  # the schedule has no fire there
            await cursors.revise(tx, replace(job, next_fire_at=stood), job.version, step.wake)
        fired += await walk.write(stood, verdicts_with_positions(step, schedule))
        decided += step.verdicts
        stood = step.wake
    return replace(job, next_fire_at=stood)


class _CursorWalk:
    """Moves the locked cursor of one job and writes a row for each verdict. Fires wait for their claim."""

    def __init__(self, tx: Tx, job: Job, living: Mapping[UUID, State]) -> None:
        self._tx, self._job = tx, job
        self._running = sum(state == State.RUNNING for state in living.values())
        self._waiting = len(living) - self._running

    async def write(self, stood: datetime, stops: Sequence[tuple[Verdict, datetime | None]]) -> int:
        """Write the rows of verdicts and move the cursor. Returns how many were fires.

        A job whose fires must not overlap is written one by one, because each verdict depends on the one before.
        """
        fired, at = 0, stood
        for first in range(0, len(stops), 1 if self._job.exclusive else ROWS_PER_STATEMENT):
            if self._job.exclusive:
                verdict, wake = stops[first]
                fired += await self._write_one(cursor_of(self._job, at), verdict, wake)
            else:
                portion = stops[first : first + ROWS_PER_STATEMENT]
                wake = portion[-1][1]
                fired += await self._write_many(cursor_of(self._job, at), portion, wake)
            at = at if wake is None else wake
        return fired

    async def _write_many(
        self, at: Timer, stops: Sequence[tuple[Verdict, datetime | None]], wake: datetime | None
    ) -> int:
        now, target = self._tx.now, self._job.definition.target
        fires = [cursors.fire_row(at, one, to, now, target, None) for one, to in stops if isinstance(one, FireVerdict)]
        skips = [cursors.skip_row(at, one, to, now) for one, to in stops if isinstance(one, SkipVerdict)]
        move = cursors.CursorMove(at.shard, at.id, at.version, at.at, wake, len(fires))
        await cursors.walk(self._tx, at.priority, [move], fires, skips)
        return len(fires)

    async def _write_one(self, at: Timer, verdict: Verdict, wake: datetime | None) -> bool:
        if isinstance(verdict, FireVerdict) and await self._insert(at, verdict, wake):
            return True
        if isinstance(verdict, FireVerdict):
            verdict = SkipVerdict(verdict.fire_time, verdict.fire_time, 1, SkipReason.OVERLAP)
        await cursors.skip(self._tx, at.priority, [cursors.skip_row(at, verdict, wake, self._tx.now)])
        return False

    async def _insert(self, at: Timer, verdict: FireVerdict, wake: datetime | None) -> bool:
        """Insert a fire of a job whose fires must not overlap. Returns False where the overlap policy skips it."""
        job, priority = self._job, self._job.definition.priority
        row = cursors.fire_row(at, verdict, wake, self._tx.now, job.definition.target, None)
        match decide(job.definition.policies.overlap, self._running, self._waiting):
            case Way.RUN:
                state = State.INIT
            case Way.WAIT:
                state = State.BLOCKED
            case Way.SKIP | Way.REPLACE:  # a late fire replaces no running instance
                return False
        self._waiting += 1
        await cursors.fire_exclusive(self._tx, priority, row, job.id, state)
        return True

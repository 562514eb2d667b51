"""What a job still owes under the schedule that it is about to leave.

A version owes the fires that came due while it was in force, and no others. Where its cursor stands behind when its
schedule changes, it is walked up to now first, as a node would have done it; the next version goes on from there.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from msgspec.structs import replace

from horae.domain.errors import Contended, Unavailable
from horae.domain.jobs import Job
from horae.domain.lifecycle import State
from horae.domain.outcomes import SkipReason
from horae.domain.schedule import Fire, Schedule, Skip, Verdict, advance, stops
from horae.domain.schedule.overlap import Way, decide
from horae.domain.timers import Timer, cursor_of
from horae.store import cursors, instances
from horae.store.tx import Tx

ROWS_PER_STATEMENT: Final = 500


async def settle(tx: Tx, job: Job, schedule: Schedule) -> Job:
    """Give every fire that is due a row; returns the job with its cursor ahead of now, or at its end."""
    stood = job.next_fire_at
    if stood is None or stood > tx.now or not job.recurring:
        return job
    if not schedule.calendars.keys() >= set(job.calendars):
        raise Unavailable(f"a calendar of job {job.name!r} is not known here yet; nothing was changed, ask again")
    fired = await cursors.lock(tx, cursor_of(job, stood))
    if fired is None:
        raise Contended(f"job {job.name!r} fired while it was being changed")
    walk = _Walk(tx, job, await instances.living(tx, job.shard, job.id) if job.exclusive else {})
    while stood is not None and stood <= tx.now:
        step = advance(schedule, stood, tx.now, fired=fired)
        if not step.verdicts:  # no fire was ever owed there
            await cursors.revise(tx, replace(job, next_fire_at=stood), job.version, step.wake)
        fired += await walk.tell(stood, stops(step, schedule))
        stood = step.wake
    return replace(job, next_fire_at=stood)


class _Walk:
    """One job's cursor, locked: every row it leaves is left. Fires wait for their claim."""

    def __init__(self, tx: Tx, job: Job, living: Mapping[UUID, State]) -> None:
        self._tx, self._job = tx, job
        self._running = sum(state == State.RUNNING for state in living.values())
        self._waiting = len(living) - self._running

    async def tell(self, stood: datetime, stops: Sequence[tuple[Verdict, datetime | None]]) -> int:
        """Leave the rows of verdicts and move on, many at once where nothing depends on the one before.

        Returns how many were fires.
        """
        fired, at = 0, stood
        for first in range(0, len(stops), 1 if self._job.exclusive else ROWS_PER_STATEMENT):
            if self._job.exclusive:
                verdict, wake = stops[first]
                fired += await self._tell_one(cursor_of(self._job, at), verdict, wake)
            else:
                portion = stops[first : first + ROWS_PER_STATEMENT]
                wake = portion[-1][1]
                fired += await self._tell_many(cursor_of(self._job, at), portion, wake)
            at = at if wake is None else wake
        return fired

    async def _tell_many(
        self, at: Timer, stops: Sequence[tuple[Verdict, datetime | None]], wake: datetime | None
    ) -> int:
        now, target = self._tx.now, self._job.definition.target
        fires = [cursors.fire_row(at, one, to, now, target, None) for one, to in stops if isinstance(one, Fire)]
        skips = [cursors.skip_row(at, one, to, now) for one, to in stops if isinstance(one, Skip)]
        move = cursors.Move(at.shard, at.id, at.version, at.at, wake, len(fires))
        await cursors.walk(self._tx, at.priority, [move], fires, skips)
        return len(fires)

    async def _tell_one(self, at: Timer, verdict: Verdict, wake: datetime | None) -> bool:
        if isinstance(verdict, Fire) and await self._born(at, verdict, wake):
            return True
        if isinstance(verdict, Fire):
            verdict = Skip(verdict.fire_time, verdict.fire_time, 1, SkipReason.OVERLAP)
        await cursors.skip(self._tx, at.priority, [cursors.skip_row(at, verdict, wake, self._tx.now)])
        return False

    async def _born(self, at: Timer, verdict: Fire, wake: datetime | None) -> bool:
        job, priority = self._job, self._job.definition.priority
        row = cursors.fire_row(at, verdict, wake, self._tx.now, job.definition.target, None)
        match decide(job.definition.policies.overlap, self._running, self._waiting):
            case Way.RUN:
                state = State.INIT
            case Way.WAIT:
                state = State.BLOCKED
            case Way.SKIP | Way.REPLACE:  # nothing is stopped for a fire that is late already
                return False
        self._waiting += 1
        await cursors.fire_exclusive(self._tx, priority, row, job.id, state)
        return True

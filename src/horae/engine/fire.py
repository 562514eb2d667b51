"""Fire what is due: look at the cursors, ask each schedule for its verdict, move and give birth in one statement.

Whoever else believes to own these shards: the cursor's compare-and-set lets one through. Every fire a cursor passes
leaves a row, born or skipped.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from msgspec.structs import replace

from horae.domain.errors import HoraeError
from horae.domain.instances import Priority
from horae.domain.jobs import Job
from horae.domain.keys import recurring
from horae.domain.outcomes import SkipReason
from horae.domain.schedule import Fire as Fires
from horae.domain.schedule import Schedule, Step, Verdict, advance, wake_of
from horae.domain.schedule import Skip as Skips
from horae.domain.targets import queue_of, slot_ms
from horae.engine.almanac import Almanac
from horae.engine.definitions import Definitions
from horae.engine.front import Front
from horae.engine.territory import Territory
from horae.runtime.batch import Refused, halve
from horae.runtime.chance import mint
from horae.runtime.telemetry import log
from horae.store import cursors, jobs
from horae.store.cells import Cell
from horae.store.cursors import Cursor, Fire, Skip, skip_row
from horae.store.tx import BAD_ROW, TRY_AGAIN, Tx

BATCH: Final = 200


class Reached(NamedTuple):
    """A due cursor, its job, and what its schedule says."""

    cursor: Cursor
    job: Job
    step: Step


class Firer:
    """Turns due cursors of some shards in one cell into instances."""

    def __init__(
        self,
        cell: Cell,
        territory: Territory,
        owner: UUID,
        definitions: Definitions,
        born: Callable[[Priority, datetime], None] = lambda _priority, _due_at: None,
    ) -> None:
        self.cell = cell
        self.territory = territory
        self.owner = owner
        self.definitions = definitions
        self.almanac = Almanac(cell)
        self.born = born
        self.fronts = {priority: Front() for priority in Priority}

    async def once(self) -> int:
        """One look at every priority; returns how many cursors moved on."""
        return sum([await self._look(priority, front) for priority, front in self.fronts.items()])

    async def _look(self, priority: Priority, front: Front) -> int:
        async with self.cell.statement() as tx:
            found, drained = await self.territory.due(tx, priority, front.low(tx.now), BATCH)
            if drained:
                front.drained(tx.now)
            if not found:
                return 0
            known = await self.definitions.load(tx, {(at.shard, at.job_id, at.version) for at in found})
            await self.almanac.learn(tx, known.values())
            reached, unable = self._ask(found, known, tx.now)
        done = await self._move(priority, reached) + await self._give_up(priority, unable)
        self._name_earlier(priority, front, reached)
        return done

    def _ask(
        self, found: Sequence[Cursor], known: dict[tuple[UUID, int], Job], now: datetime
    ) -> tuple[list[Reached], list[Refused[Cursor]]]:
        reached: list[Reached] = []
        unable: list[Refused[Cursor]] = []
        for cursor in sorted(found):
            job = known.get((cursor.job_id, cursor.version))
            try:
                if job is None:
                    raise LookupError("its definition is missing")
                step = advance(self.almanac.schedule(job), cursor.stood_at, now, fired=cursor.fired)
                reached.append(Reached(cursor, job, step))
            except (HoraeError, LookupError) as error:
                unable.append(Refused(cursor, str(error)))
        return reached, unable

    async def _move(self, priority: Priority, reached: Sequence[Reached]) -> int:
        """One fire or one skip per cursor goes by batch; a cursor with more to tell goes its way alone."""
        now = self.cell.clock.now()
        alone = [one for one in reached if len(one.step.verdicts) != 1]
        fires, skips = [], []
        for cursor, job, step in (one for one in reached if len(one.step.verdicts) == 1):
            [verdict] = step.verdicts
            if isinstance(verdict, Fires):
                fires.append(fire_row(cursor, job, verdict, step.wake, now))
            else:
                skips.append(skip_row(cursor, verdict, step.wake, now))
        moved = await self._fire(priority, fires) + await self._skip(priority, skips)
        for one in alone:
            moved += await self._walk(priority, one)
        return moved

    async def _fire(self, priority: Priority, fires: Sequence[Fire]) -> int:
        """Give birth to a batch; a row that fails on its own is recorded as REFUSED and its cursor goes on."""
        try:
            done = await halve(fires, partial(self._birth, priority), BAD_ROW)
        except TRY_AGAIN:
            return 0  # another node is at it too; the next look finds what is left
        refused = [_refused(fire, reason, self.cell.clock.now()) for fire, reason in done.refused]
        return len(done.results) + await self._skip(priority, refused)

    async def _birth(self, priority: Priority, fires: Sequence[Fire]) -> list[UUID]:
        async with self.cell.tx() as tx:
            born = await cursors.fire(tx, priority, fires, self.owner)
            await self._complete(tx, (fire for fire in fires if fire.id in born))
            return list(born)

    async def _skip(self, priority: Priority, skips: Sequence[Skip]) -> int:
        if not skips:
            return 0
        async with self.cell.tx() as tx:
            told = await cursors.skip(tx, priority, skips)
            await self._complete(tx, (skip for skip in skips if skip.id in told))
            return len(told)

    async def _walk(self, priority: Priority, one: Reached) -> int:
        """A cursor with several verdicts, or none: one after the other, in one transaction."""
        cursor, job, step = one
        schedule = self.almanac.schedule(job)
        wakes = [_wake(verdict, schedule) for verdict in step.verdicts]
        at = cursor
        async with self.cell.tx() as tx:
            for verdict, wake in zip(step.verdicts, [*wakes, step.wake][1:], strict=True):
                if isinstance(verdict, Fires):
                    row = fire_row(cursor, job, verdict, wake, tx.now)
                    moved = await cursors.fire(tx, priority, [row], self.owner)
                else:
                    moved = await cursors.skip(tx, priority, [skip_row(at, verdict, wake, tx.now)])
                if not moved:
                    return 0  # someone else walks here
                if wake is not None:
                    at = at._replace(stood_at=wake)
            stood = replace(job, next_fire_at=cursor.stood_at)
            if not step.verdicts and not await cursors.revise(tx, stood, job.version, step.wake):
                return 0
            if step.wake is None:
                await jobs.complete(tx, [job.shard], [job.id])
        return 1

    async def _complete(self, tx: Tx, moved: Iterable[Fire | Skip]) -> None:
        over = [row for row in moved if row.next_fire_at is None]
        if over:
            await jobs.complete(tx, [row.shard for row in over], [row.job_id for row in over])

    async def _give_up(self, priority: Priority, unable: Sequence[Refused[Cursor]]) -> int:
        """A schedule that cannot be read any more: its fire is REFUSED, and the cursor stops there."""
        now = self.cell.clock.now()
        skips = []
        for cursor, reason in unable:
            at = cursor.stood_at
            log.error("fire.refused", job=str(cursor.job_id), fire_time=at.isoformat(), reason=reason)
            skips.append(skip_row(cursor, Skips(at, at, 1, SkipReason.REFUSED), None, now, reason))
        return await self._skip(priority, skips)

    def _name_earlier(self, priority: Priority, front: Front, reached: Sequence[Reached]) -> None:
        """Behind schedule, a cursor goes to a time this scan has passed, and its fire is due before the claim's."""
        due = [verdict.due_at for one in reached for verdict in one.step.verdicts if isinstance(verdict, Fires)]
        if due:
            self.born(priority, min(due))
        wakes = [one.step.wake for one in reached if one.step.wake is not None]
        if wakes:
            front.name(min(wakes))


def fire_row(cursor: Cursor, job: Job, verdict: Fires, wake: datetime | None, now: datetime) -> Fire:
    """A fire to be born, waiting for its claim."""
    target = job.definition.target
    return Fire(
        cursor.shard,
        cursor.job_id,
        cursor.version,
        verdict.fire_time,
        wake,
        mint(cursor.shard, now),
        recurring(cursor.job_id, verdict.fire_time),
        verdict.due_at,
        None,
        slot_ms(target),
        queue_of(target),
    )


def _refused(fire: Fire, reason: str, now: datetime) -> Skip:
    log.error("fire.refused", job=str(fire.job_id), fire_time=fire.fire_time.isoformat(), reason=reason)
    cursor = Cursor(fire.shard, fire.job_id, fire.version, min(fire.fire_time, fire.due_at), 0)
    return skip_row(
        cursor, Skips(fire.fire_time, fire.fire_time, 1, SkipReason.REFUSED), fire.next_fire_at, now, reason
    )


def _wake(verdict: Verdict, schedule: Schedule) -> datetime:
    return wake_of(schedule, verdict.fire_time) if isinstance(verdict, Fires) else verdict.fire_time

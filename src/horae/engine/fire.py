"""Fire what is due: look at the cursors, compute the next fire, move and give birth in one statement.

Whoever else believes to own these shards: the cursor's compare-and-set lets one through.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from horae.domain.errors import HoraeError
from horae.domain.instances import Priority
from horae.domain.jobs import Job
from horae.domain.keys import recurring
from horae.domain.outcomes import SkipReason
from horae.domain.targets import queue_of, slot_ms
from horae.domain.triggers import next_fire
from horae.engine.definitions import Definitions
from horae.engine.front import Front
from horae.engine.territory import Territory
from horae.runtime.batch import Refused, halve
from horae.runtime.chance import mint
from horae.runtime.telemetry import log
from horae.store import cursors, jobs
from horae.store.cells import Cell
from horae.store.cursors import Cursor, Fire, Skip
from horae.store.tx import BAD_ROW, TRY_AGAIN

BATCH: Final = 200


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
        self.born = born
        self.fronts = {priority: Front() for priority in Priority}

    async def once(self) -> int:
        """One look at every priority; returns how many fires were born or given a verdict."""
        return sum([await self._look(priority, front) for priority, front in self.fronts.items()])

    async def _look(self, priority: Priority, front: Front) -> int:
        async with self.cell.statement() as tx:
            found, drained = await self.territory.due(tx, priority, front.low(tx.now), BATCH)
            if drained:
                front.drained(tx.now)
            if not found:
                return 0
            known = await self.definitions.load(tx, {(at.shard, at.job_id, at.version) for at in found})
            fires, unable = self._plan(found, known, tx.now)
        done = await self._fire(fires) + await self._give_verdicts(unable)
        self._name_earlier(priority, front, fires)
        return done

    def _name_earlier(self, priority: Priority, front: Front, fires: Sequence[Fire]) -> None:
        """Behind schedule, a cursor moves to a time this scan has passed, and its fire is due before the claim's."""
        if fires:
            self.born(priority, min(fire.due_at for fire in fires))
        following = [fire.next_fire_at for fire in fires if fire.next_fire_at is not None]
        if following:
            front.name(min(following))

    def _plan(
        self, found: Sequence[Cursor], known: dict[tuple[UUID, int], Job], now: datetime
    ) -> tuple[list[Fire], list[Refused[Cursor]]]:
        fires, unable = [], []
        for cursor in sorted(found):
            job = known.get((cursor.job_id, cursor.version))
            try:
                if job is None:
                    raise LookupError("its definition is missing")
                fires.append(fire_of(cursor, job, now))
            except (HoraeError, LookupError) as error:
                unable.append(Refused(cursor, str(error)))
        return fires, unable

    async def _fire(self, fires: Sequence[Fire]) -> int:
        """Give birth to a batch; a row that fails on its own is recorded as REFUSED and its cursor goes on."""
        try:
            done = await halve(fires, self._birth, BAD_ROW)
        except TRY_AGAIN:
            return 0  # another node is at it too; the next look finds what is left
        verdicts = [
            Refused(Cursor(fire.shard, fire.job_id, fire.version, fire.fire_time), reason)
            for fire, reason in done.refused
        ]
        return len(done.results) + await self._give_verdicts(verdicts)

    async def _birth(self, fires: Sequence[Fire]) -> list[UUID]:
        async with self.cell.tx() as tx:
            born = await cursors.fire(tx, fires, self.owner)
            last = [fire for fire in fires if fire.next_fire_at is None and fire.id in born]
            if last:
                await jobs.complete(tx, [fire.shard for fire in last], [fire.job_id for fire in last])
            return list(born)

    async def _give_verdicts(self, unable: Sequence[Refused[Cursor]]) -> int:
        for cursor, reason in unable:
            log.error("fire.refused", job=str(cursor.job_id), fire_time=cursor.fire_time.isoformat(), reason=reason)
        if not unable:
            return 0
        async with self.cell.tx() as tx:
            known = await self.definitions.load(tx, {(c.shard, c.job_id, c.version) for c, _ in unable})
            skips = [skip_of(c, known.get((c.job_id, c.version)), reason, tx.now) for c, reason in unable]
            return len(await cursors.skip(tx, skips))


def fire_of(cursor: Cursor, job: Job, now: datetime) -> Fire:
    """The fire a cursor stands at, and where the cursor goes from there."""
    target = job.definition.target
    return Fire(
        cursor.shard,
        cursor.job_id,
        cursor.version,
        cursor.fire_time,
        next_fire(job.definition.trigger, cursor.fire_time),
        mint(cursor.shard, now),
        recurring(cursor.job_id, cursor.fire_time),
        cursor.fire_time,
        None,
        slot_ms(target),
        queue_of(target),
    )


def skip_of(cursor: Cursor, job: Job | None, reason: str, now: datetime) -> Skip:
    """The verdict for a fire that could not be born; a job without a readable trigger stops here."""
    following = None
    if job is not None:
        following = next_fire(job.definition.trigger, cursor.fire_time)
    return Skip(
        cursor.shard,
        cursor.job_id,
        cursor.version,
        cursor.fire_time,
        following,
        mint(cursor.shard, now),
        recurring(cursor.job_id, cursor.fire_time),
        cursor.fire_time,
        1,
        SkipReason.REFUSED,
        reason,
    )

"""Walks through backfills: a portion of each in a round, as long as not too much of it waits already.

The births go by the lane of backfills, so they never push aside what is due. The cursor's compare-and-set lets one node
through, whoever else believes to own the shard. A backfill that cannot be walked is left alone for a while: the others
go on. A round takes a page of them, and the next one goes on behind it, so that those that stand still hide no others.
"""

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Final
from uuid import UUID

from horae.domain.backfills import Backfill, Progress, portion
from horae.domain.events import Event
from horae.domain.ids import Prefix, public
from horae.domain.instances import Lane
from horae.domain.jobs import Job, Status
from horae.domain.keys import recurring
from horae.domain.targets import queue_of
from horae.domain.timers import Timer
from horae.engine.almanac import Almanac
from horae.engine.territory import Territory
from horae.runtime.chance import mint
from horae.runtime.setbacks import Setbacks
from horae.runtime.telemetry import log
from horae.store import backfills, jobs, outbox
from horae.store.backfills import Birth
from horae.store.cells import Cell
from horae.store.tx import GONE, Tx

BATCH: Final = 200
MOST_WAITING: Final = 1000
AT_ONCE: Final = 500
BEFORE_ALL: Final = UUID(int=0)


class Backfiller:
    """A duty of a node in one cell, over the shards it holds."""

    def __init__(
        self,
        cell: Cell,
        territory: Territory,
        follow: Callable[[Timer], None],
        held: Callable[[], Collection[UUID]] = lambda: (),
    ) -> None:
        self.cell = cell
        self.territory = territory
        self.follow = follow
        self.almanac = Almanac(cell)
        self.held = held
        self._setbacks = Setbacks()
        self._after = BEFORE_ALL

    async def once(self) -> int:
        """A portion of every backfill of a page that has room; returns how many fires were decided."""
        shards = self.territory.shards
        if not shards:
            return 0
        async with self.cell.statement() as tx:
            page = await backfills.running(tx, self._after, shards, self.held(), AT_ONCE)
        self._after = page[-1].id if len(page) == AT_ONCE else BEFORE_ALL
        return sum([await self._isolate(one) for one in page if self._setbacks.may_try(one.id)])

    async def _isolate(self, one: Backfill) -> int:
        """Walk one, and raise nothing but that the cell is gone."""
        try:
            done = await self._walk(one)
        except GONE:
            raise
        except Exception:
            pause_s = self._setbacks.failed(one.id)
            log.exception("backfill.failed", backfill=public(Prefix.BACKFILL, one.id), pause_s=pause_s)
            return 0
        self._setbacks.succeeded(one.id)
        return done

    async def _walk(self, one: Backfill) -> int:
        async with self.cell.statement() as tx:
            job = await jobs.by_id(tx, one.tenant_id, one.job_id)
            room = MOST_WAITING - await backfills.waiting(tx, one, MOST_WAITING)
        if job is None or job.status == Status.REMOVED:
            async with self.cell.tx() as tx:
                await backfills.cancel(tx, one)
            return 0
        if job.status == Status.PAUSED or room <= 0:
            return 0
        await self.almanac.learn([job])
        return await self._portion(one, job, min(BATCH, room))

    async def _portion(self, one: Backfill, job: Job, many: int) -> int:
        times, cursor = portion(self.almanac.schedule(job), one, many)

        async def work(tx: Tx) -> list[Birth]:
            status = await backfills.advance(tx, one, cursor)
            if status is None:
                return []
            rerun = one.id if one.rerun else None
            births = [Birth(mint(one.shard, tx.now), recurring(one.job_id, at, rerun), at) for at in times]
            ids = await backfills.birth(tx, one, job, births) if births else set()
            await backfills.count(tx, one, len(ids), len(births) - len(ids))
            if status == Progress.DONE:
                body = {"name": job.name, "backfill": public(Prefix.BACKFILL, one.id)}
                await outbox.append(tx, one.shard, one.tenant_id, Event.BACKFILL_DONE, body, job_id=job.id)
            return [birth for birth in births if birth.id in ids]

        born = await self.cell.run(work)
        now = self.cell.clock.now()
        if queue_of(job.definition.target) is None:
            for birth in born:
                self.follow(_timer(one, job, birth, now))
        return len(times)


def _timer(one: Backfill, job: Job, birth: Birth, now: datetime) -> Timer:
    priority = job.definition.priority
    return Timer(one.shard, birth.id, now, one.tenant_id, priority, Lane.BACKFILL, job.id, job.version)

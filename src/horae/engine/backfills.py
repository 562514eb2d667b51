"""Inserts the fires of backfills: a portion of each per round, as long as few of its fires wait already.

1. The fires go into the backfill lane, so they do not displace regular fires.
2. The compare-and-set of the backfill's cursor lets one node through, even if several believe that they own the shard.
3. A rate allows a portion of its size at a time; what is created, not what is decided, uses it up.
4. A backfill that fails is left out for a while; the others go on.
5. A round takes a page of backfills, and the next round continues after it. So backfills that cannot move hide no
   others.
"""

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Final
from uuid import UUID

from horae.domain.events.events import Event
from horae.domain.ids import Prefix, public
from horae.domain.instances.idempotency_keys import recurring_key
from horae.domain.instances.instances import Lane
from horae.domain.jobs.jobs import Job, Status
from horae.domain.schedules.backfills import (
    Backfill,
    BackfillStatus,
    allowed_by_rate,
    max_waiting,
    next_portion,
)
from horae.domain.schedules.timers import Timer
from horae.domain.targets.targets import queue_of
from horae.engine.calendars import Almanac
from horae.engine.territory import Territory
from horae.runtime.randomness import new_id
from horae.runtime.setbacks import Setbacks
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.events import outbox
from horae.store.jobs import jobs
from horae.store.schedules import backfills
from horae.store.schedules.backfills import BackfillFireRow
from horae.store.tx import GONE, Tx

BATCH: Final = 200
AT_ONCE: Final = 500
BEFORE_ALL: Final = UUID(int=0)


class Backfiller:
    """A duty in one cell, for the shards that the node holds there."""

    def __init__(
        self,
        cell: Cell,
        territory: Territory,
        announce: Callable[[Timer], None],
        held: Callable[[], Collection[UUID]] = lambda: (),
    ) -> None:
        self.cell = cell
        self.territory = territory
        self.announce = announce
        self.almanac = Almanac(cell)
        self.held = held
        self._setbacks = Setbacks()
        self._after = BEFORE_ALL

    async def once(self) -> int:
        """Insert a portion of every backfill of a page that has room; returns how many fires were decided."""
        shards = self.territory.shards
        if not shards:
            return 0
        async with self.cell.statement() as tx:
            page = await backfills.running(tx, self._after, self.territory.runs, self.held(), AT_ONCE)
        self._after = page[-1].id if len(page) == AT_ONCE else BEFORE_ALL
        ours = [one for one in page if one.shard in shards]  # a run may span a shard of another cell
        return sum([await self._isolate(one) for one in ours if self._setbacks.may_try(one.id)])

    async def _isolate(self, one: Backfill) -> int:
        """Walk one backfill. Errors are logged; only a lost cell is raised."""
        try:
            done = await self._walk(one)
        except GONE:
            raise
        except Exception:
            pause_s = self._setbacks.record_failure(one.id)
            log.exception("backfill.failed", backfill=public(Prefix.BACKFILL, one.id), pause_s=pause_s)
            return 0
        self._setbacks.record_success(one.id)
        return done

    async def _walk(self, one: Backfill) -> int:
        async with self.cell.statement() as tx:
            job = await jobs.by_id(tx, one.tenant_id, one.job_id)
            most = max_waiting(one)
            room = min(most - await backfills.count_live(tx, one, most), allowed_by_rate(one, tx.now))
        if job is None or job.status == Status.REMOVED:
            async with self.cell.tx() as tx:
                await backfills.cancel(tx, one)
            return 0
        if job.status == Status.PAUSED or room <= 0:
            return 0
        await self.almanac.learn([job])
        return await self._portion(one, job, min(BATCH, room))

    async def _portion(self, one: Backfill, job: Job, many: int) -> int:
        portion = next_portion(self.almanac.schedule(job), one, many)

        async def work(tx: Tx) -> list[BackfillFireRow]:
            status = await backfills.advance(tx, one, portion)
            if status is None:
                return []
            rerun = one.id if one.rerun else None
            new_rows = [
                BackfillFireRow(new_id(one.shard, tx.now), recurring_key(one.job_id, at, rerun), at)
                for at in portion.times
            ]
            ids = await backfills.insert_fires(tx, one, job, new_rows) if new_rows else set()
            await backfills.count(tx, one, len(ids), len(new_rows) - len(ids))
            if status == BackfillStatus.DONE:
                body = {"name": job.name, "backfill": public(Prefix.BACKFILL, one.id)}
                await outbox.append(tx, one.shard, one.tenant_id, Event.BACKFILL_DONE, body, job_id=job.id)
            return [new_row for new_row in new_rows if new_row.id in ids]

        inserted = await self.cell.run(work)
        now = self.cell.clock.now()
        if queue_of(job.definition.target) is None:
            for new_row in inserted:
                self.announce(_timer(one, job, new_row, now))
        return max(1, len(portion.times))  # a portion of excluded days has none, and the next one is due at once


def _timer(one: Backfill, job: Job, new_row: BackfillFireRow, now: datetime) -> Timer:
    priority = job.definition.priority
    return Timer(one.shard, new_row.id, now, one.tenant_id, priority, Lane.BACKFILL, job.id, job.version)

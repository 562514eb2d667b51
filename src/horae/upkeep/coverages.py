"""Counts once a minute how well rolling sets are covered, and records when coverage is lost or met again."""

from collections.abc import Callable, Iterable
from typing import Final
from uuid import UUID

from horae.domain.errors import NewerRelease
from horae.domain.events.events import Event
from horae.domain.jobs.jobs import Job
from horae.domain.rolling.rolling import Coverage, CoverageCount, judge
from horae.domain.schedules.triggers import RollingTrigger
from horae.runtime.telemetry import count, log
from horae.service.rolling.coverages import count_coverage
from horae.store.connections.each_cell import UNSERVED_OR_MOVING, Visits
from horae.store.events import outbox
from horae.store.jobs import jobs
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.rolling import coverages
from horae.store.tenants import tenants
from horae.store.tx import Tx

POSTPONING: Final[tuple[type[Exception], ...]] = (NewerRelease, *UNSERVED_OR_MOVING)
"""Errors after which a set is counted later; the other sets are counted now."""
Held = Callable[[CellProtocol], Iterable[int]]


class Coverer:
    """A duty of a node over the rolling jobs whose shards it holds."""

    def __init__(self, store: StoreProtocol, held: Held) -> None:
        self.store = store
        self._held = held
        self._before: dict[UUID, CoverageCount] = {}
        self._postponed: set[UUID] = set()
        self._visits = Visits("coverer")

    async def once(self) -> int:
        """Count every set of this node once. Returns 0: the next round can wait."""
        return await self._visits.each(self.store.cells, self._visit)

    async def _visit(self, cell: CellProtocol) -> None:
        held = frozenset(self._held(cell))
        async with cell.statement() as tx:
            found = [job for job in await jobs.rolling(tx) if job.shard in held]
        for job in found:
            try:
                await self._cover(cell, job)
            except POSTPONING as error:  # its subjects may be in other cells
                if job.id not in self._postponed:
                    log.warning("coverage.postponed", job=job.name, reason=str(error) or type(error).__name__)
                self._postponed.add(job.id)
            else:
                self._postponed.discard(job.id)

    async def _cover(self, cell: CellProtocol, job: Job) -> None:
        async with cell.statement() as tx:
            known = await tenants.known(tx, job.tenant_id)
        trigger = job.definition.trigger
        if known is None or not isinstance(trigger, RollingTrigger):
            return
        now = await count_coverage(self.store, known[0], job)
        found = judge(trigger, now, self._before.get(job.id))
        self._before[job.id] = now
        log.info("coverage.measured", job=job.name, share=round(found.share, 5), met=found.met)

        async def work(tx: Tx) -> None:
            before = await coverages.write(tx, job.shard, job.tenant_id, job.id, found)
            if (before is None and not found.met) or (before is not None and before is not found.met):
                await self._record(tx, job, found)

        await cell.run(work)

    async def _record(self, tx: Tx, job: Job, found: Coverage) -> None:
        event = Event.COVERAGE_MET if found.met else Event.COVERAGE_LOST
        count("coverage.met" if found.met else "coverage.lost", 1, job=job.name)
        body = {"name": job.name, "share": found.share, "subjects": found.subjects, "estimate_at": found.estimate_at}
        await outbox.append(tx, job.shard, job.tenant_id, event, body, job_id=job.id)

"""Takes away what belonged to tenants that were removed, in batches, over all cells; then says so."""

from collections import Counter
from contextlib import suppress
from datetime import timedelta
from typing import Final
from uuid import UUID

from horae.domain.errors import ShardClosed
from horae.domain.events import Event
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.tenants import Tenant
from horae.runtime.chance import mint
from horae.runtime.telemetry import log
from horae.store import audit, outbox, purges, references, tenants
from horae.store.cells import Cell, Store
from horae.store.each import UNSERVED, UNSERVED_OR_MOVING, Visits
from horae.store.tx import Tx

JOBS: Final = 20
SETTLED, LATELY = timedelta(minutes=5), timedelta(hours=1)
"""So long after a tenant was purged no copy of its rows is under way; so long it is looked after."""
OF_JOB: Final = (purges.live, purges.keys, purges.history, purges.letters, purges.backfills, purges.subjects)
AT_HOME: Final = (purges.sources, purges.cursors, purges.versions, purges.job)
OF_TENANT: Final = (
    purges.api_keys,
    purges.secrets,
    purges.data_keys,
    purges.sessions,
    purges.channels,
    purges.places,
    purges.parked,
    purges.widenings,
)
COPIED: Final = (purges.api_keys, purges.secrets, purges.data_keys, purges.channels, purges.references)
OF_SHARDS: Final = (
    purges.requests,
    purges.calendars,
    purges.buckets,
    purges.holds,
    purges.bindings,
    purges.repairs,
    purges.coverages,
)


class Purger:
    """A duty: one round takes a batch of each kind; it is called again at once while there is more."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._taken: dict[UUID, Counter[str]] = {}
        self._swept: dict[str, set[UUID]] = {}
        self._visits = Visits("purger")

    async def once(self) -> int:
        """A round over every tenant that is to be purged; returns how many rows went."""
        return await self._visits.each(self.store.cells, self._home)

    async def _home(self, home: Cell) -> int:
        """The tenants that are at home in a cell."""
        async with home.statement() as tx:
            waiting = await tenants.removed(tx)
            purged = await tenants.lately_purged(tx, tx.now - LATELY, tx.now - SETTLED)
        before = self._swept.get(home.name, set())
        self._swept[home.name] = {one.id for one in purged if one.id in before or await self._sweep(one)}
        return sum([await self._tenant(home, tenant) for tenant in waiting])

    async def _sweep(self, tenant: Tenant) -> bool:
        """Take away what copies brought that were under way while the tenant was purged. False: a cell is away."""
        try:
            for cell in self.store.cells:
                async with cell.statement() as tx:
                    gone = sum([await own(tx, tenant.id) for own in COPIED])
                    gone += await purges.bindings(tx, tenant.id, [shard_in(tenant.id)])
                if gone:
                    log.info("purge.swept", tenant=str(tenant.id), cell=cell.name, rows=gone)
        except UNSERVED:
            return False
        return True

    async def _tenant(self, home: Cell, tenant: Tenant) -> int:
        """A batch of what it left in every cell that answers; it is gone when all of them have nothing left."""
        taken = self._taken.setdefault(tenant.id, Counter())
        before = taken.total()
        shards = await self._shards(tenant)
        complete, jobs = True, 0
        for cell in self.store.cells:
            try:
                await self._tell_removed(home, cell, tenant)
                jobs += await self._cell(cell, tenant, shards, taken)
            except UNSERVED_OR_MOVING:
                complete = False
        if complete and not jobs:
            complete = await self._references(tenant, taken)
        went = taken.total() - before
        if not went and complete and self._all_open(shards):
            await self._tell(home, tenant, taken)
        return went

    async def _shards(self, tenant: Tenant) -> list[int]:
        """Where its rows may lie: over as many shards as its widest type has, which one cell may know before others."""
        widest = 0
        for cell in self.store.cells:
            with suppress(*UNSERVED):
                async with cell.statement() as tx:
                    widest = max(widest, await references.widest(tx, tenant.id))
        return tenant.all_shards(widest)

    async def _tell_removed(self, home: Cell, cell: Cell, tenant: Tenant) -> None:
        """See that a cell has heard that the tenant was removed: from then on nobody brings copies of its rows."""
        if cell is home:
            return
        async with home.statement() as tx:
            own = await references.of_tenant(tx, tenant.id)
        async with cell.statement() as tx:
            await references.copy(tx, own)

    async def _references(self, tenant: Tenant, taken: Counter[str]) -> bool:
        """The copies of its types, which say how wide they were: when no cell has a job left. False: a cell is away."""
        try:
            for cell in self.store.cells:
                async with cell.statement() as tx:
                    taken["references"] += await purges.references(tx, tenant.id)
        except UNSERVED:
            return False
        return True

    async def _cell(self, cell: Cell, tenant: Tenant, shards: list[int], taken: Counter[str]) -> int:
        """A batch of each kind in one cell; returns how many jobs were found there."""
        async with cell.statement() as tx:
            found = await purges.jobs(tx, tenant.id, shards, JOBS)
        for job_id in found:
            await self._job(tenant, shards, job_id, taken)
        async with cell.statement() as tx:
            for purge in OF_SHARDS:
                taken[purge.__name__] += await purge(tx, tenant.id, shards)
            for own in OF_TENANT:
                taken[own.__name__] += await own(tx, tenant.id)
        return len(found)

    async def _job(self, tenant: Tenant, shards: list[int], job_id: UUID, taken: Counter[str]) -> None:
        """A batch of what a job left in every cell; the job itself goes when nothing of it is left."""
        left = 0
        for cell in self.store.cells:
            try:
                async with cell.statement() as tx:
                    for purge in OF_JOB:
                        many = await purge(tx, tenant.id, shards, job_id)
                        taken[purge.__name__] += many
                        left += many == purges.BATCH
            except UNSERVED:
                left += 1
        if not left:
            async with self.store.statement(shard_in(job_id)) as tx:
                for last in AT_HOME:
                    taken[last.__name__] += await last(tx, tenant.id, job_id)

    def _all_open(self, shards: list[int]) -> bool:
        """Whether nothing may have been passed over because its shard is moving."""
        try:
            for shard in shards:
                self.store.cell(shard)
        except ShardClosed:
            return False
        return True

    async def _tell(self, home: Cell, tenant: Tenant, taken: Counter[str]) -> None:
        shard, detail = shard_in(tenant.id), {"name": tenant.name, "rows": dict(taken)}

        async def work(tx: Tx) -> None:
            if await tenants.purged(tx, tenant.id):
                await tenants.publish(tx, tenant.id)
                await outbox.append(tx, shard, tenant.id, Event.TENANT_PURGED, detail, job_id=None)
                await audit.append(
                    tx,
                    shard,
                    mint(shard, tx.now),
                    tenant.id,
                    actor="horae",
                    action="tenant.purged",
                    resource=public(Prefix.TENANT, tenant.id),
                    detail=detail,
                )

        await home.run(work)
        del self._taken[tenant.id]

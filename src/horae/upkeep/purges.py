"""Deletes all rows of removed tenants, in batches, over all cells, and records when a tenant is purged."""

from collections import Counter
from contextlib import suppress
from datetime import timedelta
from typing import Final
from uuid import UUID

from horae.domain.errors import ShardClosed
from horae.domain.events.events import Event
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.tenants.tenants import Tenant
from horae.runtime.randomness import new_id
from horae.runtime.telemetry import log
from horae.store.audit import audit
from horae.store.connections.each_cell import UNSERVED, UNSERVED_OR_MOVING, Visits
from horae.store.events import outbox
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tenants import purges, references, tenants
from horae.store.tx import Tx

JOBS: Final = 20
"""Jobs of a tenant in one cell that one round deletes rows of."""
COPIES_SETTLE_TIME: Final = timedelta(minutes=5)
"""The time after a tenant's purge within which copies of its rows may be under way. It is swept after this time."""
SWEPT_AFTER_PURGE: Final = timedelta(hours=1)
"""The time after a tenant's purge until which it is swept."""
OF_JOB: Final = (
    purges.live,
    purges.keys,
    purges.history,
    purges.dead_letters,
    purges.backfills,
    purges.graph_runs,
    purges.subjects,
    purges.subject_versions,
)
"""Rows of a job, in all cells."""
AT_HOME: Final = (purges.sources, purges.cursors, purges.versions, purges.job)
"""Rows of a job in its own shard; they are deleted last."""
OF_TENANT: Final = (
    purges.api_keys,
    purges.secrets,
    purges.data_keys,
    purges.sessions,
    purges.channels,
    purges.places,
    purges.parked,
    purges.alerts,
    purges.widenings,
    purges.log_usage,
    purges.queue_workers,
    purges.worker_drains,
)
"""Rows of a tenant that are found by its id."""
COPIED: Final = (purges.api_keys, purges.secrets, purges.data_keys, purges.channels, purges.references)
"""Rows that a copier may bring back after a purge."""
OF_SHARDS: Final = (
    purges.requests,
    purges.calendars,
    purges.certificates,
    purges.paced_replays,
    purges.buckets,
    purges.holds,
    purges.bindings,
    purges.repairs,
    purges.coverages,
    purges.fire_findings,
)
"""Rows of a tenant that are found by its id and shards."""


class Purger:
    """A duty: one round deletes a batch of each kind of rows."""

    def __init__(self, store: StoreProtocol) -> None:
        self.store = store
        self._taken: dict[UUID, Counter[str]] = {}
        self._swept: dict[str, set[UUID]] = {}
        self._visits = Visits("purger")

    async def once(self) -> int:
        """Run a round over every removed tenant. Returns how many rows were deleted."""
        return await self._visits.each(self.store.cells, self._home)

    async def _home(self, home: CellProtocol) -> int:
        """Purge the removed tenants whose home is a cell, and sweep recently purged tenants."""
        async with home.statement() as tx:
            waiting = await tenants.removed(tx)
            purged = await tenants.lately_purged(tx, tx.now - SWEPT_AFTER_PURGE, tx.now - COPIES_SETTLE_TIME)
        before = self._swept.get(home.name, set())
        self._swept[home.name] = {one.id for one in purged if one.id in before or await self._sweep(one)}
        return sum([await self._tenant(home, tenant) for tenant in waiting])

    async def _sweep(self, tenant: Tenant) -> bool:
        """Delete rows that copiers wrote while the tenant was being purged. False where a cell is down."""
        try:
            for cell in self.store.cells:
                async with cell.statement() as tx:
                    gone = sum([await own(tx, tenant.id) for own in COPIED])
                    gone += await purges.bindings(tx, tenant.id, [shard_in(tenant.id)])
                if gone:
                    log.info("purge.rows_deleted", tenant=tenant.id, cell=cell.name, rows=gone)
        except UNSERVED:
            return False
        return True

    async def _tenant(self, home: CellProtocol, tenant: Tenant) -> int:
        """Delete a batch of a tenant's rows in every cell that answers.

        1. Each cell learns first that the tenant is removed, so that no copy of its rows is written any more.
        2. A batch of each kind of rows is deleted in each cell.
        3. When no cell has a job left, the copies of types are deleted: until then they say which shards hold rows.
        4. The tenant is purged when a round with all cells, and with all shards open, finds nothing to delete.
        """
        taken = self._taken.setdefault(tenant.id, Counter())
        before = taken.total()
        shards = await self._shards(tenant)
        complete, jobs = True, 0
        for cell in self.store.cells:
            try:
                await self._copy_removal(home, cell, tenant)
                jobs += await self._cell(cell, tenant, shards, taken)
            except UNSERVED_OR_MOVING:
                complete = False
        if complete and not jobs:
            complete = await self._references(tenant, taken)
        went = taken.total() - before
        if not went and complete and self._all_open(shards):
            await self._record(home, tenant, taken)
        return went

    async def _shards(self, tenant: Tenant) -> list[int]:
        """Returns the shards that may hold the tenant's rows.

        They depend on its widest type, so all cells are asked: some may not know that type yet.
        """
        widest = 0
        for cell in self.store.cells:
            with suppress(*UNSERVED):
                async with cell.statement() as tx:
                    widest = max(widest, await references.widest(tx, tenant.id))
        return tenant.all_shards(widest)

    async def _copy_removal(self, home: CellProtocol, cell: CellProtocol, tenant: Tenant) -> None:
        """Copy the tenant's removal to a cell; from then on no copy of its rows is written there."""
        if cell is home:
            return
        async with home.statement() as tx:
            own = await references.of_tenant(tx, tenant.id)
        async with cell.statement() as tx:
            await references.copy(tx, own)

    async def _references(self, tenant: Tenant, taken: Counter[str]) -> bool:
        """Delete the copies of the tenant's types, when no cell has a job left. False where a cell is down."""
        try:
            for cell in self.store.cells:
                async with cell.statement() as tx:
                    taken["references"] += await purges.references(tx, tenant.id)
        except UNSERVED:
            return False
        return True

    async def _cell(self, cell: CellProtocol, tenant: Tenant, shards: list[int], taken: Counter[str]) -> int:
        """Delete a batch of each kind of rows in one cell. Returns how many jobs were found there."""
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
        """Delete a batch of a job's rows in every cell; the job itself is deleted when no such rows are left."""
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
        """Whether all shards are open, so that no rows of a moving shard were missed."""
        try:
            for shard in shards:
                self.store.cell(shard)
        except ShardClosed:
            return False
        return True

    async def _record(self, home: CellProtocol, tenant: Tenant, taken: Counter[str]) -> None:
        shard, detail = shard_in(tenant.id), {"name": tenant.name, "rows": dict(taken)}

        async def work(tx: Tx) -> None:
            if await tenants.mark_purged(tx, tenant.id):
                await tenants.publish(tx, tenant.id)
                await outbox.append(tx, shard, tenant.id, Event.TENANT_PURGED, detail, job_id=None)
                await audit.append(
                    tx,
                    shard,
                    new_id(shard, tx.now),
                    tenant.id,
                    actor="horae",
                    action="tenant.purged",
                    resource=public(Prefix.TENANT, tenant.id),
                    detail=detail,
                )

        await home.run(work)
        del self._taken[tenant.id]

"""The types of tasks (keyed jobs), remembered for two seconds.

A type's own width decides where its keys live, so it must be known before the key's cell is. The home is asked
first; when it is down any other cell's copy will do.
"""

from contextlib import suppress
from functools import partial
from itertools import takewhile
from typing import Final
from uuid import UUID

from horae.domain.errors import NotFound
from horae.domain.ids import shard_in
from horae.domain.jobs import Job, Status
from horae.domain.tenants import Tenant
from horae.runtime.clock import boottime
from horae.store import jobs, references
from horae.store.cells import Store
from horae.store.each import HOME_DOWN, ask_by_statement
from horae.store.tx import GONE, Tx

REMEMBERED: Final = 2.0
Known = dict[tuple[UUID, str], tuple[float, Job]]


class Types:
    """Finds the job whose tasks a caller speaks of. `known`: what the process remembers for all its callers."""

    def __init__(self, store: Store, known: Known | None = None) -> None:
        self._store = store
        self._known: Known = {} if known is None else known

    async def find(self, tenant: Tenant, name: str) -> Job:
        """The living keyed, once or delay job of that name."""
        now = boottime()
        kept = self._known.get((tenant.id, name))
        if kept is not None and kept[0] > now:
            return kept[1]
        job = await self._ask(tenant, name)
        if job is None or not (job.keyed or job.single):
            raise NotFound(f"tenant {tenant.name!r} has no job {name!r} whose time can be set by key")
        self._remember((tenant.id, name), boottime(), job)
        return job

    def forget(self, tenant: Tenant, name: str) -> None:
        """After a change made here: ask again."""
        self._known.pop((tenant.id, name), None)

    def _remember(self, key: tuple[UUID, str], now: float, job: Job) -> None:
        """Keep a type for a moment, and let go of those whose moment is over: they stand first."""
        known = self._known
        known.pop(key, None)
        known[key] = (now + REMEMBERED, job)
        for old in list(takewhile(lambda one: known[one][0] <= now, known)):
            del known[old]

    async def _ask(self, tenant: Tenant, name: str) -> Job | None:
        shards = [placement.shard(shard_in(tenant.id), name) for placement in tenant.placements]
        try:
            for shard in shards:
                async with self._store.statement(shard) as tx:
                    job = await jobs.find(tx, shard, tenant.id, name)
                if job is not None:
                    return job
        except HOME_DOWN:
            for cell in self._store.cells:
                with suppress(*GONE):
                    if (copied := await ask_by_statement(partial(self._copy, tenant, name), cell)) is not None:
                        return copied
            raise
        return None

    async def _copy(self, tenant: Tenant, name: str, tx: Tx) -> Job | None:
        body = await references.find(tx, tenant.id, "job", name)
        if body is None:
            return None
        id_ = UUID(body["id"])
        return Job(
            shard=shard_in(id_),
            id=id_,
            tenant_id=tenant.id,
            name=name,
            version=body["version"],
            status=Status(body["status"]),
            definition=jobs.definition_from(body["definition"]),
        )

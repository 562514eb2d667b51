"""The types of tasks (keyed jobs), remembered for two seconds.

The width of a type decides the shards of its business keys, so the type must be known before the cell of a key is. Its
home cell is asked first. If that is down, the copy of any other cell is good enough.
"""

from contextlib import suppress
from functools import partial
from itertools import takewhile
from typing import Final
from uuid import UUID

from horae.domain.errors import NotFound
from horae.domain.ids import shard_in
from horae.domain.jobs.jobs import Job, Status
from horae.domain.tenants.tenants import Tenant
from horae.runtime.clock import boottime
from horae.store.connections.each_cell import HOME_DOWN, ask_by_statement
from horae.store.jobs import jobs
from horae.store.protocol import StoreProtocol
from horae.store.tenants import references
from horae.store.tx import GONE, Tx

TYPE_REMEMBERED_S: Final = 2.0
Known = dict[tuple[UUID, str], tuple[float, Job]]


class Types:
    """Finds the job of a task. `known` is the memory that all callers of the process share."""

    def __init__(self, store: StoreProtocol, known: Known | None = None) -> None:
        self._store = store
        self._known: Known = {} if known is None else known

    async def find(self, tenant: Tenant, name: str) -> Job:
        """Returns the keyed, once or delay job of that name that is not removed."""
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
        """Forget a type that this process changed."""
        self._known.pop((tenant.id, name), None)

    def _remember(self, key: tuple[UUID, str], now: float, job: Job) -> None:
        """Remember a type, and forget the expired ones: they are first in the dictionary."""
        known = self._known
        known.pop(key, None)
        known[key] = (now + TYPE_REMEMBERED_S, job)
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

"""The weights, limits and egress rules of tenants, and all limits that count a call of a job."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Final, Self
from uuid import UUID

from horae.domain.errors import Unavailable
from horae.domain.ids import shard_in
from horae.domain.jobs.jobs import Job
from horae.domain.limits.limits import Key, Limit, key_name
from horae.domain.targets.egress import Egress
from horae.domain.targets.targets import PUSHED
from horae.domain.tenants.tenants import NO_ALLOWANCE, Allowance
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.connections.each_cell import HOME_DOWN
from horae.store.store import Store
from horae.store.tenants import tenants

ALLOWANCE_REMEMBERED_S: Final = 2.0
"""Seconds for which the allowance of a tenant counts as current."""
HOME_TIMEOUT_S: Final = 1.0
"""Seconds to wait for the home cell of a tenant. Fires of the asking cell wait for that long, too."""
Limits = tuple[tuple[Key, Limit], ...]


class Allowances:
    """Remembers the allowances of tenants, at most two seconds old. `home_of` returns the home cell of a tenant."""

    def __init__(self, home_of: Callable[[UUID], Cell]) -> None:
        self._home_of = home_of
        self._of: dict[UUID, Allowance] = {}
        self._learnt: dict[UUID, float] = {}

    @classmethod
    def of(cls, store: Store) -> Self:
        """Allowances that are read from the cells of a store."""
        return cls(lambda tenant_id: store.cell(shard_in(tenant_id)))

    async def learn(self, cell: Cell, tenant_ids: Collection[UUID]) -> None:
        """Read outdated allowances from a cell's copies; if there is no copy, from the tenant's home cell."""
        now = boottime()
        missing = [
            id_ for id_ in tenant_ids if now - self._learnt.get(id_, -ALLOWANCE_REMEMBERED_S) >= ALLOWANCE_REMEMBERED_S
        ]
        if missing:
            async with cell.statement() as tx:
                self._of.update(await tenants.allowances(tx, missing))
            if unknown := [id_ for id_ in missing if id_ not in self._of]:
                await self._ask_homes(unknown)
            self._learnt.update(dict.fromkeys(missing, now))

    def weight(self, tenant_id: UUID) -> int:
        """How many calls a tenant may send in one turn, relative to others."""
        return self._of.get(tenant_id, NO_ALLOWANCE).weight

    def egress(self, tenant_id: UUID) -> Egress | None:
        """Where calls of a tenant may go; None: the deployment's rules apply. Raises `Unavailable` if not known yet."""
        known = self._of.get(tenant_id)
        if known is None:
            raise Unavailable("where calls of this tenant may go is not known here yet")
        return known.egress

    def limits(self, job: Job) -> Limits:
        """Every limit that counts a call of this job, each once. Nearly always there is none."""
        tenant, made = self._of.get(job.tenant_id, NO_ALLOWANCE), job.definition
        target = made.target
        assert isinstance(target, PUSHED)
        if tenant is NO_ALLOWANCE and made.limit is None and target.rate is None and target.max_concurrency is None:
            return ()
        found: list[tuple[Key, Limit]] = []
        if tenant.limit is not None and tenant.limit.limits:
            found.append((Key(job.tenant_id, "tenant"), tenant.limit))
        if made.limit is not None and made.limit.limits:
            found.append((Key(job.tenant_id, key_name("job", job.id)), made.limit))
        found += [
            (Key(job.tenant_id, key_name("quota", name)), quota)
            for name in dict.fromkeys(made.quotas)
            if (quota := tenant.quotas.get(name)) is not None and quota.limits
        ]
        if target.rate is not None or target.max_concurrency is not None:
            limit = Limit(target.rate, None, target.max_concurrency)
            found.append((Key(job.tenant_id, key_name("target", target.url)), limit))
        return tuple(found)

    async def _ask_homes(self, tenant_ids: Sequence[UUID]) -> None:
        """Read allowances from home cells, one statement each. A tenant without an answer stays unknown."""
        try:
            homes: dict[Cell, list[UUID]] = {}
            for id_ in tenant_ids:
                homes.setdefault(self._home_of(id_), []).append(id_)
            for home, ids in homes.items():
                async with asyncio.timeout(HOME_TIMEOUT_S), home.statement() as tx:
                    self._of.update(await tenants.allowances(tx, ids))
        except HOME_DOWN as error:
            log.warning("allowance.not_loaded", tenants=len(tenant_ids), reason=str(error) or type(error).__name__)

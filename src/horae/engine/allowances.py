"""What tenants are allowed: their weight against others, and the limits of tenant, job, target and quota."""

from collections.abc import Collection
from typing import Final
from uuid import UUID

from horae.domain.egress import Egress
from horae.domain.jobs import Job
from horae.domain.limits import Key, Limit, key_name
from horae.domain.targets import PUSHED
from horae.domain.tenants import Allowance
from horae.runtime.clock import boottime
from horae.store import tenants
from horae.store.cells import Cell

REMEMBERED: Final = 2.0
NONE: Final = Allowance()
Limits = tuple[tuple[Key, Limit], ...]


class Allowances:
    """Remembers what the copies of tenants say, at most two seconds behind."""

    def __init__(self) -> None:
        self._of: dict[UUID, Allowance] = {}
        self._learnt: dict[UUID, float] = {}

    async def learn(self, cell: Cell, tenant_ids: Collection[UUID]) -> None:
        """Ask a cell's copies about tenants not heard of lately."""
        now = boottime()
        missing = [id_ for id_ in tenant_ids if now - self._learnt.get(id_, -REMEMBERED) >= REMEMBERED]
        if missing:
            async with cell.statement() as tx:
                self._of.update(await tenants.allowances(tx, missing))
            self._learnt.update(dict.fromkeys(missing, now))

    def weight(self, tenant_id: UUID) -> int:
        """Its part of a turn."""
        return self._of.get(tenant_id, NONE).weight

    def egress(self, tenant_id: UUID) -> Egress | None:
        """Where its calls may go; None where the deployment's rules hold."""
        return self._of.get(tenant_id, NONE).egress

    def limits(self, job: Job) -> Limits:
        """Every limit that one more call of a job counts against, each once; nearly always none."""
        tenant, made = self._of.get(job.tenant_id, NONE), job.definition
        target = made.target
        assert isinstance(target, PUSHED)
        if tenant is NONE and made.limit is None and target.rate is None and target.max_concurrency is None:
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

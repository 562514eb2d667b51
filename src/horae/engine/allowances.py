"""What tenants are allowed: their weight against others, and the limits of tenant, job, target and quota."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Final
from uuid import UUID

from horae.domain.egress import Egress
from horae.domain.errors import Unavailable
from horae.domain.jobs import Job
from horae.domain.limits import Key, Limit, key_name
from horae.domain.targets import PUSHED
from horae.domain.tenants import NO_ALLOWANCE, Allowance
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.store import tenants
from horae.store.cells import Cell
from horae.store.each import HOME_DOWN

REMEMBERED: Final = 2.0
HOME_TIMEOUT_S: Final = 1.0
"""The home of a tenant is waited for so long: the fires of the cell that asks wait with it."""
Limits = tuple[tuple[Key, Limit], ...]


class Allowances:
    """Remembers what the copies of tenants say, at most two seconds behind. `home_of` names the home of a tenant."""

    def __init__(self, home_of: Callable[[UUID], Cell]) -> None:
        self._home_of = home_of
        self._of: dict[UUID, Allowance] = {}
        self._learnt: dict[UUID, float] = {}

    async def learn(self, cell: Cell, tenant_ids: Collection[UUID]) -> None:
        """Ask a cell's copies about tenants not heard of lately; where the cell has no copy, ask the tenant's home."""
        now = boottime()
        missing = [id_ for id_ in tenant_ids if now - self._learnt.get(id_, -REMEMBERED) >= REMEMBERED]
        if missing:
            async with cell.statement() as tx:
                self._of.update(await tenants.allowances(tx, missing))
            if unknown := [id_ for id_ in missing if id_ not in self._of]:
                await self._ask_homes(unknown)
            self._learnt.update(dict.fromkeys(missing, now))

    def weight(self, tenant_id: UUID) -> int:
        """Its part of a turn."""
        return self._of.get(tenant_id, NO_ALLOWANCE).weight

    def egress(self, tenant_id: UUID) -> Egress | None:
        """Where its calls may go; None where the deployment's rules hold. `Unavailable` where that is not known."""
        known = self._of.get(tenant_id)
        if known is None:
            raise Unavailable("where calls of this tenant may go is not known here yet")
        return known.egress

    def limits(self, job: Job) -> Limits:
        """Every limit that one more call of a job counts against, each once; nearly always none."""
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
        """One question for each home. What a home does not say stays unknown, and its tenants' calls wait."""
        try:
            homes: dict[Cell, list[UUID]] = {}
            for id_ in tenant_ids:
                homes.setdefault(self._home_of(id_), []).append(id_)
            for home, ids in homes.items():
                async with asyncio.timeout(HOME_TIMEOUT_S), home.statement() as tx:
                    self._of.update(await tenants.allowances(tx, ids))
        except HOME_DOWN as error:
            log.warning("allowance.unknown", tenants=len(tenant_ids), reason=str(error) or type(error).__name__)

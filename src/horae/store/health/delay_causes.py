"""What one cell knows about a minute in which fires were late."""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from horae.domain.health.delay_causes import CellReading, NodeStrain, TenantDelays
from horae.store.alerts import faults
from horae.store.health import signals
from horae.store.statements import sql
from horae.store.tx import Tx

RUNS_SPAN: Final = timedelta(minutes=10)
COUNTED: Final = 20_000
"""Due instances of a class that are counted by shard; more would not change which shards are hot."""


async def read(tx: Tx, minute: datetime) -> CellReading:
    """The fires of each tenant in a minute, what nodes noticed, and what waits in each shard now."""
    judged = await signals.judged(tx, minute, minute - RUNS_SPAN)
    tenants = {
        tenant: TenantDelays(one.signal.delays, one.signal.succeeded + one.signal.died, one.signal.retry_backlog)
        for tenant, one in judged.items()
    }
    names = await faults.tenant_names(tx, list(tenants))
    return CellReading(tenants, await strains(tx, minute), await waiting(tx), names)


async def strains(tx: Tx, minute: datetime) -> list[NodeStrain]:
    """What nodes noticed in a minute."""
    rows = await tx.rows(sql("health/delay_causes/strains"), minute)
    return [msgspec.convert(row["strain"], NodeStrain) for row in rows]


async def waiting(tx: Tx) -> dict[int, int]:
    """How many due instances each shard has."""
    rows = await tx.rows(sql("health/delay_causes/waiting"), tx.now, COUNTED)
    return {row["shard_id"]: row["waiting"] for row in rows}

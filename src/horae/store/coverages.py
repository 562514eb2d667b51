"""How well rolling sets are covered, as counted last."""

from uuid import UUID

from horae.domain.rolling import Coverage
from horae.store.statements import sql
from horae.store.tx import Tx


async def write(tx: Tx, shard: int, tenant_id: UUID, job_id: UUID, counted: Coverage) -> bool | None:
    """Keep what was counted; returns whether the set was covered before, None where nobody knows."""
    facts = (
        counted.at,
        counted.subjects,
        counted.fresh,
        counted.occupied,
        counted.met,
        counted.estimate_at,
        list(counted.ages),
    )
    row = await tx.row(sql("coverages/write"), shard, job_id, tenant_id, *facts)
    return None if row is None else row["met_before"]


async def find(tx: Tx, shard: int, tenant_id: UUID, job_id: UUID) -> Coverage | None:
    """What was counted last; None where nobody has."""
    row = await tx.row(sql("coverages/find"), shard, job_id, tenant_id)
    if row is None:
        return None
    facts = (*row[:-1], tuple(row["ages"] or ()))
    return Coverage(*facts)

"""The coverage of rolling sets, as last counted."""

from uuid import UUID

from horae.domain.rolling.rolling import Coverage
from horae.store.statements import sql
from horae.store.tx import Tx


async def write(tx: Tx, shard: int, tenant_id: UUID, job_id: UUID, counted: Coverage) -> bool | None:
    """Store a count; returns whether the set was covered before, None if there was no count."""
    facts = (
        counted.at,
        counted.subjects,
        counted.fresh,
        counted.occupied,
        counted.met,
        counted.estimate_at,
        list(counted.ages),
    )
    row = await tx.row(sql("rolling/coverages/write"), shard, job_id, tenant_id, *facts)
    return None if row is None else row["met_before"]


async def find(tx: Tx, shard: int, tenant_id: UUID, job_id: UUID) -> Coverage | None:
    """The last count; None if there is none."""
    row = await tx.row(sql("rolling/coverages/find"), shard, job_id, tenant_id)
    if row is None:
        return None
    facts = (*row[:-1], tuple(row["ages"] or ()))
    return Coverage(*facts)

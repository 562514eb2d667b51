"""How far intakes have come. It lies in the cell of the tenant's home shard, beside the intake."""

from collections.abc import Sequence
from uuid import UUID

from horae.domain.intakes import Position
from horae.store.statements import sql
from horae.store.tx import Tx


async def move(
    tx: Tx,
    channel_id: UUID,
    tenant_id: UUID,
    *,
    taken: int = 0,
    parked: int = 0,
    waiting: int | None = None,
    error: str | None = None,
) -> None:
    """Add what was taken, and say how it stands."""
    await tx.row(sql("intakes/move"), channel_id, tenant_id, tx.now, taken, parked, waiting, error)


async def positions(tx: Tx, channel_ids: Sequence[UUID]) -> dict[UUID, Position]:
    """How far each has come; none of those that nobody has looked at yet."""
    rows = await tx.rows(sql("intakes/positions"), channel_ids)
    return {row[0]: Position(*row[1:]) for row in rows}


async def forget(tx: Tx, channel_id: UUID, tenant_id: UUID) -> None:
    """It is gone."""
    await tx.row(sql("intakes/forget"), channel_id, tenant_id)

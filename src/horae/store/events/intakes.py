"""The progress of intakes, in the cell of the tenant's home shard."""

from collections.abc import Sequence
from uuid import UUID

from horae.domain.events.intakes import Position
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
    """Add to the counts of taken and parked messages, and record the backlog and the last error."""
    await tx.row(sql("events/intakes/move"), channel_id, tenant_id, tx.now, taken, parked, waiting, error)


async def positions(tx: Tx, channel_ids: Sequence[UUID]) -> dict[UUID, Position]:
    """The position of each intake; an intake that was never read is missing."""
    rows = await tx.rows(sql("events/intakes/positions"), channel_ids)
    return {row[0]: Position(*row[1:]) for row in rows}


async def forget(tx: Tx, channel_id: UUID, tenant_id: UUID) -> None:
    """Delete the position of a removed intake."""
    await tx.row(sql("events/intakes/forget"), channel_id, tenant_id)

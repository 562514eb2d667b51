"""How often tenants were widened, as each cell has heard: the fence in front of whoever makes a name or a key."""

from uuid import UUID

from horae.store.statements import sql
from horae.store.tx import Tx


async def number(tx: Tx, tenant_id: UUID) -> int:
    """How often a tenant was widened, as this cell knows."""
    return await tx.value(sql("widenings/number"), tenant_id) or 0


async def careful(tx: Tx) -> None:
    """Wait for a lock only for a moment in this transaction; then it raises `LOCKED`."""
    await tx.run(sql("widenings/careful"))


async def lock(tx: Tx) -> None:
    """Wait until nobody is making a name or a key in this cell, and let nobody begin before this transaction ends."""
    await tx.run(sql("widenings/lock"))


async def write(tx: Tx, tenant_id: UUID, number: int) -> None:
    """From this commit on nobody who knows of fewer widenings makes a name or key of the tenant in this cell."""
    await tx.run(sql("widenings/write"), tenant_id, number)

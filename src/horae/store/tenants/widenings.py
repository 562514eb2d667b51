"""How often each tenant was widened, as each cell knows it: the fence for statements that create a name or a key."""

from uuid import UUID

from horae.store.statements import sql
from horae.store.tx import Tx


async def number(tx: Tx, tenant_id: UUID) -> int:
    """How often a tenant was widened, as this cell knows."""
    return await tx.value(sql("tenants/widenings/number"), tenant_id) or 0


async def careful(tx: Tx) -> None:
    """Wait only a moment for locks in this transaction, and raise `LOCKED` then."""
    await tx.run(sql("tenants/widenings/careful"))


async def lock(tx: Tx) -> None:
    """Wait until no transaction creates a name or key in this cell, and let none begin before this transaction ends."""
    await tx.run(sql("tenants/widenings/lock"))


async def write(tx: Tx, tenant_id: UUID, number: int) -> None:
    """After this commit, a caller that knows of fewer widenings cannot create a name or key of the tenant here."""
    await tx.run(sql("tenants/widenings/write"), tenant_id, number)

"""Who changed a definition, a permission or a decision, written in the transaction of the change."""

from uuid import UUID

from horae.store.statements import sql
from horae.store.tx import Tx


async def append(
    tx: Tx, shard: int, id_: UUID, tenant_id: UUID, *, actor: str, action: str, resource: str, detail: object
) -> None:
    """Record a change; its own statement has passed the fence."""
    await tx.run(sql("audit/append"), tx.now, shard, id_, tenant_id, actor, action, resource, detail)

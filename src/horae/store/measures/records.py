"""Records of measures: the event and the audit row of each change, in the home shard of the tenant concerned."""

from uuid import UUID

from horae.domain.events.events import Event
from horae.runtime.randomness import new_id
from horae.store.statements import sql
from horae.store.tx import Tx


async def append(
    tx: Tx, shard: int, tenant_id: UUID, event: Event, *, actor: str, resource: str, detail: object
) -> bool:
    """Record a change of a measure; False when the shard is closed."""
    action = event.lower().replace("_", ".")
    args = (shard, tx.now, new_id(shard, tx.now), tenant_id, event, actor, action, resource, detail)
    return await tx.value(sql("measures/records/append"), *args) is not None

"""What a change of a tenant's own affairs leaves behind in its transaction: an event and an audit row."""

from horae.domain.events import Event
from horae.domain.tenants import Tenant
from horae.runtime.chance import mint
from horae.store import audit, outbox
from horae.store.tx import Tx


async def tell(
    tx: Tx, shard: int, tenant: Tenant, event: Event, actor: str, resource: str, detail: dict[str, object]
) -> None:
    """Leave both; the change itself has passed the fence."""
    await outbox.append(tx, shard, tenant.id, event, detail, job_id=None)
    await audit.append(
        tx,
        shard,
        mint(shard, tx.now),
        tenant.id,
        actor=actor,
        action=event.lower().replace("_", "."),
        resource=resource,
        detail=detail,
    )

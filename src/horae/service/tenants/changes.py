"""Writes the event and the audit row of a change to a tenant, in the transaction of that change."""

from horae.domain.events.events import Event
from horae.domain.tenants.tenants import Tenant
from horae.runtime.randomness import new_id
from horae.store.audit import audit
from horae.store.events import outbox
from horae.store.tx import Tx


async def record_event(
    tx: Tx, shard: int, tenant: Tenant, event: Event, actor: str, resource: str, detail: dict[str, object]
) -> None:
    """Write both. The caller's own statement has already passed the fence."""
    await outbox.append(tx, shard, tenant.id, event, detail, job_id=None)
    await audit.append(
        tx,
        shard,
        new_id(shard, tx.now),
        tenant.id,
        actor=actor,
        action=event.lower().replace("_", "."),
        resource=resource,
        detail=detail,
    )

"""Tenants: made once, at home, and copied to every cell."""

from horae.domain import tenants as rules
from horae.domain.errors import Conflict, NotFound
from horae.domain.events import Event
from horae.domain.ids import Prefix, public
from horae.domain.placement import DEFAULT_WIDTH, home_of
from horae.domain.tenants import Tenant
from horae.domain.zones import zone as load_zone
from horae.runtime.chance import mint
from horae.store import audit, outbox, references, tenants
from horae.store.cells import Store
from horae.store.tx import Tx


async def create(store: Store, name: str, actor: str, *, width: int = DEFAULT_WIDTH, zone: str = "UTC") -> Tenant:
    """A new tenant. Its width is fixed for ever."""
    rules.check(name, width)
    load_zone(zone)
    shard = home_of(name)

    async def work(tx: Tx) -> Tenant:
        tenant = Tenant(mint(shard, tx.now), name, width, zone)
        if not await tenants.create(tx, tenant):
            raise Conflict(f"a tenant {name!r} exists already, or its shard is moving")
        body = {"id": tenant.id, "name": name, "width": width, "zone": zone}
        await references.publish(tx, "tenant", tenant.id, tenant.id, shard, name, body)
        await outbox.append(tx, shard, tenant.id, Event.TENANT_CREATED, body, job_id=None)
        await audit.append(
            tx,
            shard,
            mint(shard, tx.now),
            tenant.id,
            actor=actor,
            action="tenant.created",
            resource=public(Prefix.TENANT, tenant.id),
            detail=body,
        )
        return tenant

    return await store.run(shard, work)


async def find(store: Store, name: str) -> Tenant:
    """The tenant of that name."""
    shard = home_of(name)
    async with store.statement(shard) as tx:
        tenant = await tenants.find(tx, shard, name)
    if tenant is None:
        raise NotFound(f"there is no tenant {name!r}; `horae tenant create {name}` makes one")
    return tenant

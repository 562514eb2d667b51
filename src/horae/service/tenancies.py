"""A tenant as a whole: paused, resumed, removed. Nodes know within a few seconds, and so does every door."""

from collections.abc import Sequence

from horae.domain.errors import Conflict, Invalid, NotFound
from horae.domain.events import Event
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.tenants import SYSTEM, Standing, Tenant
from horae.service import tenants
from horae.service.told import tell
from horae.store import tenants as rows
from horae.store.cells import Store
from horae.store.tx import Tx
from horae.store.walls import Behalf, behind


async def pause(store: Store, name: str, actor: str) -> Standing:
    """Stop all fires and claims of a tenant; what runs may finish."""
    return await _stand(store, name, actor, Standing.PAUSED, [Standing.ACTIVE], Event.TENANT_PAUSED)


async def resume(store: Store, name: str, actor: str) -> Standing:
    """Go on from now; the fires that passed leave one SKIPPED(PAUSED) row for the range of each job."""
    return await _stand(store, name, actor, Standing.ACTIVE, [Standing.PAUSED], Event.TENANT_RESUMED)


async def remove(store: Store, name: str, actor: str, *, confirm: str) -> Standing:
    """Close a tenant for ever: its keys open nothing any more, nothing fires, and its rows are purged in time."""
    if confirm != name:
        raise Invalid("to remove a tenant for ever, confirm it by its name")
    if name == SYSTEM:
        raise Conflict("the tenant of the platform itself cannot be removed")
    before = [Standing.ACTIVE, Standing.PAUSED]
    return await _stand(store, name, actor, Standing.REMOVED, before, Event.TENANT_REMOVED)


async def standing(store: Store, tenant: Tenant) -> Standing:
    """How it stands with a tenant, as its home says."""
    async with behind(store, Behalf(tenant.id)).statement(shard_in(tenant.id)) as tx:
        return await rows.status(tx, tenant.id) or Standing.ACTIVE


async def _stand(
    store: Store, name: str, actor: str, after: Standing, before: Sequence[Standing], event: Event
) -> Standing:
    tenant = await tenants.find(store, name)
    shard = shard_in(tenant.id)

    async def work(tx: Tx) -> Standing:
        if not await rows.hold(tx, tenant.id, after, before):
            now = await rows.status(tx, tenant.id)
            if now == Standing.REMOVED or now is None:
                raise NotFound(f"there is no tenant {name!r}")
            raise Conflict(f"tenant {name!r} is {now}, or its shard is moving")
        await rows.publish(tx, tenant.id)
        await tell(tx, shard, tenant, event, actor, public(Prefix.TENANT, tenant.id), {"name": name})
        return after

    return await behind(store, Behalf(tenant.id)).run(shard, work)

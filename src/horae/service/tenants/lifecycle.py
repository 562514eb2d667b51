"""A tenant as a whole: pause, resume, remove. Nodes and API servers follow within a few seconds."""

from collections.abc import Sequence

from horae.domain.errors import Conflict, Invalid, NotFound
from horae.domain.events.events import Event
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.tenants.tenants import SYSTEM, Tenant, TenantStatus
from horae.service.context import CallerContext
from horae.service.tenants import tenants
from horae.service.tenants.changes import record_event
from horae.store.row_level_security import Behalf, restrict
from horae.store.tenants import tenants as rows
from horae.store.tx import Tx


async def pause(ctx: CallerContext, name: str) -> TenantStatus:
    """Stop all fires and claims of a tenant; running attempts may finish."""
    return await _set_status(ctx, name, TenantStatus.PAUSED, [TenantStatus.ACTIVE], Event.TENANT_PAUSED)


async def resume(ctx: CallerContext, name: str) -> TenantStatus:
    """Continue from now. The fires that passed leave one SKIPPED(PAUSED) row for each job."""
    return await _set_status(ctx, name, TenantStatus.ACTIVE, [TenantStatus.PAUSED], Event.TENANT_RESUMED)


async def remove(ctx: CallerContext, name: str, *, confirm: str) -> TenantStatus:
    """Remove a tenant for good: its API keys are refused, nothing fires, and a duty purges its rows."""
    if confirm != name:
        raise Invalid("to remove a tenant for ever, confirm it by its name")
    if name == SYSTEM:
        raise Conflict("the tenant of the platform itself cannot be removed")
    before = [TenantStatus.ACTIVE, TenantStatus.PAUSED]
    return await _set_status(ctx, name, TenantStatus.REMOVED, before, Event.TENANT_REMOVED)


async def status_of(ctx: CallerContext, tenant: Tenant) -> TenantStatus:
    """Returns the status of a tenant, from its home cell."""
    async with restrict(ctx.store, Behalf(tenant.id)).statement(shard_in(tenant.id)) as tx:
        return await rows.status(tx, tenant.id) or TenantStatus.ACTIVE


async def _set_status(
    ctx: CallerContext, name: str, after: TenantStatus, before: Sequence[TenantStatus], event: Event
) -> TenantStatus:
    tenant = await tenants.find(ctx.store, name)
    shard = shard_in(tenant.id)

    async def work(tx: Tx) -> TenantStatus:
        if not await rows.hold(tx, tenant.id, after, before):
            now = await rows.status(tx, tenant.id)
            if now == TenantStatus.REMOVED or now is None:
                raise NotFound(f"there is no tenant {name!r}")
            raise Conflict(f"tenant {name!r} is {now}, or its shard is moving")
        await rows.publish(tx, tenant.id)
        await record_event(tx, shard, tenant, event, ctx.actor, public(Prefix.TENANT, tenant.id), {"name": name})
        return after

    return await restrict(ctx.store, Behalf(tenant.id)).run(shard, work)

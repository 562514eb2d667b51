"""A tenant as a whole: its own people may pause and resume it, the platform's admins may also remove it."""

from typing import Annotated

from fastapi import Query

from horae.api.models.tenants import StandingView
from horae.api.routes.tenants import TenantRef
from horae.api.routing import may, router
from horae.service import tenancies, tenants
from horae.service.context import Context

routes = router("tenants")


@routes.get("/tenant/standing")
async def own(ctx: Annotated[Context, may("tenant.read")]) -> StandingView:
    """Whether this tenant goes on or is paused."""
    return StandingView(name=ctx.tenant.name, status=await tenancies.standing(ctx.store, ctx.tenant))


@routes.post("/tenant/pause")
async def pause_own(ctx: Annotated[Context, may("tenant.pause")]) -> StandingView:
    """Stop all fires and claims of this tenant, within a few seconds; what runs may finish."""
    status = await tenancies.pause(ctx.store, ctx.tenant.name, ctx.actor)
    return StandingView(name=ctx.tenant.name, status=status)


@routes.post("/tenant/resume")
async def resume_own(ctx: Annotated[Context, may("tenant.resume")]) -> StandingView:
    """Go on from now; what passed is recorded as skipped."""
    status = await tenancies.resume(ctx.store, ctx.tenant.name, ctx.actor)
    return StandingView(name=ctx.tenant.name, status=status)


@routes.get("/tenants/{tenant}/standing")
async def read(ctx: Annotated[Context, may("tenants.read")], tenant: TenantRef) -> StandingView:
    """Whether a tenant goes on or is paused."""
    found = await tenants.named(ctx.store, tenant)
    return StandingView(name=found.name, status=await tenancies.standing(ctx.store, found))


@routes.post("/tenants/{tenant}/pause")
async def pause(ctx: Annotated[Context, may("tenants.pause")], tenant: TenantRef) -> StandingView:
    """Stop all fires and claims of a tenant, within a few seconds; what runs may finish."""
    name = (await tenants.named(ctx.store, tenant)).name
    return StandingView(name=name, status=await tenancies.pause(ctx.store, name, ctx.actor))


@routes.post("/tenants/{tenant}/resume")
async def resume(ctx: Annotated[Context, may("tenants.resume")], tenant: TenantRef) -> StandingView:
    """Go on from now; what passed is recorded as skipped."""
    name = (await tenants.named(ctx.store, tenant)).name
    return StandingView(name=name, status=await tenancies.resume(ctx.store, name, ctx.actor))


@routes.delete("/tenants/{tenant}", status_code=202)
async def remove(
    ctx: Annotated[Context, may("tenants.remove")],
    tenant: TenantRef,
    confirm: Annotated[str, Query(max_length=60, description="The tenant's name once more.")],
) -> StandingView:
    """Close a tenant for ever: its keys open nothing any more, and all that belongs to it is purged in time."""
    name = (await tenants.named(ctx.store, tenant)).name
    return StandingView(name=name, status=await tenancies.remove(ctx.store, name, ctx.actor, confirm=confirm))

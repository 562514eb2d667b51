"""Routes of the status of a tenant: pause, resume and, for admins of the platform, remove."""

from typing import Annotated

from fastapi import Query

from horae.api.models.tenants import TenantStatusView
from horae.api.routes.tenants import TenantRef
from horae.api.routing import may, router
from horae.domain.tenants.tenants import LONGEST_NAME
from horae.service.context import Context
from horae.service.tenants import lifecycle, tenants

routes = router("tenants")


@routes.get("/tenant/status")
async def get_own_tenant_status(ctx: Annotated[Context, may("tenant.read")]) -> TenantStatusView:
    """Get the status of this tenant."""
    return TenantStatusView(name=ctx.tenant.name, status=await lifecycle.status_of(ctx, ctx.tenant))


@routes.post("/tenant/pause")
async def pause_own_tenant(ctx: Annotated[Context, may("tenant.pause")]) -> TenantStatusView:
    """Pause this tenant: all fires and claims stop within a few seconds. Running instances may finish."""
    status = await lifecycle.pause(ctx, ctx.tenant.name)
    return TenantStatusView(name=ctx.tenant.name, status=status)


@routes.post("/tenant/resume")
async def resume_own_tenant(ctx: Annotated[Context, may("tenant.resume")]) -> TenantStatusView:
    """Resume this tenant from now on. Missed fires are recorded as skipped."""
    status = await lifecycle.resume(ctx, ctx.tenant.name)
    return TenantStatusView(name=ctx.tenant.name, status=status)


@routes.get("/tenants/{tenant}/status")
async def get_tenant_status(ctx: Annotated[Context, may("tenants.read")], tenant: TenantRef) -> TenantStatusView:
    """Get the status of a tenant."""
    found = await tenants.find_by_ref(ctx, tenant)
    return TenantStatusView(name=found.name, status=await lifecycle.status_of(ctx, found))


@routes.post("/tenants/{tenant}/pause")
async def pause_tenant(ctx: Annotated[Context, may("tenants.pause")], tenant: TenantRef) -> TenantStatusView:
    """Pause a tenant: all fires and claims stop within a few seconds. Running instances may finish."""
    name = (await tenants.find_by_ref(ctx, tenant)).name
    return TenantStatusView(name=name, status=await lifecycle.pause(ctx, name))


@routes.post("/tenants/{tenant}/resume")
async def resume_tenant(ctx: Annotated[Context, may("tenants.resume")], tenant: TenantRef) -> TenantStatusView:
    """Resume a tenant from now on. Missed fires are recorded as skipped."""
    name = (await tenants.find_by_ref(ctx, tenant)).name
    return TenantStatusView(name=name, status=await lifecycle.resume(ctx, name))


@routes.delete("/tenants/{tenant}", status_code=202)
async def remove_tenant(
    ctx: Annotated[Context, may("tenants.remove")],
    tenant: TenantRef,
    confirm: Annotated[
        str, Query(max_length=LONGEST_NAME, description="The name of the tenant again, as a confirmation.")
    ],
) -> TenantStatusView:
    """Remove a tenant for good. Its API keys are refused, and its data is deleted over time."""
    name = (await tenants.find_by_ref(ctx, tenant)).name
    return TenantStatusView(name=name, status=await lifecycle.remove(ctx, name, confirm=confirm))

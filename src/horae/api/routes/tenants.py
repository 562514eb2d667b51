"""Routes of tenants: the tenant of the caller, and all tenants for admins of the platform."""

from typing import Annotated

from fastapi import Path

from horae.api.models.identity import CreatedApiKey, NewApiKey
from horae.api.models.tenants import AllowanceSpec, NewTenant, SetAllowance, TenantUsageView, TenantView, WidenTenant
from horae.api.pages import Page, Paged
from horae.api.routing import Asking, may, router
from horae.domain.tenants.tenants import LONGEST_NAME
from horae.service.context import Context
from horae.service.identity import api_keys
from horae.service.limits import usage
from horae.service.tenants import tenants

routes = router("tenants")
TenantRef = Annotated[str, Path(max_length=LONGEST_NAME, description="The id of the tenant (`ten_…`), or its name.")]


@routes.get("/tenant")
async def get_own_tenant(ctx: Annotated[Context, may("tenant.read")], asking: Asking) -> TenantView:
    """Get the tenant of the caller."""
    return TenantView.of(asking.tenant, asking.allowance)


@routes.get("/tenant/usage")
async def get_own_tenant_usage(ctx: Annotated[Context, may("tenant.read")], asking: Asking) -> TenantUsageView:
    """Get how much of its limits this tenant uses now, nearest to a limit first."""
    found = await usage.of_tenant(ctx, asking.allowance)
    return TenantUsageView.of(found, sorted(ctx.cells_down))


@routes.get("/tenant-usage")
async def list_tenant_usage(ctx: Annotated[Context, may("tenants.list")], paging: Paged) -> Page[TenantUsageView]:
    """List how much of their limits all tenants use now, by the name of the tenant."""
    found = await usage.page(ctx, paging.after, paging.take)
    return paging.page(found, TenantUsageView.of, lambda one: one.tenant.name)


@routes.post("/tenants", status_code=201)
async def create_tenant(ctx: Annotated[Context, may("tenants.create")], asked: NewTenant) -> TenantView:
    """Create a tenant."""
    made = await tenants.create(ctx, asked.name, width=asked.width, zone=asked.zone)
    return TenantView.of(made, AllowanceSpec().to_domain())


@routes.get("/tenants")
async def list_tenants(ctx: Annotated[Context, may("tenants.list")], paging: Paged) -> Page[TenantView]:
    """List all tenants, by name."""
    found = await tenants.page(ctx, paging.after, paging.take)
    return paging.page(found, lambda one: TenantView.of(*one), lambda one: one[0].name)


@routes.get("/tenants/{tenant}")
async def get_tenant(ctx: Annotated[Context, may("tenants.read")], tenant: TenantRef) -> TenantView:
    """Get a tenant."""
    return TenantView.of(*await tenants.read(ctx, tenant))


@routes.put("/tenants/{tenant}/allowance")
async def set_allowance(
    ctx: Annotated[Context, may("tenants.allow")], tenant: TenantRef, asked: SetAllowance
) -> TenantView:
    """Set the allowance of a tenant. It applies in every process within a few seconds.

    With `replaces` it answers 409 if somebody else has changed the allowance since it was read.
    """
    allowance, read = asked.to_domain(), None if asked.replaces is None else asked.replaces.to_domain()
    name = (await tenants.find_by_ref(ctx, tenant)).name
    return TenantView.of(await tenants.allow(ctx, name, allowance, read=read), allowance)


@routes.post("/tenants/{tenant}/widen")
async def widen_tenant(
    ctx: Annotated[Context, may("tenants.widen")], tenant: TenantRef, asked: WidenTenant
) -> TenantView:
    """Spread the new jobs and business keys of a tenant over more shards. Existing rows stay where they are."""
    found, allowance = await tenants.read(ctx, tenant)
    return TenantView.of(await tenants.widen(ctx, found.name, asked.width), allowance)


@routes.post("/tenants/{tenant}/keys", status_code=201)
async def create_tenant_key(
    ctx: Annotated[Context, may("tenants.keys.create")], tenant: TenantRef, asked: NewApiKey, caller: Asking
) -> CreatedApiKey:
    """Create an API key of another tenant, such as its first key. Its secret text is in this response only."""
    speaking = await tenants.context_of(ctx, tenant)
    if speaking.tenant.id == ctx.tenant.id:
        caller.check_grant(asked.roles, asked.scopes)
    made = await api_keys.create(speaking, asked.name, asked.roles, scopes=asked.scopes, expires_at=asked.expires_at)
    return CreatedApiKey.of_created(made)

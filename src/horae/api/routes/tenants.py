"""Tenants: one's own, and for the platform's admins all of them."""

from typing import Annotated

from fastapi import Path

from horae.api.models.identity import MadeKey, NewKey
from horae.api.models.tenants import Allowance, NewTenant, TenantView, WidenTenant
from horae.api.pages import Page, Paged
from horae.api.routing import Asking, may, router
from horae.service import keys, tenants
from horae.service.context import Context

routes = router("tenants")
TenantRef = Annotated[str, Path(max_length=60, description="The id of a tenant (`ten_…`), or its name.")]


@routes.get("/tenant")
async def own(ctx: Annotated[Context, may("tenant.read")], asking: Asking) -> TenantView:
    """The tenant this credential belongs to."""
    return TenantView.of(asking.tenant, asking.allowance)


@routes.post("/tenants", status_code=201)
async def create(ctx: Annotated[Context, may("tenants.create")], asked: NewTenant) -> TenantView:
    """Make a tenant."""
    made = await tenants.create(ctx.store, asked.name, ctx.actor, width=asked.width, zone=asked.zone)
    return TenantView.of(made, Allowance().to_domain())


@routes.get("/tenants")
async def listing(ctx: Annotated[Context, may("tenants.list")], paging: Paged) -> Page[TenantView]:
    """All tenants, by name."""
    found = await tenants.page(ctx.store, paging.after, paging.take, ctx.cells_down)
    return paging.page(found, lambda one: TenantView.of(*one), lambda one: one[0].name)


@routes.get("/tenants/{tenant}")
async def read(ctx: Annotated[Context, may("tenants.read")], tenant: TenantRef) -> TenantView:
    """One tenant."""
    return TenantView.of(*await tenants.read(ctx.store, tenant))


@routes.put("/tenants/{tenant}/allowance")
async def allow(ctx: Annotated[Context, may("tenants.allow")], tenant: TenantRef, asked: Allowance) -> TenantView:
    """Set what a tenant may use; every process knows within a few seconds."""
    allowance = asked.to_domain()
    name = (await tenants.named(ctx.store, tenant)).name
    return TenantView.of(await tenants.allow(ctx.store, name, ctx.actor, allowance), allowance)


@routes.post("/tenants/{tenant}/widen")
async def widen(ctx: Annotated[Context, may("tenants.widen")], tenant: TenantRef, asked: WidenTenant) -> TenantView:
    """Spread the new jobs and keys of a tenant over more shards. What it has stays where it is, and goes on."""
    found, allowance = await tenants.read(ctx.store, tenant)
    return TenantView.of(await tenants.widen(ctx.store, found.name, ctx.actor, asked.width), allowance)


@routes.post("/tenants/{tenant}/keys", status_code=201)
async def create_key(
    ctx: Annotated[Context, may("tenants.keys.create")], tenant: TenantRef, asked: NewKey, caller: Asking
) -> MadeKey:
    """Make a key of another tenant: its first one. Its text is in this answer and nowhere else."""
    speaking = await tenants.speaking_for(ctx, tenant)
    if speaking.tenant.id == ctx.tenant.id:
        caller.check_grant(asked.roles, asked.scopes)
    made = await keys.create(speaking, asked.name, asked.roles, scopes=asked.scopes, expires_at=asked.expires_at)
    return MadeKey.made(made)

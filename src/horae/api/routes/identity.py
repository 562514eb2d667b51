"""Keys, roles and who did what."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query

from horae.api.idempotent import OptionalKey, Wish, answered
from horae.api.models.base import Moment
from horae.api.models.identity import ActionView, AuditView, BindingView, KeyView, MadeKey, NewKey, NewRoles, SealView
from horae.api.pages import Page, Paged
from horae.api.routing import Asking, may, router
from horae.domain.ids import Prefix, private, shard_in
from horae.service import audit, blocks, keys, roles
from horae.service.context import Context

routes = router("identity")
KeyId = Annotated[str, Path(max_length=60, examples=["key_01hv3zq5k8e9r7t2m4n6p8s0v1"])]

Principal = Annotated[str, Path(max_length=200, examples=["group:operations"])]


@routes.post("/keys", status_code=201)
async def create(ctx: Annotated[Context, may("keys.create")], asked: NewKey, caller: Asking) -> MadeKey:
    """Make a key of this tenant. Its text is in this answer and nowhere else, so there is no Idempotency-Key.

    A key that is narrowed by scopes makes none that may do more than itself.
    """
    caller.check_grant(asked.roles, asked.scopes)
    made = await keys.create(ctx, asked.name, asked.roles, scopes=asked.scopes, expires_at=asked.expires_at)
    return MadeKey.made(made)


@routes.get("/keys")
async def listing(ctx: Annotated[Context, may("keys.list")], paging: Paged) -> Page[KeyView]:
    """The tenant's keys, oldest first; revoked ones too."""
    after = UUID(paging.after) if paging.after else None
    found = await keys.page(ctx, after, paging.take)
    bound = await roles.of_keys(ctx, found)
    return paging.page(found, lambda key: KeyView.of(key, bound.get(key.principal, ())), lambda key: key.id)


@routes.delete("/keys/{key_id}")
async def revoke(ctx: Annotated[Context, may("keys.revoke")], key_id: KeyId) -> KeyView:
    """Close a key for ever; it is refused everywhere within five seconds."""
    revoked = await keys.revoke(ctx, private(Prefix.KEY, key_id))
    return KeyView.of(revoked, (await roles.of_keys(ctx, [revoked])).get(revoked.principal, ()))


@routes.get("/roles")
async def table(ctx: Annotated[Context, may("roles.read")]) -> list[ActionView]:
    """What each role may do."""
    return ActionView.all()


@routes.get("/role-bindings")
async def bindings(ctx: Annotated[Context, may("bindings.list")], paging: Paged) -> Page[BindingView]:
    """Who has which roles in this tenant."""
    return paging.page(await roles.page(ctx, paging.after, paging.take), BindingView.of, lambda one: one.principal)


@routes.put("/role-bindings/{principal:path}", response_model=BindingView)
async def bind(
    ctx: Annotated[Context, may("bindings.put")],
    principal: Principal,
    asked: NewRoles,
    caller: Asking,
    key: OptionalKey = None,
) -> Any:
    """Give a principal these roles and no others: an API key, a person (`user:…`) or a group (`group:…`).

    A key that is narrowed by scopes gives no role that may do more than itself.
    """
    caller.check_grant(asked.roles)
    wish = Wish("bindings.put", principal, shard_in(ctx.tenant.id), asked)
    return await answered(ctx, key, wish, lambda ctx: roles.bind(ctx, principal, asked.roles), BindingView.of)


@routes.get("/audit")
async def entries(
    ctx: Annotated[Context, may("audit.list")],
    paging: Paged,
    since: Annotated[Moment | None, Query(description="Not older than this.")] = None,
    until: Annotated[Moment | None, Query(description="Older than this.")] = None,
    actor: Annotated[str | None, Query(max_length=200, description="Only by this principal.")] = None,
    action: Annotated[str | None, Query(max_length=60, description="Only this, such as `job.paused`.")] = None,
    resource: Annotated[str | None, Query(max_length=200, description="Only about this id.")] = None,
) -> Page[AuditView]:
    """Who did what in this tenant, newest first."""
    before = (datetime.fromisoformat(paging.after[0]), UUID(paging.after[1])) if paging.after else None
    between = audit.Sought()
    sought = audit.Sought(since or between.since, until or between.until, actor, action, resource)
    found = await audit.page(ctx, before, sought, paging.take)
    return paging.page(found, AuditView.of, lambda entry: [entry.at.isoformat(), entry.id])


@routes.get("/audit/seal")
async def seal(ctx: Annotated[Context, may("audit.seal")]) -> list[SealView]:
    """How far the audit log of each cell is sealed. That it is as it was sealed, `horae audit verify` proves."""
    return [SealView.of(head) for head in await blocks.heads(ctx)]

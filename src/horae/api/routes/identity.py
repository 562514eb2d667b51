"""Routes of API keys, roles, the audit log and certificates."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query

from horae.api.idempotent import IdempotentRequest, OptionalKey, answer_once
from horae.api.models.base import Day, Moment
from horae.api.models.certificates import CertificateView, CertifiedDaysView
from horae.api.models.identity import (
    ActionView,
    ApiKeyView,
    AuditChainView,
    AuditEntryView,
    CreatedApiKey,
    NewApiKey,
    RoleBindingView,
    SetRoles,
)
from horae.api.pages import Page, Paged
from horae.api.routing import Asking, may, router
from horae.domain.identity.people import LONGEST_PRINCIPAL
from horae.domain.ids import LONGEST_ID, Prefix, private, shard_in
from horae.service.audit import audit, verification
from horae.service.certificates import certificates
from horae.service.context import Context
from horae.service.identity import api_keys, role_bindings

routes = router("identity")
KeyId = Annotated[str, Path(max_length=LONGEST_ID, examples=["key_01hv3zq5k8e9r7t2m4n6p8s0v1"])]

Principal = Annotated[str, Path(max_length=LONGEST_PRINCIPAL, examples=["group:operations"])]


@routes.post("/keys", status_code=201)
async def create_api_key(
    ctx: Annotated[Context, may("keys.create")], asked: NewApiKey, caller: Asking
) -> CreatedApiKey:
    """Create an API key. Its secret text is in this response only, so there is no Idempotency-Key.

    A key with scopes cannot create a key with more permissions than its own.
    """
    caller.check_grant(asked.roles, asked.scopes)
    made = await api_keys.create(
        ctx, asked.name, asked.roles, scopes=asked.scopes, job_labels=asked.job_labels, expires_at=asked.expires_at
    )
    return CreatedApiKey.of_created(made)


@routes.get("/keys")
async def list_api_keys(ctx: Annotated[Context, may("keys.list")], paging: Paged) -> Page[ApiKeyView]:
    """List the API keys of the tenant, oldest first, including revoked keys."""
    after = UUID(paging.after) if paging.after else None
    found = await api_keys.page(ctx, after, paging.take)
    bound = await role_bindings.of_keys(ctx, found)
    return paging.page(found, lambda key: ApiKeyView.of(key, bound.get(key.principal, ())), lambda key: key.id)


@routes.delete("/keys/{key_id}")
async def revoke_api_key(ctx: Annotated[Context, may("keys.revoke")], key_id: KeyId) -> ApiKeyView:
    """Revoke an API key. Every process refuses it within five seconds."""
    revoked = await api_keys.revoke(ctx, private(Prefix.KEY, key_id))
    return ApiKeyView.of(revoked, (await role_bindings.of_keys(ctx, [revoked])).get(revoked.principal, ()))


@routes.get("/roles")
async def list_roles(ctx: Annotated[Context, may("roles.read")]) -> list[ActionView]:
    """List all actions and the roles that may perform them."""
    return ActionView.all()


@routes.get("/role-bindings")
async def list_role_bindings(ctx: Annotated[Context, may("bindings.list")], paging: Paged) -> Page[RoleBindingView]:
    """List the role bindings of the tenant."""
    return paging.page(
        await role_bindings.page(ctx, paging.after, paging.take), RoleBindingView.of, lambda one: one.principal
    )


@routes.put("/role-bindings/{principal:path}", response_model=RoleBindingView)
async def set_role_binding(
    ctx: Annotated[Context, may("bindings.put")],
    principal: Principal,
    asked: SetRoles,
    caller: Asking,
    key: OptionalKey = None,
) -> Any:
    """Set the roles of a principal: an API key, a person (`user:…`) or a group (`group:…`).

    A key with scopes cannot grant a role with more permissions than its own.
    """
    caller.check_grant(asked.roles)
    wish = IdempotentRequest("bindings.put", principal, shard_in(ctx.tenant.id), asked)
    return await answer_once(
        ctx, key, wish, lambda ctx: role_bindings.bind(ctx, principal, asked.roles), RoleBindingView.of
    )


@routes.get("/audit")
async def list_audit_entries(
    ctx: Annotated[Context, may("audit.list")],
    paging: Paged,
    since: Annotated[Moment | None, Query(description="Start of the time range.")] = None,
    until: Annotated[Moment | None, Query(description="End of the time range, excluded.")] = None,
    actor: Annotated[str | None, Query(max_length=LONGEST_PRINCIPAL, description="Filter on the principal.")] = None,
    action: Annotated[
        str | None, Query(max_length=60, description="Filter on the action, such as `job.paused`.")
    ] = None,
    resource: Annotated[str | None, Query(max_length=200, description="Filter on the id of the resource.")] = None,
) -> Page[AuditEntryView]:
    """List the audit log of the tenant, newest first."""
    before = (datetime.fromisoformat(paging.after[0]), UUID(paging.after[1])) if paging.after else None
    between = audit.AuditFilter()
    sought = audit.AuditFilter(since or between.since, until or between.until, actor, action, resource)
    found = await audit.page(ctx, before, sought, paging.take)
    return paging.page(found, AuditEntryView.of, lambda entry: [entry.at.isoformat(), entry.id])


@routes.get("/certificates")
async def list_certificates(
    ctx: Annotated[Context, may("certificates.list")],
    since: Annotated[Day, Query(description="The first day in UTC.")],
    until: Annotated[Day, Query(description="The day after the last one; at most 366 days after the first.")],
) -> CertifiedDaysView:
    """List the certified days of a range: what the newest certificate of each says in total."""
    return CertifiedDaysView.of(await certificates.listing(ctx, since, until))


@routes.get("/certificates/{day}")
async def get_certificate(
    ctx: Annotated[Context, may("certificates.read")],
    day: Annotated[Day, Path(examples=["2026-11-17"], description="The day in UTC.")],
) -> CertificateView:
    """Get the certificate of a day: what became of every fire that should exist. `horae certificate` makes it."""
    return CertificateView.of(await certificates.find(ctx, day))


@routes.get("/audit/chain")
async def get_audit_chains(ctx: Annotated[Context, may("audit.chain")]) -> list[AuditChainView]:
    """Get the head of the audit hash chain of each cell. `horae audit verify` checks the whole chain."""
    return [AuditChainView.of(head) for head in await verification.heads(ctx)]

"""API keys: create, list, revoke. Each change is one transaction in the tenant's home shard."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.domain.errors import Conflict, Invalid, NotFound
from horae.domain.events.events import Event
from horae.domain.identity.principals import ApiKey, RoleBinding, check_key
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.jobs.jobs import check_labels
from horae.runtime.randomness import new_id
from horae.security import credentials
from horae.security.roles import Role, known_scope
from horae.service.context import NOT_BOUND, Context
from horae.service.limits import counts
from horae.service.tenants.changes import record_event
from horae.store.identity import api_keys, role_bindings
from horae.store.tx import Tx


class CreatedKey(NamedTuple):
    """A new API key with its roles, and the only copy of its text."""

    key: ApiKey
    roles: tuple[str, ...]
    text: str


async def create(
    ctx: Context,
    name: str,
    roles: Sequence[Role],
    *,
    scopes: Sequence[str] = (),
    job_labels: Mapping[str, str] = NOT_BOUND,
    expires_at: datetime | None = None,
    reason: str | None = None,
) -> CreatedKey:
    """Create an API key with its roles. Only this answer contains its text.

    With `job_labels` the key is bound to the jobs that have all of them. `reason` goes into the audit log.
    """
    shard = shard_in(ctx.tenant.id)
    unknown = [scope for scope in scopes if not known_scope(scope)]
    if unknown:
        raise Invalid(f"there is no action {unknown[0]!r} to narrow a key to")
    bounds = await counts.bounds_of(ctx)

    async def work(tx: Tx) -> CreatedKey:
        check_key(name, tuple(scopes), expires_at, tx.now)
        check_labels(job_labels)
        await counts.check_key(tx, ctx, bounds)
        credential = credentials.new_credential(new_id(shard, tx.now))
        key = ApiKey(
            id=credential.key_id,
            tenant_id=ctx.tenant.id,
            name=name,
            digest=credential.digest(),
            scopes=tuple(scopes),
            job_labels=dict(job_labels),
            created_by=ctx.actor,
            created_at=tx.now,
            expires_at=expires_at,
        )
        if not await api_keys.create(tx, key):
            raise Conflict(
                f"a key {name!r} exists already: choose another name; if it does not, its shard is moving: ask again"
            )
        bound = RoleBinding(key.principal, tuple(sorted(set(roles))))
        await role_bindings.put(tx, ctx.tenant.id, bound)
        detail: dict[str, object] = {"name": name, "roles": bound.roles, "scopes": key.scopes, "expires_at": expires_at}
        if job_labels:
            detail["job_labels"] = key.job_labels
        if reason is not None:
            detail["reason"] = reason
        await record_event(tx, shard, ctx.tenant, Event.KEY_CREATED, ctx.actor, key.principal, detail)
        return CreatedKey(key, bound.roles, credential.text())

    return await ctx.store.run(shard, work)


async def page(ctx: Context, after: UUID | None, limit: int) -> list[ApiKey]:
    """Returns the tenant's API keys, oldest first. Revoked ones stay for a day."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        return await api_keys.page(tx, ctx.tenant.id, after or UUID(int=0), limit)


async def revoke(ctx: Context, id_: UUID) -> ApiKey:
    """Revoke an API key for good and remove its roles; every process refuses it within five seconds."""
    shard = shard_in(ctx.tenant.id)
    if shard_in(id_) != shard:
        raise NotFound(f"there is no key {public(Prefix.KEY, id_)} to revoke")

    async def work(tx: Tx) -> ApiKey:
        key = await api_keys.revoke(tx, ctx.tenant.id, id_)
        if key is None:
            raise NotFound(f"there is no key {public(Prefix.KEY, id_)} to revoke")
        await role_bindings.put(tx, ctx.tenant.id, RoleBinding(key.principal, ()))
        await record_event(tx, shard, ctx.tenant, Event.KEY_REVOKED, ctx.actor, key.principal, {"name": key.name})
        return key

    return await ctx.store.run(shard, work)

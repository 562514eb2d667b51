"""API keys: made, shown once, listed, revoked. Each verb is one transaction in the tenant's home shard."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.domain.errors import Conflict, Invalid, NotFound
from horae.domain.events import Event
from horae.domain.identity import ApiKey, Binding, check_key
from horae.domain.ids import Prefix, public, shard_in
from horae.runtime.chance import mint
from horae.security import credentials
from horae.security.roles import Role, known_scope
from horae.service import counts
from horae.service.context import Context
from horae.service.told import tell
from horae.store import bindings, keys
from horae.store.tx import Tx


class Made(NamedTuple):
    """A new key with its roles, and the only copy of its text."""

    key: ApiKey
    roles: tuple[str, ...]
    text: str


async def create(
    ctx: Context,
    name: str,
    roles: Sequence[Role],
    *,
    scopes: Sequence[str] = (),
    expires_at: datetime | None = None,
) -> Made:
    """A new key with its roles. Its text is in the answer and nowhere else."""
    shard = shard_in(ctx.tenant.id)
    unknown = [scope for scope in scopes if not known_scope(scope)]
    if unknown:
        raise Invalid(f"there is no action {unknown[0]!r} to narrow a key to")
    bounds = await counts.bounds_of(ctx)

    async def work(tx: Tx) -> Made:
        check_key(name, tuple(scopes), expires_at, tx.now)
        await counts.check_key(tx, ctx, bounds)
        credential = credentials.new(mint(shard, tx.now))
        key = ApiKey(
            id=credential.key_id,
            tenant_id=ctx.tenant.id,
            name=name,
            digest=credential.digest(),
            scopes=tuple(scopes),
            created_by=ctx.actor,
            created_at=tx.now,
            expires_at=expires_at,
        )
        if not await keys.create(tx, key):
            raise Conflict(f"a key {name!r} exists already, or its shard is moving")
        bound = Binding(key.principal, tuple(sorted(set(roles))))
        await bindings.put(tx, ctx.tenant.id, bound)
        detail: dict[str, object] = {"name": name, "roles": bound.roles, "scopes": key.scopes, "expires_at": expires_at}
        await tell(tx, shard, ctx.tenant, Event.KEY_CREATED, ctx.actor, key.principal, detail)
        return Made(key, bound.roles, credential.text())

    return await ctx.store.run(shard, work)


async def page(ctx: Context, after: UUID | None, limit: int) -> list[ApiKey]:
    """The tenant's keys, oldest first; revoked ones too, for a day."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        return await keys.page(tx, ctx.tenant.id, after or UUID(int=0), limit)


async def revoke(ctx: Context, id_: UUID) -> ApiKey:
    """Close a key for ever and take its roles away; every process refuses it within five seconds."""
    shard = shard_in(ctx.tenant.id)
    if shard_in(id_) != shard:
        raise NotFound(f"there is no key {public(Prefix.KEY, id_)} to revoke")

    async def work(tx: Tx) -> ApiKey:
        key = await keys.revoke(tx, ctx.tenant.id, id_)
        if key is None:
            raise NotFound(f"there is no key {public(Prefix.KEY, id_)} to revoke")
        await bindings.put(tx, ctx.tenant.id, Binding(key.principal, ()))
        await tell(tx, shard, ctx.tenant, Event.KEY_REVOKED, ctx.actor, key.principal, {"name": key.name})
        return key

    return await ctx.store.run(shard, work)

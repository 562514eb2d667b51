"""Role bindings of principals: read and bind. Each change is one transaction in the tenant's home shard."""

from collections.abc import Sequence

from horae.domain.errors import NotFound, ShardClosed
from horae.domain.events.events import Event
from horae.domain.identity.people import check_principal
from horae.domain.identity.principals import ApiKey, RoleBinding
from horae.domain.ids import Prefix, private, shard_in
from horae.security.roles import Role
from horae.service.context import Context
from horae.service.limits import counts
from horae.service.tenants.changes import record_event
from horae.store.identity import api_keys, role_bindings
from horae.store.tx import Tx


async def bind(ctx: Context, principal: str, roles: Sequence[Role]) -> RoleBinding:
    """Give a principal exactly these roles; every process knows them within five seconds."""
    shard, bounds = shard_in(ctx.tenant.id), await counts.bounds_of(ctx)

    async def work(tx: Tx) -> RoleBinding:
        await _check(tx, ctx, principal)
        if roles and ":" in principal:
            await counts.check_binding(tx, ctx, bounds, principal)
        bound = RoleBinding(principal, tuple(sorted(set(roles))))
        if not await role_bindings.put(tx, ctx.tenant.id, bound):
            raise ShardClosed("the tenant's shard is moving; nothing was changed")
        await record_event(tx, shard, ctx.tenant, Event.ROLES_BOUND, ctx.actor, principal, {"roles": bound.roles})
        return bound

    return await ctx.store.run(shard, work)


async def _check(tx: Tx, ctx: Context, principal: str) -> None:
    """Check a principal. People and groups are known to the issuer only; an API key must exist."""
    if ":" in principal:
        check_principal(principal)
        return
    found = await api_keys.find(tx, private(Prefix.KEY, principal))
    if found is None or found.tenant_id != ctx.tenant.id or found.revoked_at is not None:
        raise NotFound(f"there is no key {principal}")


async def of_keys(ctx: Context, found: Sequence[ApiKey]) -> dict[str, tuple[str, ...]]:
    """Returns the roles of some API keys by principal; a key without roles is missing."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        return await role_bindings.of(tx, ctx.tenant.id, [key.principal for key in found])


async def page(ctx: Context, after: str | None, limit: int) -> list[RoleBinding]:
    """Returns the tenant's principals that have roles, by name."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        return await role_bindings.page(tx, ctx.tenant.id, after or "", limit)

"""The roles of principals: read and bound. One transaction in the tenant's home shard."""

from collections.abc import Sequence

from horae.domain.errors import NotFound, ShardClosed
from horae.domain.events import Event
from horae.domain.identity import ApiKey, Binding
from horae.domain.ids import Prefix, private, shard_in
from horae.domain.people import check_principal
from horae.security.roles import Role
from horae.service import counts
from horae.service.context import Context
from horae.service.told import tell
from horae.store import bindings, keys
from horae.store.tx import Tx


async def bind(ctx: Context, principal: str, roles: Sequence[Role]) -> Binding:
    """Give a principal these roles and no others; every process knows within five seconds."""
    shard, bounds = shard_in(ctx.tenant.id), await counts.bounds_of(ctx)

    async def work(tx: Tx) -> Binding:
        await _check(tx, ctx, principal)
        if roles and ":" in principal:
            await counts.check_binding(tx, ctx, bounds, principal)
        bound = Binding(principal, tuple(sorted(set(roles))))
        if not await bindings.put(tx, ctx.tenant.id, bound):
            raise ShardClosed("the tenant's shard is moving; nothing was changed")
        await tell(tx, shard, ctx.tenant, Event.ROLES_BOUND, ctx.actor, principal, {"roles": bound.roles})
        return bound

    return await ctx.store.run(shard, work)


async def _check(tx: Tx, ctx: Context, principal: str) -> None:
    """People and groups are the issuer's to know; a key must be one of ours."""
    if ":" in principal:
        check_principal(principal)
        return
    found = await keys.find(tx, private(Prefix.KEY, principal))
    if found is None or found.tenant_id != ctx.tenant.id or found.revoked_at is not None:
        raise NotFound(f"there is no key {principal}")


async def of_keys(ctx: Context, found: Sequence[ApiKey]) -> dict[str, tuple[str, ...]]:
    """The roles of some of the tenant's keys, by principal; a key without any is missing."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        return await bindings.of(tx, ctx.tenant.id, [key.principal for key in found])


async def page(ctx: Context, after: str | None, limit: int) -> list[Binding]:
    """The tenant's principals that have roles, by name."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        return await bindings.page(tx, ctx.tenant.id, after or "", limit)

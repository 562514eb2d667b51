"""Named secrets: put, listed without their values, removed. Nodes use a new value within five seconds."""

from collections.abc import Sequence

from horae.domain.errors import Conflict, NotFound, ShardClosed
from horae.domain.events import Event
from horae.domain.ids import shard_in
from horae.domain.sealed import secret_of
from horae.domain.secrets import Secret, check_hosts, check_secret
from horae.service import counts
from horae.service.context import Context
from horae.service.told import tell
from horae.store import secrets
from horae.store.tx import Tx


async def put(ctx: Context, name: str, value: str, hosts: Sequence[str] | None = None) -> Secret:
    """Keep a value under a name, in the place of the one before. It can be used and replaced, and never read again.

    It is sent to `hosts` alone, to any host where the list is empty. None leaves them as they are: a new value is not
    opened to all by mistake.
    """
    check_secret(name, value)
    wanted = None if hosts is None else check_hosts(hosts)
    key = await ctx.store.sealing.key(ctx.tenant.id)
    if key is None:
        raise Conflict("payloads stay in clear here, and a secret is never stored so: configure a keyring first")
    shard, bounds = shard_in(ctx.tenant.id), await counts.bounds_of(ctx)

    async def work(tx: Tx) -> Secret:
        await counts.check_secret(tx, ctx, bounds, name)
        bound = await secrets.hosts(tx, ctx.tenant.id, name) if wanted is None else wanted
        sealed = key.seal(secret_of(name, bound), value)
        kept = await secrets.put(tx, ctx.tenant.id, name, sealed, ctx.actor, bound)
        if kept is None:
            raise ShardClosed("the tenant's shard is moving; nothing was changed")
        await _tell(ctx, tx, Event.SECRET_PUT, kept)
        return kept

    return await ctx.store.run(shard, work)


async def page(ctx: Context, after: str | None, limit: int) -> list[Secret]:
    """The tenant's secrets by name, without their values."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        return await secrets.page(tx, ctx.tenant.id, after or "", limit)


async def remove(ctx: Context, name: str) -> Secret:
    """Take a secret away; whatever names it fails from then on, unless the deployment's own has that name."""

    async def work(tx: Tx) -> Secret:
        gone = await secrets.remove(tx, ctx.tenant.id, name, ctx.actor)
        if gone is None:
            raise NotFound(f"tenant {ctx.tenant.name!r} has no secret of that name")
        await _tell(ctx, tx, Event.SECRET_REMOVED, gone)
        return gone

    return await ctx.store.run(shard_in(ctx.tenant.id), work)


async def _tell(ctx: Context, tx: Tx, event: Event, secret: Secret) -> None:
    detail: dict[str, object] = {"name": secret.name, "version": secret.version, "hosts": list(secret.hosts)}
    await tell(tx, shard_in(ctx.tenant.id), ctx.tenant, event, ctx.actor, f"secret/{secret.name}", detail)

"""Named secrets: put, list without values, remove. Nodes use a new value within five seconds."""

from collections.abc import Sequence

from horae.domain.encryption.encrypted_values import secret_of
from horae.domain.encryption.secrets import Secret, check_hosts, check_secret
from horae.domain.errors import Conflict, NotFound, ShardClosed
from horae.domain.events.events import Event
from horae.domain.ids import shard_in
from horae.service.context import Context
from horae.service.limits import counts
from horae.service.tenants.changes import record_event
from horae.store.encryption import secrets
from horae.store.tx import Tx


async def put(ctx: Context, name: str, value: str, hosts: Sequence[str] | None = None) -> Secret:
    """Store a value under a name, replacing the previous value. It can be used and replaced, but never read back.

    The value is sent only to `hosts`; an empty list allows any host. None keeps the stored hosts, so that a new value
    is not opened to all hosts by mistake.
    """
    check_secret(name, value)
    wanted = None if hosts is None else check_hosts(hosts)
    key = await ctx.store.cipher.key(ctx.tenant.id)
    if key is None:
        raise Conflict("payloads stay in clear here, and a secret is never stored so: configure a keyring first")
    shard, bounds = shard_in(ctx.tenant.id), await counts.bounds_of(ctx)

    async def work(tx: Tx) -> Secret:
        await counts.check_secret(tx, ctx, bounds, name)
        bound = await secrets.hosts(tx, ctx.tenant.id, name) if wanted is None else wanted
        encrypted = key.encrypt(secret_of(name, bound), value)
        kept = await secrets.put(tx, ctx.tenant.id, name, encrypted, ctx.actor, bound)
        if kept is None:
            raise ShardClosed("the tenant's shard is moving; nothing was changed")
        await _record(ctx, tx, Event.SECRET_PUT, kept)
        return kept

    return await ctx.store.run(shard, work)


async def page(ctx: Context, after: str | None, limit: int) -> list[Secret]:
    """The tenant's secrets by name, without their values."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        return await secrets.page(tx, ctx.tenant.id, after or "", limit)


async def remove(ctx: Context, name: str) -> Secret:
    """Remove a secret. Targets that name it fail from then on, unless the deployment has a secret of that name."""

    async def work(tx: Tx) -> Secret:
        gone = await secrets.remove(tx, ctx.tenant.id, name, ctx.actor)
        if gone is None:
            raise NotFound(f"tenant {ctx.tenant.name!r} has no secret of that name")
        await _record(ctx, tx, Event.SECRET_REMOVED, gone)
        return gone

    return await ctx.store.run(shard_in(ctx.tenant.id), work)


async def _record(ctx: Context, tx: Tx, event: Event, secret: Secret) -> None:
    detail: dict[str, object] = {"name": secret.name, "version": secret.version, "hosts": list(secret.hosts)}
    await record_event(tx, shard_in(ctx.tenant.id), ctx.tenant, event, ctx.actor, f"secret/{secret.name}", detail)

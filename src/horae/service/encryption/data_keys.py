"""Data keys of a tenant: make a new version on request. Older versions stay, for the values they encrypted."""

from horae.domain.errors import Conflict, Contended
from horae.domain.events.events import Event
from horae.domain.ids import Prefix, public, shard_in
from horae.service.context import Context
from horae.service.tenants.changes import record_event
from horae.store.encryption import data_keys
from horae.store.tx import Tx


async def rotate(ctx: Context) -> int:
    """Encrypt with a new data key from now on; every process does so within seconds. Returns its version."""
    shard, cipher, tenant = shard_in(ctx.tenant.id), ctx.store.cipher, ctx.tenant
    newest = await cipher.key(tenant.id)
    if newest is None:
        raise Conflict("payloads stay in clear here: there is no key to rotate")
    async with ctx.store.statement(shard) as tx:
        version = max(await data_keys.of_tenant(tx, tenant.id)) + 1
    wrapped = await cipher.make(tenant.id, version)
    assert wrapped is not None, "whoever has keys makes them"

    async def work(tx: Tx) -> int:
        if not await data_keys.create(tx, tenant.id, version, wrapped):
            raise Contended("someone else rotated the key, or its shard is moving; nothing was changed")
        detail: dict[str, object] = {"version": version}
        await record_event(
            tx, shard, tenant, Event.DATA_KEY_ROTATED, ctx.actor, public(Prefix.TENANT, tenant.id), detail
        )
        return version

    done = await ctx.store.run(shard, work)
    cipher.forget(tenant.id)
    return done

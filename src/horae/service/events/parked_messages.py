"""Parked messages: list them, replay them after the cause is fixed, or drop them."""

from uuid import UUID

from horae.domain.encryption.encrypted_values import parked_of
from horae.domain.errors import NotFound
from horae.domain.events.events import Event
from horae.domain.events.intakes import ParkedMessage
from horae.domain.ids import Prefix, public, shard_in
from horae.service.context import Context
from horae.service.encryption.encryption import decrypt_or_mark
from horae.service.events import intake_batches, intakes
from horae.service.events.intake_batches import IntakeMessage
from horae.service.tenants.changes import record_event
from horae.store.events import parked_messages
from horae.store.tx import Tx

FIRST = UUID(int=0)
"""An id before every parked message."""


async def page(ctx: Context, after: UUID | None, limit: int) -> list[ParkedMessage]:
    """The tenant's parked messages, oldest first."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        found = await parked_messages.page(tx, ctx.tenant.id, after or FIRST, limit)
    return [await _decrypt_or_mark(ctx, one) for one in found]


async def replay(ctx: Context, id_: UUID) -> ParkedMessage:
    """Apply a message now. If it is refused again, the refusal is raised and the message stays parked."""
    one = await _decrypt(ctx, await _find(ctx, id_))
    standing = await intakes.find(ctx, one.intake)
    await intake_batches.apply_one(ctx, standing, IntakeMessage(one.body.encode(), one.place))
    return await _drop(ctx, one, Event.PARKED_REPLAYED)


async def drop(ctx: Context, id_: UUID) -> ParkedMessage:
    """Delete a message, whether or not it can be decrypted."""
    return await _drop(ctx, await _decrypt_or_mark(ctx, await _find(ctx, id_)), Event.PARKED_DROPPED)


async def _find(ctx: Context, id_: UUID) -> ParkedMessage:
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        found = await parked_messages.find(tx, ctx.tenant.id, id_)
    if found is None:
        raise _not_found(id_)
    return found


async def _drop(ctx: Context, one: ParkedMessage, event: Event) -> ParkedMessage:
    shard, name = shard_in(ctx.tenant.id), public(Prefix.PARKED, one.id)

    async def work(tx: Tx) -> ParkedMessage:
        if not await parked_messages.drop(tx, ctx.tenant.id, one.id):
            raise _not_found(one.id)
        detail: dict[str, object] = {"intake": one.intake, "place": one.place, "code": one.code}
        await record_event(tx, shard, ctx.tenant, event, ctx.actor, f"parked/{name}", detail)
        return one

    return await ctx.store.run(shard, work)


async def _decrypt(ctx: Context, one: ParkedMessage) -> ParkedMessage:
    return one._replace(body=await ctx.store.cipher.decrypt(ctx.tenant.id, parked_of(one.id), one.body))


async def _decrypt_or_mark(ctx: Context, one: ParkedMessage) -> ParkedMessage:
    return one._replace(body=await decrypt_or_mark(ctx, parked_of(one.id), one.body))


def _not_found(id_: UUID) -> NotFound:
    return NotFound(f"no message {public(Prefix.PARKED, id_)} is parked")

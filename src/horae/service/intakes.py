"""Intakes: which topics schedule changes come by. A node of ours takes what lies there; see `changes_in`."""

from typing import Final, NamedTuple

import msgspec

from horae.domain import channels as rules
from horae.domain.channels import Channel
from horae.domain.errors import NotFound, ShardClosed
from horae.domain.events import Event
from horae.domain.ids import shard_in
from horae.domain.intakes import Intake
from horae.runtime.chance import mint
from horae.service.context import Context
from horae.service.told import tell
from horae.store import channels
from horae.store.tx import Tx

KIND: Final = "intake"


class Standing(NamedTuple):
    """An intake as people look at it."""

    channel: Channel
    intake: Intake


async def put(ctx: Context, name: str, wanted: Intake) -> Standing:
    """Take changes from a topic from now on, or from another."""
    rules.check_name(name)
    rules.check_topic(ctx.store.brokers, ctx.tenant.name, wanted.source)
    shard, body = shard_in(ctx.tenant.id), msgspec.to_builtins(wanted)

    async def work(tx: Tx) -> Channel:
        kept = await channels.put(tx, ctx.tenant.id, KIND, name, mint(shard, tx.now), body, ctx.actor)
        if kept is None:
            raise ShardClosed("the tenant's shard is moving; nothing was changed")
        await _tell(ctx, tx, Event.INTAKE_PUT, kept, **body)
        return kept

    return standing(await ctx.store.run(shard, work))


async def page(ctx: Context, after: str | None, limit: int) -> list[Standing]:
    """The tenant's intakes by name."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        return [standing(one) for one in await channels.page(tx, ctx.tenant.id, KIND, after or "", limit)]


async def find(ctx: Context, name: str) -> Standing:
    """One of them."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        found = await channels.find(tx, ctx.tenant.id, KIND, name)
    if found is None:
        raise _missing(ctx, name)
    return standing(found)


async def remove(ctx: Context, name: str) -> Standing:
    """Take no more; what lies in the topic stays there."""

    async def work(tx: Tx) -> Channel:
        gone = await channels.remove(tx, ctx.tenant.id, KIND, name, ctx.actor)
        if gone is None:
            raise _missing(ctx, name)
        await _tell(ctx, tx, Event.INTAKE_REMOVED, gone)
        return gone

    return standing(await ctx.store.run(shard_in(ctx.tenant.id), work))


def standing(channel: Channel) -> Standing:
    """A channel of this kind, read."""
    return Standing(channel, msgspec.convert(channel.body, Intake))


def _missing(ctx: Context, name: str) -> NotFound:
    return NotFound(f"tenant {ctx.tenant.name!r} has no intake {name!r}")


async def _tell(ctx: Context, tx: Tx, event: Event, channel: Channel, **facts: object) -> None:
    detail: dict[str, object] = {"name": channel.name, "version": channel.version, **facts}
    await tell(tx, shard_in(ctx.tenant.id), ctx.tenant, event, ctx.actor, f"{KIND}/{channel.name}", detail)

"""Intakes: which topics schedule changes come by. A node of ours takes what lies there; see `changes_in`."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from horae.domain.channels import Channel, check_topic
from horae.domain.counts import Counted
from horae.domain.events import Event
from horae.domain.ids import shard_in
from horae.domain.intakes import Intake, Position
from horae.service import channels
from horae.service.channels import Kind
from horae.service.context import Context
from horae.store import intakes as positions

INTAKE: Final = Kind(
    "intake",
    Counted.INTAKES,
    Event.INTAKE_PUT,
    Event.INTAKE_PAUSED,
    Event.INTAKE_RESUMED,
    Event.INTAKE_REMOVED,
)


class Standing(NamedTuple):
    """An intake as people look at it; no position: no node has looked there yet."""

    channel: Channel
    intake: Intake
    position: Position | None = None


async def put(ctx: Context, name: str, wanted: Intake) -> Standing:
    """Take changes from a topic from now on, or from another."""
    check_topic(ctx.store.brokers, ctx.tenant.name, wanted.source)
    body = msgspec.to_builtins(wanted)
    return standing(await channels.put(ctx, INTAKE, name, body, **body))


async def page(ctx: Context, after: str | None, limit: int) -> list[Standing]:
    """The tenant's intakes by name."""
    return await _placed(ctx, await channels.page(ctx, INTAKE, after, limit))


async def find(ctx: Context, name: str) -> Standing:
    """One of them."""
    [found] = await _placed(ctx, [await channels.find(ctx, INTAKE, name)])
    return found


async def pause(ctx: Context, name: str, *, paused: bool) -> Standing:
    """Leave what comes in the topic, or go on with what has come meanwhile."""
    [kept] = await _placed(ctx, [await channels.pause(ctx, INTAKE, name, paused=paused)])
    return kept


async def remove(ctx: Context, name: str) -> Standing:
    """Take no more; what lies in the topic stays there."""
    gone = await channels.remove(ctx, INTAKE, name)
    async with ctx.store.cell(shard_in(ctx.tenant.id)).tx() as tx:
        await positions.forget(tx, gone.id, ctx.tenant.id)
    return standing(gone)


def standing(channel: Channel) -> Standing:
    """A channel of this kind, read."""
    return Standing(channel, msgspec.convert(channel.body, Intake))


async def _placed(ctx: Context, found: Sequence[Channel]) -> list[Standing]:
    """These, and how far each has come."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        places = await positions.positions(tx, [one.id for one in found])
    return [standing(one)._replace(position=places.get(one.id)) for one in found]

"""Intakes: the topics by which schedule changes arrive.

A node consumes the topics (`horae.upkeep.intakes`); `intake_batches` applies the messages.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from horae.domain.events.channels import Channel, check_topic
from horae.domain.events.events import Event
from horae.domain.events.intakes import Intake, Position
from horae.domain.ids import shard_in
from horae.domain.limits.counts import CountedKind
from horae.service.context import Context
from horae.service.events import channels
from horae.service.events.channels import ChannelKind
from horae.store.events import intakes as positions

INTAKE: Final = ChannelKind(
    "intake",
    CountedKind.INTAKES,
    Event.INTAKE_PUT,
    Event.INTAKE_REMOVED,
    Event.INTAKE_PAUSED,
    Event.INTAKE_RESUMED,
)


class IntakeDetail(NamedTuple):
    """An intake for display. Without a position, no node has read the topic yet."""

    channel: Channel
    intake: Intake
    position: Position | None = None


async def put(ctx: Context, name: str, wanted: Intake) -> IntakeDetail:
    """Create an intake, or replace its definition. Nodes then consume the topic that it names."""
    check_topic(ctx.store.brokers, ctx.tenant.name, wanted.source)
    body = msgspec.to_builtins(wanted)
    return detail_of(await channels.put(ctx, INTAKE, name, body, **body))


async def page(ctx: Context, after: str | None, limit: int) -> list[IntakeDetail]:
    """The tenant's intakes by name."""
    return await _with_positions(ctx, await channels.page(ctx, INTAKE, after, limit))


async def find(ctx: Context, name: str) -> IntakeDetail:
    """Returns the intake of that name."""
    [found] = await _with_positions(ctx, [await channels.find(ctx, INTAKE, name)])
    return found


async def pause(ctx: Context, name: str, *, paused: bool) -> IntakeDetail:
    """Stop consuming, or continue. Messages that arrive during the pause stay in the topic."""
    [kept] = await _with_positions(ctx, [await channels.pause(ctx, INTAKE, name, paused=paused)])
    return kept


async def remove(ctx: Context, name: str) -> IntakeDetail:
    """Remove an intake. Messages in its topic stay there."""
    gone = await channels.remove(ctx, INTAKE, name)
    async with ctx.store.cell(shard_in(ctx.tenant.id)).tx() as tx:
        await positions.forget(tx, gone.id, ctx.tenant.id)
    return detail_of(gone)


def detail_of(channel: Channel) -> IntakeDetail:
    """Decodes a channel that is an intake."""
    return IntakeDetail(channel, msgspec.convert(channel.body, Intake))


async def _with_positions(ctx: Context, found: Sequence[Channel]) -> list[IntakeDetail]:
    """Returns intakes with their positions."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        places = await positions.positions(tx, [one.id for one in found])
    return [detail_of(one)._replace(position=places.get(one.id)) for one in found]

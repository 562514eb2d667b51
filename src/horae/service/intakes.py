"""Intakes: which topics schedule changes come by. A node of ours takes what lies there; see `changes_in`."""

from typing import Final, NamedTuple

import msgspec

from horae.domain.channels import Channel, check_topic
from horae.domain.events import Event
from horae.domain.intakes import Intake
from horae.service import channels
from horae.service.channels import Kind
from horae.service.context import Context

INTAKE: Final = Kind("intake", Event.INTAKE_PUT, Event.INTAKE_REMOVED)


class Standing(NamedTuple):
    """An intake as people look at it."""

    channel: Channel
    intake: Intake


async def put(ctx: Context, name: str, wanted: Intake) -> Standing:
    """Take changes from a topic from now on, or from another."""
    check_topic(ctx.store.brokers, ctx.tenant.name, wanted.source)
    body = msgspec.to_builtins(wanted)
    return standing(await channels.put(ctx, INTAKE, name, body, **body))


async def page(ctx: Context, after: str | None, limit: int) -> list[Standing]:
    """The tenant's intakes by name."""
    return [standing(one) for one in await channels.page(ctx, INTAKE, after, limit)]


async def find(ctx: Context, name: str) -> Standing:
    """One of them."""
    return standing(await channels.find(ctx, INTAKE, name))


async def remove(ctx: Context, name: str) -> Standing:
    """Take no more; what lies in the topic stays there."""
    return standing(await channels.remove(ctx, INTAKE, name))


def standing(channel: Channel) -> Standing:
    """A channel of this kind, read."""
    return Standing(channel, msgspec.convert(channel.body, Intake))

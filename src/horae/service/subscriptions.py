"""Subscriptions: who is told of what happens to a tenant, and again from a time. Those of `system` hear of all."""

from datetime import datetime, timedelta
from itertools import chain
from typing import Final, NamedTuple

import msgspec

from horae.domain.channels import Channel, Subscription, Topic, check_topic
from horae.domain.counts import Counted
from horae.domain.errors import Invalid
from horae.domain.events import Event
from horae.domain.ids import shard_in
from horae.service import channels
from horae.service.channels import Kind
from horae.service.context import Context
from horae.store import feeds
from horae.store.cells import Cell
from horae.store.feeds import BLOCKS
from horae.store.tx import GONE

SUBSCRIPTION: Final = Kind(
    "subscription",
    Counted.SUBSCRIPTIONS,
    Event.SUBSCRIPTION_PUT,
    Event.SUBSCRIPTION_PAUSED,
    Event.SUBSCRIPTION_RESUMED,
    Event.SUBSCRIPTION_REMOVED,
)
USUAL: Final = timedelta(minutes=15)
"""How far a replay goes back where nobody says (seed 002)."""


class Progress(NamedTuple):
    """How far a subscription was told: how many events, since when nothing is left in any cell, and what is wrong."""

    sent: int
    told_until: datetime | None
    error: str | None


class Standing(NamedTuple):
    """A subscription as people look at it."""

    channel: Channel
    subscription: Subscription
    progress: Progress | None = None


async def put(ctx: Context, name: str, wanted: Subscription) -> Standing:
    """Begin to tell, or change what is told from now on. Places are kept: nothing is told again, nothing left out."""
    if isinstance(wanted.sink, Topic):
        check_topic(ctx.store.brokers, ctx.tenant.name, wanted.sink)
    body = msgspec.to_builtins(wanted)
    kept = await channels.put(ctx, SUBSCRIPTION, name, body, sink=body["sink"])
    for cell in ctx.store.cells:
        await _begin(cell, kept)
    return _standing(kept)


async def page(ctx: Context, after: str | None, limit: int) -> list[Standing]:
    """The tenant's subscriptions by name."""
    return [_standing(one) for one in await channels.page(ctx, SUBSCRIPTION, after, limit)]


async def show(ctx: Context, name: str) -> Standing:
    """A subscription, and how far it was told."""
    found = await channels.find(ctx, SUBSCRIPTION, name)
    places = list(chain.from_iterable(await ctx.ask_each(lambda tx: feeds.positions(tx, found.id, BLOCKS))))
    error = next((place.error for place in places if place.error), None)
    oldest = min((place.moved_at for place in places), default=None)
    return _standing(found)._replace(progress=Progress(sum(place.sent for place in places), oldest, error))


async def pause(ctx: Context, name: str, *, paused: bool) -> Standing:
    """Tell nothing, or go on where it stands: what happened meanwhile is told then, as far back as history is kept."""
    await channels.pause(ctx, SUBSCRIPTION, name, paused=paused)
    return await show(ctx, name)


async def remove(ctx: Context, name: str) -> Standing:
    """Tell no more."""
    gone = await channels.remove(ctx, SUBSCRIPTION, name)
    await ctx.ask_each(lambda tx: feeds.forget(tx, gone.id, ctx.tenant.id))  # a place that stays is of no consequence
    return _standing(gone)


async def replay(ctx: Context, name: str, since: datetime | None = None, until: datetime | None = None) -> Standing:
    """Tell again what happened in a span of time (the last 15 minutes), in its order, before anything new.

    Everything of it is told, and up to half a minute before and behind it.
    """
    found = await channels.find(ctx, SUBSCRIPTION, name)
    now = ctx.store.cell(shard_in(ctx.tenant.id)).clock.now()
    since = since or now - USUAL
    if since >= (until or now):
        raise Invalid("a replay ends after it begins, and does not begin in the future")
    for cell in ctx.store.cells:
        await _rewind(cell, found, since, until or now)
    await channels.touch(ctx, SUBSCRIPTION, name, Event.SUBSCRIPTION_REPLAYED, since=since, until=until)
    await channels.carry(ctx, found)  # by its new version every node sees at once that there is something to tell
    return await show(ctx, name)


async def _rewind(cell: Cell, found: Channel, since: datetime, until: datetime) -> None:
    async with cell.tx() as tx:
        marks = await feeds.marked(tx, since, until)
        end = None if marks.until is None else max(marks.until, marks.since + 1)
        await feeds.rewind(tx, found.id, found.tenant_id, marks.since, end, since)


async def _begin(cell: Cell, kept: Channel) -> None:
    """From now on. A cell that is away begins when its node first hears of it: nothing happens there until then."""
    try:
        async with cell.tx() as tx:
            await feeds.begin(tx, kept.id, kept.tenant_id, BLOCKS, await feeds.horizon(tx))
    except GONE:
        pass


def _standing(channel: Channel) -> Standing:
    return Standing(channel, msgspec.convert(channel.body, Subscription))

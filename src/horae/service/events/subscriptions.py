"""Subscriptions: deliver the events of a tenant to a sink, and deliver them again from a time.

Subscriptions of the tenant `system` receive the events of all tenants.
"""

from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import partial
from itertools import chain
from typing import Final, NamedTuple

import msgspec

from horae.domain.errors import Invalid, NoLongerKept, NotFound
from horae.domain.events.channels import Channel, Subscription, TopicAddress, check_topic
from horae.domain.events.events import Event
from horae.domain.ids import shard_in
from horae.domain.limits.counts import CountedKind
from horae.service.context import Context
from horae.service.events import channels
from horae.service.events.channels import ChannelKind
from horae.store.databases import days
from horae.store.events import feeds
from horae.store.events.feeds import BLOCKS
from horae.store.protocol import CellProtocol
from horae.store.tx import GONE

SUBSCRIPTION: Final = ChannelKind(
    "subscription",
    CountedKind.SUBSCRIPTIONS,
    Event.SUBSCRIPTION_PUT,
    Event.SUBSCRIPTION_REMOVED,
    Event.SUBSCRIPTION_PAUSED,
    Event.SUBSCRIPTION_RESUMED,
)
DEFAULT_REPLAY_SPAN: Final = timedelta(minutes=15)
"""How far a replay goes back by default (seed 002)."""


class SubscriptionProgress(NamedTuple):
    """The progress of a subscription over all cells.

    `sent` counts its events. `delivered_until` is the time at which the position that moved longest ago moved. `error`
    is a current failure.
    """

    sent: int
    delivered_until: datetime | None
    error: str | None


class SubscriptionDetail(NamedTuple):
    """A subscription for display."""

    channel: Channel
    subscription: Subscription
    progress: SubscriptionProgress | None = None


async def put(ctx: Context, name: str, wanted: Subscription) -> SubscriptionDetail:
    """Create a subscription, or change it from now on. Its positions stay: no event is repeated or left out."""
    if isinstance(wanted.sink, TopicAddress):
        check_topic(ctx.store.brokers, ctx.tenant.name, wanted.sink)
    body = msgspec.to_builtins(wanted)
    kept = await channels.put(ctx, SUBSCRIPTION, name, body, sink=body["sink"])
    for cell in ctx.store.cells:
        await _begin(cell, kept)
    return _detail_of(kept)


async def page(ctx: Context, after: str | None, limit: int) -> list[SubscriptionDetail]:
    """The tenant's subscriptions by name."""
    return [_detail_of(one) for one in await channels.page(ctx, SUBSCRIPTION, after, limit)]


async def show(ctx: Context, name: str) -> SubscriptionDetail:
    """Returns a subscription with its progress."""
    found = await channels.find(ctx, SUBSCRIPTION, name)
    places = list(chain.from_iterable(await ctx.ask_each(lambda tx: feeds.positions(tx, found.id, BLOCKS))))
    error = next((place.error for place in places if place.error), None)
    oldest = min((place.moved_at for place in places), default=None)
    return _detail_of(found)._replace(progress=SubscriptionProgress(sum(place.sent for place in places), oldest, error))


async def pause(ctx: Context, name: str, *, paused: bool) -> SubscriptionDetail:
    """Stop delivery, or continue at the same position with the events of the pause that history still has."""
    await channels.pause(ctx, SUBSCRIPTION, name, paused=paused)
    return await show(ctx, name)


async def remove(ctx: Context, name: str) -> SubscriptionDetail:
    """Remove a subscription."""
    gone = await channels.remove(ctx, SUBSCRIPTION, name)
    await ctx.ask_each(lambda tx: feeds.forget(tx, gone.id, ctx.tenant.id))  # a position that stays does no harm
    return _detail_of(gone)


async def replay(
    ctx: Context, name: str, since: datetime | None = None, until: datetime | None = None
) -> SubscriptionDetail:
    """Deliver the events of a span of time again (default: the last 15 minutes), in order, before new events.

    All events of the span are delivered, and those of up to half a minute before and after it.
    """
    found = await channels.find(ctx, SUBSCRIPTION, name)
    now = ctx.now(shard_in(ctx.tenant.id))
    since = since or now - DEFAULT_REPLAY_SPAN
    if since >= (until or now):
        raise Invalid("a replay ends after it begins, and does not begin in the future")
    await _check_kept(ctx, since)
    for cell in ctx.store.cells:
        await _rewind(cell, found, since, until or now)
    await channels.touch(ctx, SUBSCRIPTION, name, Event.SUBSCRIPTION_REPLAYED, since=since, until=until)
    await channels.copy_to_cells(ctx, found)  # the new version makes every node look for events at once
    return await show(ctx, name)


async def _check_kept(ctx: Context, since: datetime) -> None:
    """Refuse a replay of days that were dropped in some cell: it would leave out their events in silence."""
    both = partial(days.dropped_until, parents=[days.HISTORY, days.EVENTS])
    for until in await ctx.ask_each(both, whole=True):
        if until is not None and since < until:
            raise NoLongerKept(f"events before {until:%Y-%m-%d} are no longer kept; a replay can begin there")


async def record_missed_day(ctx: Context, name: str, day: date) -> None:
    """Record that a day of events is dropped before it was delivered. Nothing is left to record for a removed one."""
    with suppress(NotFound):
        await channels.touch(ctx, SUBSCRIPTION, name, Event.SUBSCRIPTION_MISSED_DAY, day=day.isoformat())


async def _rewind(cell: CellProtocol, found: Channel, since: datetime, until: datetime) -> None:
    async with cell.tx() as tx:
        marks = await feeds.transactions_between(tx, since, until)
        end = None if marks.until is None else max(marks.until, marks.since + 1)
        await feeds.rewind(tx, found.id, found.tenant_id, marks.since, end, since)


async def _begin(cell: CellProtocol, kept: Channel) -> None:
    """Begin at the current position of a cell.

    In a cell that is down, the first look of a node begins where the subscription was made.
    """
    try:
        async with cell.tx() as tx:
            await feeds.begin(tx, kept.id, kept.tenant_id, BLOCKS, await feeds.horizon(tx))
    except GONE:
        pass


def _detail_of(channel: Channel) -> SubscriptionDetail:
    return SubscriptionDetail(channel, msgspec.convert(channel.body, Subscription))

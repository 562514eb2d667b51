"""Channels: the common part of subscriptions, intakes, alert channels, alert rules and silences.

Their rows are in the tenant's home shard, and every other cell has a copy.
"""

from contextlib import suppress
from typing import NamedTuple

from horae.domain.errors import NotFound, ShardClosed
from horae.domain.events import channels as rules
from horae.domain.events.channels import Channel
from horae.domain.events.events import Event
from horae.domain.ids import shard_in
from horae.domain.limits.counts import CountedKind
from horae.runtime.randomness import new_id
from horae.service.context import Context
from horae.service.limits import counts
from horae.service.tenants.changes import record_event
from horae.store.events import channels
from horae.store.tx import GONE, Tx


class ChannelKind(NamedTuple):
    """A kind of channel, and the events of its changes. Not every kind can be paused."""

    name: str
    counted: CountedKind
    put: Event
    removed: Event
    paused: Event | None = None
    resumed: Event | None = None


async def put(ctx: Context, kind: ChannelKind, name: str, body: object, **facts: object) -> Channel:
    """Create or replace a channel. `facts` go into its event."""
    rules.check_name(name)
    shard, bounds = shard_in(ctx.tenant.id), await counts.bounds_of(ctx)

    async def work(tx: Tx) -> Channel:
        await counts.check_channel(tx, ctx, bounds, kind.counted, name)
        kept = await channels.put(tx, ctx.tenant.id, kind.name, name, new_id(shard, tx.now), body, ctx.actor)
        if kept is None:
            raise ShardClosed("the tenant's shard is moving; nothing was changed")
        await _record(ctx, tx, kind, kind.put, kept, facts)
        return kept

    return await ctx.store.run(shard, work)


async def page(ctx: Context, kind: ChannelKind, after: str | None, limit: int) -> list[Channel]:
    """Returns the tenant's channels of a kind by name."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        return await channels.page(tx, ctx.tenant.id, kind.name, after or "", limit)


async def find(ctx: Context, kind: ChannelKind, name: str) -> Channel:
    """Returns a channel by name; raises where there is none."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        return _require(ctx, kind, name, await channels.find(tx, ctx.tenant.id, kind.name, name))


async def touch(ctx: Context, kind: ChannelKind, name: str, event: Event, **facts: object) -> None:
    """Record an event of a channel whose definition stays the same."""

    async def work(tx: Tx) -> None:
        same = await channels.touch(tx, ctx.tenant.id, kind.name, name, ctx.actor)
        await _record(ctx, tx, kind, event, _require(ctx, kind, name, same), facts)

    await ctx.store.run(shard_in(ctx.tenant.id), work)


async def copy_to_cells(ctx: Context, channel: Channel) -> None:
    """Copy the current row of a channel to every other cell now. A cell that is down gets its copy later."""
    home = ctx.store.cell(shard_in(ctx.tenant.id))
    async with home.statement() as tx:
        rows = [row for row in await channels.changed(tx, channel.changed_at, 1) if row["id"] == channel.id]
    for cell in ctx.store.cells:
        if cell is not home:
            with suppress(*GONE):
                async with cell.statement() as tx:
                    await channels.copy(tx, rows)


async def pause(ctx: Context, kind: ChannelKind, name: str, *, paused: bool) -> Channel:
    """Stop a channel at its position, or let it continue from there."""

    async def work(tx: Tx) -> Channel:
        same = await channels.pause(tx, ctx.tenant.id, kind.name, name, ctx.actor, paused=paused)
        kept = _require(ctx, kind, name, same)
        event = kind.paused if paused else kind.resumed
        assert event is not None, f"a {kind.name} cannot be paused"
        await _record(ctx, tx, kind, event, kept, {})
        return kept

    return await ctx.store.run(shard_in(ctx.tenant.id), work)


async def remove(ctx: Context, kind: ChannelKind, name: str) -> Channel:
    """Remove a channel."""

    async def work(tx: Tx) -> Channel:
        gone = _require(ctx, kind, name, await channels.remove(tx, ctx.tenant.id, kind.name, name, ctx.actor))
        await _record(ctx, tx, kind, kind.removed, gone, {})
        return gone

    return await ctx.store.run(shard_in(ctx.tenant.id), work)


def _require(ctx: Context, kind: ChannelKind, name: str, found: Channel | None) -> Channel:
    if found is None:
        raise NotFound(f"tenant {ctx.tenant.name!r} has no {kind.name} {name!r}")
    return found


async def _record(
    ctx: Context, tx: Tx, kind: ChannelKind, event: Event, channel: Channel, facts: dict[str, object]
) -> None:
    detail: dict[str, object] = {"name": channel.name, "version": channel.version, **facts}
    await record_event(tx, shard_in(ctx.tenant.id), ctx.tenant, event, ctx.actor, f"{kind.name}/{channel.name}", detail)

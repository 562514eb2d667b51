"""Channels: what subscriptions and intakes have in common. They lie under their names in their tenant's home shard."""

from contextlib import suppress
from typing import NamedTuple

from horae.domain import channels as rules
from horae.domain.channels import Channel
from horae.domain.counts import Counted
from horae.domain.errors import NotFound, ShardClosed
from horae.domain.events import Event
from horae.domain.ids import shard_in
from horae.runtime.chance import mint
from horae.service import counts
from horae.service.context import Context
from horae.service.told import tell
from horae.store import channels
from horae.store.tx import GONE, Tx


class Kind(NamedTuple):
    """A kind of channel, and what is told of one that is put, paused, resumed or removed."""

    name: str
    counted: Counted
    put: Event
    paused: Event
    resumed: Event
    removed: Event


async def put(ctx: Context, kind: Kind, name: str, body: object, **facts: object) -> Channel:
    """Keep what a channel says from now on; `facts` are told of it."""
    rules.check_name(name)
    shard, bounds = shard_in(ctx.tenant.id), await counts.bounds_of(ctx)

    async def work(tx: Tx) -> Channel:
        await counts.check_channel(tx, ctx, bounds, kind.counted, name)
        kept = await channels.put(tx, ctx.tenant.id, kind.name, name, mint(shard, tx.now), body, ctx.actor)
        if kept is None:
            raise ShardClosed("the tenant's shard is moving; nothing was changed")
        await _tell(ctx, tx, kind, kind.put, kept, facts)
        return kept

    return await ctx.store.run(shard, work)


async def page(ctx: Context, kind: Kind, after: str | None, limit: int) -> list[Channel]:
    """The tenant's channels of a kind by name."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        return await channels.page(tx, ctx.tenant.id, kind.name, after or "", limit)


async def find(ctx: Context, kind: Kind, name: str) -> Channel:
    """One of them; raises where there is none."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        return _there(ctx, kind, name, await channels.find(tx, ctx.tenant.id, kind.name, name))


async def touch(ctx: Context, kind: Kind, name: str, event: Event, **facts: object) -> None:
    """Tell that someone did something with a channel that left it as it is."""

    async def work(tx: Tx) -> None:
        same = await channels.touch(tx, ctx.tenant.id, kind.name, name, ctx.actor)
        await _tell(ctx, tx, kind, event, _there(ctx, kind, name, same), facts)

    await ctx.store.run(shard_in(ctx.tenant.id), work)


async def carry(ctx: Context, channel: Channel) -> None:
    """Bring a channel, as it is since it was read, to every other cell now; one that is away gets its copy later."""
    home = ctx.store.cell(shard_in(ctx.tenant.id))
    async with home.statement() as tx:
        rows = [row for row in await channels.changed(tx, channel.changed_at, 1) if row["id"] == channel.id]
    for cell in ctx.store.cells:
        if cell is not home:
            with suppress(*GONE):
                async with cell.statement() as tx:
                    await channels.copy(tx, rows)


async def pause(ctx: Context, kind: Kind, name: str, *, paused: bool) -> Channel:
    """Stop a channel where it stands, or let it go on from there."""

    async def work(tx: Tx) -> Channel:
        same = await channels.pause(tx, ctx.tenant.id, kind.name, name, ctx.actor, paused=paused)
        kept = _there(ctx, kind, name, same)
        await _tell(ctx, tx, kind, kind.paused if paused else kind.resumed, kept, {})
        return kept

    return await ctx.store.run(shard_in(ctx.tenant.id), work)


async def remove(ctx: Context, kind: Kind, name: str) -> Channel:
    """Take a channel away."""

    async def work(tx: Tx) -> Channel:
        gone = _there(ctx, kind, name, await channels.remove(tx, ctx.tenant.id, kind.name, name, ctx.actor))
        await _tell(ctx, tx, kind, kind.removed, gone, {})
        return gone

    return await ctx.store.run(shard_in(ctx.tenant.id), work)


def _there(ctx: Context, kind: Kind, name: str, found: Channel | None) -> Channel:
    if found is None:
        raise NotFound(f"tenant {ctx.tenant.name!r} has no {kind.name} {name!r}")
    return found


async def _tell(ctx: Context, tx: Tx, kind: Kind, event: Event, channel: Channel, facts: dict[str, object]) -> None:
    detail: dict[str, object] = {"name": channel.name, "version": channel.version, **facts}
    await tell(tx, shard_in(ctx.tenant.id), ctx.tenant, event, ctx.actor, f"{kind.name}/{channel.name}", detail)

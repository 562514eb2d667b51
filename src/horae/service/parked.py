"""Parked messages: shown, told again when what was wrong is mended, or dropped."""

from uuid import UUID

from horae.domain.errors import NotFound
from horae.domain.events import Event
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.intakes import Parked
from horae.domain.sealed import parked_of
from horae.service import changes_in, intakes
from horae.service.changes_in import Came
from horae.service.context import Context
from horae.service.sealing import open_or_mark
from horae.service.told import tell
from horae.store import parked
from horae.store.tx import Tx

FIRST = UUID(int=0)


async def page(ctx: Context, after: UUID | None, limit: int) -> list[Parked]:
    """The tenant's parked messages, oldest first."""
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        found = await parked.page(tx, ctx.tenant.id, after or FIRST, limit)
    return [await _opened_or_marked(ctx, one) for one in found]


async def replay(ctx: Context, id_: UUID) -> Parked:
    """Do what it says now. Where that is still refused, the refusal is raised and it stays."""
    one = await _opened(ctx, await _find(ctx, id_))
    standing = await intakes.find(ctx, one.intake)
    await changes_in.tell_one(ctx, standing, Came(one.body.encode(), one.place))
    return await _drop(ctx, one, Event.PARKED_REPLAYED)


async def drop(ctx: Context, id_: UUID) -> Parked:
    """It is not wanted any more, whether or not it can be read."""
    return await _drop(ctx, await _opened_or_marked(ctx, await _find(ctx, id_)), Event.PARKED_DROPPED)


async def _find(ctx: Context, id_: UUID) -> Parked:
    async with ctx.store.statement(shard_in(ctx.tenant.id)) as tx:
        found = await parked.find(tx, ctx.tenant.id, id_)
    if found is None:
        raise _gone(id_)
    return found


async def _drop(ctx: Context, one: Parked, event: Event) -> Parked:
    shard, name = shard_in(ctx.tenant.id), public(Prefix.PARKED, one.id)

    async def work(tx: Tx) -> Parked:
        if not await parked.drop(tx, ctx.tenant.id, one.id):
            raise _gone(one.id)
        detail: dict[str, object] = {"intake": one.intake, "place": one.place, "code": one.code}
        await tell(tx, shard, ctx.tenant, event, ctx.actor, f"parked/{name}", detail)
        return one

    return await ctx.store.run(shard, work)


async def _opened(ctx: Context, one: Parked) -> Parked:
    return one._replace(body=await ctx.store.sealing.open(ctx.tenant.id, parked_of(one.id), one.body))


async def _opened_or_marked(ctx: Context, one: Parked) -> Parked:
    return one._replace(body=await open_or_mark(ctx, parked_of(one.id), one.body))


def _gone(id_: UUID) -> NotFound:
    return NotFound(f"no message {public(Prefix.PARKED, id_)} is parked")

"""Sources: put, read, asked for a round, removed. Nodes do the comparing; what is pushed is compared at once."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from itertools import chain
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.comparisons import Repair
from horae.domain.errors import Conflict, NotFound, ShardClosed
from horae.domain.events import Event
from horae.domain.ids import Prefix, public
from horae.domain.jobs import Job
from horae.domain.sources import LAST_ROUND, PushSource, Round, Source, Spec
from horae.runtime.chance import mint
from horae.service import counts
from horae.service.context import Context
from horae.service.told import tell
from horae.store import repairs, sources
from horae.store.tx import Tx

LAST_ID: Final = UUID(int=2**128 - 1)
Write = Callable[[Tx, Source], Awaitable[Source | None]]


class Shown(NamedTuple):
    """A source with its last round, if there was one."""

    source: Source
    last: Round | None


async def put(ctx: Context, type_name: str, spec: Spec) -> Source:
    """Say where the tasks of a type are listed, in the place of what was said before.

    A round begins at once, but for a source that is paused: it stays so.
    """
    job = await _type(ctx, type_name)
    room = await counts.room_for_source(ctx, job)

    async def work(tx: Tx) -> Source:
        if room is not None:
            room.check()
        source = Source(
            shard=job.shard,
            id=mint(job.shard, tx.now),
            tenant_id=ctx.tenant.id,
            job_id=job.id,
            name=job.name,
            spec=spec,
            changed_at=tx.now,
            next_at=None if isinstance(spec.origin, PushSource) else tx.now,
        )
        kept = await sources.put(tx, source, ctx.actor)
        if kept is None:
            raise ShardClosed("the type's shard is moving; nothing was changed")
        await _tell(ctx, tx, Event.SOURCE_PUT, kept, {"spec": spec, "revision": kept.revision})
        return kept

    return await ctx.store.run(job.shard, work)


async def find(ctx: Context, type_name: str) -> Shown:
    """The source of a type, and how its last round went."""
    job = await _type(ctx, type_name)
    async with ctx.store.statement(job.shard) as tx:
        found = await found_in(ctx, tx, job)
        last = await sources.rounds(tx, found, limit=1)
    return Shown(found, last[0] if last else None)


async def page(ctx: Context, after: str, limit: int) -> list[Shown]:
    """The tenant's sources by the name of their type, from all cells."""

    async def look(tx: Tx) -> list[Shown]:
        here = []
        for source in await sources.page(tx, ctx.tenant.id, after, limit):
            last = await sources.rounds(tx, source, limit=1)
            here.append(Shown(source, last[0] if last else None))
        return here

    found = chain.from_iterable(await ctx.ask_each(look))
    return sorted(found, key=lambda one: one.source.name)[:limit]


async def ask(ctx: Context, type_name: str, *, dry: bool) -> Source:
    """A round from the first key on, as soon as a node comes by; one that is under way is stopped."""

    async def write(tx: Tx, found: Source) -> Source | None:
        if isinstance(found.spec.origin, PushSource):
            raise Conflict("what is pushed is not asked for: push a round")
        if not dry:
            check_going(found)
        return await sources.ask(tx, found, dry=dry)

    return await _change(ctx, type_name, Event.SOURCE_ASKED, write, dry=dry)


async def pause(ctx: Context, type_name: str) -> Source:
    """Repair nothing by it: a round under way stands still. What would be done a dry round still shows."""
    return await _change(ctx, type_name, Event.SOURCE_PAUSED, sources.pause)


async def resume(ctx: Context, type_name: str) -> Source:
    """Go on, with a round from the first key on: what lies between is what the business says by now."""

    async def write(tx: Tx, found: Source) -> Source | None:
        return await sources.resume(tx, found, asked=not isinstance(found.spec.origin, PushSource))

    return await _change(ctx, type_name, Event.SOURCE_RESUMED, write)


async def remove(ctx: Context, type_name: str) -> Source:
    """Compare no more. Tasks stay as they are."""
    return await _change(ctx, type_name, Event.SOURCE_REMOVED, sources.remove)


async def rounds(ctx: Context, type_name: str, *, before: int = LAST_ROUND, limit: int = 50) -> list[Round]:
    """A source's rounds, newest first; the last hundred are kept."""
    job = await _type(ctx, type_name)
    async with ctx.store.statement(job.shard) as tx:
        return await sources.rounds(tx, await found_in(ctx, tx, job), before, limit)


async def repaired(
    ctx: Context, type_name: str, *, number: int | None = None, before: UUID = LAST_ID, limit: int = 50
) -> list[Repair]:
    """What a source's rounds found and did, or would do in a dry one; newest first, from all cells."""
    source = (await find(ctx, type_name)).source
    found = await ctx.ask_each(lambda tx: repairs.page(tx, ctx.tenant.id, source.id, before, number, limit))
    return sorted(chain.from_iterable(found), key=lambda one: one.id, reverse=True)[:limit]


async def found_in(ctx: Context, tx: Tx, job: Job) -> Source:
    """The source of a type, inside a transaction of the caller's."""
    found = await sources.find(tx, job.shard, ctx.tenant.id, job.id)
    if found is None:
        raise NotFound(f"the type {job.name!r} has no source")
    return found


def check_going(source: Source) -> None:
    """Refuse to repair by a source that is paused."""
    if source.paused_at is not None:
        raise Conflict(f"the source of {source.name!r} is paused: only dry rounds are compared until it is resumed")


async def _type(ctx: Context, name: str) -> Job:
    job = await ctx.types.find(ctx.tenant, name)
    if not job.keyed:
        raise NotFound(f"tenant {ctx.tenant.name!r} has no type {name!r}: a source lists the tasks of a keyed job")
    return job


async def _change(ctx: Context, type_name: str, event: Event, write: Write, **detail: object) -> Source:
    """Do something to the source of a type, and tell of it."""
    job = await _type(ctx, type_name)

    async def work(tx: Tx) -> Source:
        changed = await write(tx, await found_in(ctx, tx, job))
        if changed is None:
            raise ShardClosed("the type's shard is moving; nothing was changed")
        await _tell(ctx, tx, event, changed, detail)
        return changed

    return await ctx.store.run(job.shard, work)


async def _tell(ctx: Context, tx: Tx, event: Event, source: Source, detail: dict[str, object]) -> None:
    said = {"type": source.name, **detail}
    await tell(tx, source.shard, ctx.tenant, event, ctx.actor, public(Prefix.SOURCE, source.id), said)


def due_at(source: Source) -> datetime | None:
    """When its next round begins; None while one runs, or where nobody asks for it."""
    return None if source.running else source.next_at

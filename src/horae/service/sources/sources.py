"""Sources: put, read, request a round, pause, remove. Nodes run the rounds; a pushed page is compared at once."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from itertools import chain
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.errors import Conflict, NotFound, ShardClosed
from horae.domain.events.events import Event
from horae.domain.ids import Prefix, public
from horae.domain.jobs.jobs import Job
from horae.domain.sources.comparisons import Repair
from horae.domain.sources.sources import LAST_ROUND, PushSource, SourceRound, Spec, TaskSource
from horae.runtime.randomness import new_id
from horae.service.context import Context
from horae.service.identity.bound_keys import find_type
from horae.service.limits import counts
from horae.service.tenants.changes import record_event
from horae.store.sources import repairs, sources
from horae.store.tx import Tx

LAST_ID: Final = UUID(int=2**128 - 1)
"""An id after every finding."""
Write = Callable[[Tx, TaskSource], Awaitable[TaskSource | None]]


class SourceDetail(NamedTuple):
    """A source with its last round, if it had one."""

    source: TaskSource
    last: SourceRound | None


async def put(ctx: Context, type_name: str, spec: Spec) -> TaskSource:
    """Define where the tasks of a type are listed, replacing the previous definition.

    A round begins at once, except for a paused source, which stays paused.
    """
    job = await _type(ctx, type_name)
    room = await counts.room_for_source(ctx, job)

    async def work(tx: Tx) -> TaskSource:
        if room is not None:
            room.check()
        source = TaskSource(
            shard=job.shard,
            id=new_id(job.shard, tx.now),
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
        await _record(ctx, tx, Event.SOURCE_PUT, kept, {"spec": spec, "revision": kept.revision})
        return kept

    return await ctx.store.run(job.shard, work)


async def find(ctx: Context, type_name: str) -> SourceDetail:
    """Returns the source of a type with its last round."""
    job = await _type(ctx, type_name)
    async with ctx.store.statement(job.shard) as tx:
        found = await find_in(ctx, tx, job)
        last = await sources.rounds(tx, found, limit=1)
    return SourceDetail(found, last[0] if last else None)


async def page(ctx: Context, after: str, limit: int) -> list[SourceDetail]:
    """Returns the tenant's sources of all cells, by the name of their type."""

    async def look(tx: Tx) -> list[SourceDetail]:
        here = []
        for source in await sources.page(tx, ctx.tenant.id, after, limit):
            last = await sources.rounds(tx, source, limit=1)
            here.append(SourceDetail(source, last[0] if last else None))
        return here

    found = chain.from_iterable(await ctx.ask_each(look))
    return sorted(found, key=lambda one: one.source.name)[:limit]


async def request_round(ctx: Context, type_name: str, *, dry: bool) -> TaskSource:
    """Request a round from the first key on. A node begins it soon; a running round is stopped."""

    async def write(tx: Tx, found: TaskSource) -> TaskSource | None:
        if isinstance(found.spec.origin, PushSource):
            raise Conflict("what is pushed is not asked for: push a round")
        if not dry:
            check_not_paused(found)
        return await sources.request_round(tx, found, dry=dry)

    return await _change(ctx, type_name, Event.SOURCE_ASKED, write, dry=dry)


async def pause(ctx: Context, type_name: str) -> TaskSource:
    """Stop repairs by this source: a running round stops. Dry rounds are still possible."""
    return await _change(ctx, type_name, Event.SOURCE_PAUSED, sources.pause)


async def resume(ctx: Context, type_name: str) -> TaskSource:
    """Continue with a new round from the first key, because the list may have changed during the pause."""

    async def write(tx: Tx, found: TaskSource) -> TaskSource | None:
        return await sources.resume(tx, found, asked=not isinstance(found.spec.origin, PushSource))

    return await _change(ctx, type_name, Event.SOURCE_RESUMED, write)


async def remove(ctx: Context, type_name: str) -> TaskSource:
    """Remove a source. Tasks stay as they are."""
    return await _change(ctx, type_name, Event.SOURCE_REMOVED, sources.remove)


async def rounds(ctx: Context, type_name: str, *, before: int = LAST_ROUND, limit: int = 50) -> list[SourceRound]:
    """Returns a source's rounds, newest first; the last hundred are kept."""
    job = await _type(ctx, type_name)
    async with ctx.store.statement(job.shard) as tx:
        return await sources.rounds(tx, await find_in(ctx, tx, job), before, limit)


async def list_repairs(
    ctx: Context, type_name: str, *, number: int | None = None, before: UUID = LAST_ID, limit: int = 50
) -> list[Repair]:
    """Returns the findings of a source's rounds, newest first, from all cells. A dry round's were not repaired."""
    source = (await find(ctx, type_name)).source
    found = await ctx.ask_each(lambda tx: repairs.page(tx, ctx.tenant.id, source.id, before, number, limit))
    return sorted(chain.from_iterable(found), key=lambda one: one.id, reverse=True)[:limit]


async def find_in(ctx: Context, tx: Tx, job: Job) -> TaskSource:
    """Returns the source of a type, inside the caller's transaction."""
    found = await sources.find(tx, job.shard, ctx.tenant.id, job.id)
    if found is None:
        raise NotFound(f"the type {job.name!r} has no source")
    return found


def check_not_paused(source: TaskSource) -> None:
    """Refuse repairs by a paused source."""
    if source.paused_at is not None:
        raise Conflict(f"the source of {source.name!r} is paused: only dry rounds are compared until it is resumed")


async def _type(ctx: Context, name: str) -> Job:
    job = await find_type(ctx, name)
    if not job.keyed:
        raise NotFound(f"tenant {ctx.tenant.name!r} has no type {name!r}: a source lists the tasks of a keyed job")
    return job


async def _change(ctx: Context, type_name: str, event: Event, write: Write, **detail: object) -> TaskSource:
    """Apply a write to the source of a type, and record its event and audit row."""
    job = await _type(ctx, type_name)

    async def work(tx: Tx) -> TaskSource:
        changed = await write(tx, await find_in(ctx, tx, job))
        if changed is None:
            raise ShardClosed("the type's shard is moving; nothing was changed")
        await _record(ctx, tx, event, changed, detail)
        return changed

    return await ctx.store.run(job.shard, work)


async def _record(ctx: Context, tx: Tx, event: Event, source: TaskSource, detail: dict[str, object]) -> None:
    said = {"type": source.name, **detail}
    await record_event(tx, source.shard, ctx.tenant, event, ctx.actor, public(Prefix.SOURCE, source.id), said)


def due_at(source: TaskSource) -> datetime | None:
    """Returns when the next round begins; None while one runs, or where none is planned."""
    return None if source.running else source.next_at

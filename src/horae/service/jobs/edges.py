"""Edges of a tenant: check a new one, and tell how far one is. `horae.upkeep.edges` follows them."""

from datetime import datetime
from itertools import chain
from typing import Final

import msgspec

from horae.domain.errors import Forbidden, Invalid, NotFound
from horae.domain.jobs import edges as rules
from horae.domain.jobs.edges import After
from horae.domain.jobs.jobs import Definition, Job
from horae.service.context import Context
from horae.service.identity.bound_keys import check_job
from horae.service.tenants.places import shard_of_job
from horae.store.connections.each_cell import HOME_DOWN
from horae.store.events import feeds
from horae.store.events.feeds import BLOCKS
from horae.store.jobs import edges, jobs

UNKNOWN: Final[tuple[type[Exception], ...]] = (Forbidden, *HOME_DOWN)
"""Errors after which it is not known whether the other job exists."""


class EdgeProgress(msgspec.Struct, frozen=True):
    """How many instances an edge has started, up to when it was followed, and why it starts nothing, if so."""

    started: int
    followed_until: datetime | None
    error: str | None


async def check(ctx: Context, name: str, definition: Definition, before: Definition | None = None) -> None:
    """Refuse a new edge whose other job does not exist, that closes a circle, or that is one too many.

    An edge that the job has already is not checked again: the other job may have been removed since.
    """
    after = definition.after
    if after is None or _is_same(after, before):
        return
    if after.job == name:
        raise Invalid(f"job {name!r} cannot start after itself")
    source = await _source(ctx, after)
    others = await ctx.ask_each(lambda tx: edges.of_tenant(tx, ctx.tenant.id), whole=True)
    known = {one: source for part in others for one, source in part.items()}
    rules.check_edge(name, after, is_keyed=definition.is_keyed, has_keys=source.spread, others=known)


async def source_of(ctx: Context, after: After) -> Job:
    """Returns the job that an edge starts after. Raises if there is none of that name now."""
    shard = await shard_of_job(ctx, after.job)
    async with ctx.store.statement(shard) as tx:
        found = await jobs.find(tx, shard, ctx.tenant.id, after.job, unreadable=True)
    if found is None:
        raise NotFound(f"there is no job {after.job!r} to start after")
    return check_job(ctx, found)


async def progress(ctx: Context, job: Job) -> EdgeProgress | None:
    """Returns how far the edge of a job is; None for a job without one."""
    after = job.definition.after
    if after is None or after.edge_id is None:
        return None
    edge_id = after.edge_id
    places = list(chain.from_iterable(await ctx.ask_each(lambda tx: feeds.positions(tx, edge_id, BLOCKS))))
    error = next((place.error for place in places if place.error), None)
    try:
        await source_of(ctx, after)
    except NotFound as missing:
        error = str(missing)
    except UNKNOWN:
        pass  # it is another team's, or its cell is down: the edge shows what its node has written
    oldest = min((place.moved_at for place in places), default=None)
    return EdgeProgress(sum(place.sent for place in places), oldest, error)


async def forget_former(ctx: Context, before: After | None, after: After | None) -> None:
    """Delete the positions of an edge that a job has no longer. A position that stays does no harm."""
    if before is None or before.edge_id is None or (after is not None and after.edge_id == before.edge_id):
        return
    edge_id = before.edge_id
    await ctx.ask_each(lambda tx: feeds.forget(tx, edge_id, ctx.tenant.id))


async def _source(ctx: Context, after: After) -> Job:
    try:
        found = await source_of(ctx, after)
    except NotFound as error:
        raise Invalid(str(error)) from error
    if found.is_step:
        raise Invalid(f"{after.job!r} is a step of a graph; a job starts after the graph as a whole")
    return found


def _is_same(after: After, before: Definition | None) -> bool:
    return before is not None and before.after is not None and before.after.declared() == after.declared()

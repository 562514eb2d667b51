"""Instances as people look for them: live and ended behind one mark, from every cell that may have some.

A page costs a bounded amount of looking, however much there is to look through: it may hold fewer than asked, or none,
and still say where the next one begins.
"""

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from itertools import chain
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.errors import NotFound
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.jobs import Job
from horae.domain.lifecycle import LIVE
from horae.domain.searches import ANY, LAST_ID, NEWEST, Mark, Sought, born_at, born_from, check_limit
from horae.runtime.clock import boottime
from horae.service.context import Context
from horae.service.sealing import shown_past
from horae.store import history, instances, jobs, references
from horae.store.cells import Cell
from horae.store.each import ask_first
from horae.store.history import Bounds, Past
from horae.store.tx import Tx

__all__ = ["Bounds", "Counts", "Page", "Past", "cells_of", "counts", "find", "of_job", "of_tenant", "shards_of"]
KEPT: Final = timedelta(days=100)
FIRST_WINDOW: Final = timedelta(minutes=5)
SKEW: Final = timedelta(seconds=10)
"""How far the clocks of two cells may differ."""
LONG: Final = 1.0
MOST_COUNTED: Final = 100_000
FIFTY: Final = Bounds(50)
FEW: Final = 300


class Page(NamedTuple):
    """What was found, and where to go on; None: there is no more."""

    found: list[Past]
    next: Mark | None


class Counts(NamedTuple):
    """How many of a job's instances live in which state, and how those of a stretch of time ended."""

    live: dict[str, int]
    ended: dict[str, int]


async def find(ctx: Context, id_: UUID) -> Past:
    """One instance with its attempts."""
    async with ctx.store.statement(shard_in(id_)) as tx:
        found = await history.find(tx, ctx.tenant.id, id_)
        known = {} if found is None else await jobs.names(tx, ctx.tenant.id, {found.job_id})
    if found is None:
        raise NotFound(f"tenant {ctx.tenant.name!r} has no instance {public(Prefix.INSTANCE, id_)}")
    return await shown_past(ctx, _named(found, known))


async def of_job(
    ctx: Context, job: Job, sought: Sought = ANY, *, before: Mark = NEWEST, bounds: Bounds = FIFTY
) -> Page:
    """The instances of a job, newest fire first; a type's come from every cell.

    What is sought may be rare, so each look goes further than the one before, until the page is full or far enough.
    """
    check_limit(bounds.limit)
    scan = bounds.limit if sought.plain else min(max(bounds.limit, FEW), bounds.scan)
    page = await _of_job(ctx, job, sought, before, Bounds(bounds.limit, scan))
    while page.next is not None and len(page.found) < bounds.limit and scan < bounds.scan:
        scan = min(scan * 4, bounds.scan)
        rest = await _of_job(ctx, job, sought, page.next, Bounds(bounds.limit - len(page.found), scan))
        page = Page(page.found + rest.found, rest.next)
    return page._replace(found=[past._replace(job=job.name) for past in page.found])


async def _of_job(ctx: Context, job: Job, sought: Sought, before: Mark, bounds: Bounds) -> Page:
    found: list[Past] = []
    walked: list[Mark] = []
    shards = shards_of(ctx, job)
    leaves = await ctx.ask_each(
        lambda tx: history.of_job(tx, ctx.tenant.id, job.id, shards, sought, before, bounds, spread=job.spread),
        cells_of(ctx, job),
    )
    for leaf in leaves:
        found += leaf.found
        walked += [leaf.walked] if leaf.walked is not None else []
    return _merged(found, max(walked, default=None), bounds.limit)


async def of_tenant(
    ctx: Context, sought: Sought = ANY, *, before: UUID = LAST_ID, limit: int = 50, seconds: float = LONG
) -> Page:
    """The instances of all jobs, newest birth first: back in growing stretches of time until a page is full."""
    check_limit(limit)
    began, span = boottime(), FIRST_WINDOW
    newest = max(cell.clock.now() for cell in ctx.store.cells if cell.clock.was_read)
    before = min(before, born_from(min(sought.until, newest + SKEW)))
    last = born_from(max(sought.since, newest - KEPT))
    shards = await _shards_of_all(ctx)
    found: list[Past] = []
    while before > last and len(found) < limit and boottime() - began < seconds:
        floor = max(last, born_from(born_at(before) - span))
        look = partial(_of_tenant, ctx, shards, sought, before, floor, limit - len(found))
        here = chain.from_iterable(await ctx.ask_each(look))
        found += sorted(here, key=lambda past: past.id, reverse=True)[: limit - len(found)]
        before, span = floor, span * 2
    if len(found) == limit:
        return Page(found, found[-1].mark)
    return Page(found, Mark(born_at(before), before) if before > last else None)


async def _of_tenant(
    ctx: Context, shards: list[int], sought: Sought, before: UUID, floor: UUID, limit: int, tx: Tx
) -> list[Past]:
    """Those of one cell, of a stretch of time."""
    few = await history.of_tenant(tx, ctx.tenant.id, shards, sought, before, floor, limit)
    known = await jobs.names(tx, ctx.tenant.id, {past.job_id for past in few}) if few else {}
    return [_named(past, known) for past in few]


async def counts(ctx: Context, job: Job, sought: Sought = ANY) -> Counts:
    """How many of a job's instances live in which state, and how its fires of a stretch of time ended."""
    live: dict[str, int] = dict.fromkeys(sorted(LIVE), 0)
    ended: dict[str, int] = {}

    async def count(tx: Tx) -> tuple[dict[str, int], dict[str, int]]:
        return (
            await instances.counts(
                tx, ctx.tenant.id, job.id, shards_of(ctx, job), most=MOST_COUNTED, spread=job.spread
            ),
            await history.outcomes(tx, ctx.tenant.id, job.id, sought.since, sought.until, lane=None, most=MOST_COUNTED),
        )

    for lives, ends in await ctx.ask_each(count, cells_of(ctx, job)):
        for state, many in lives.items():
            live[state] += many
        for state, many in ends.items():
            ended[state] = ended.get(state, 0) + many
    return Counts(live, ended)


def cells_of(ctx: Context, job: Job) -> list[Cell]:
    """Where a job's instances may be."""
    return ctx.store.cells if job.spread else [ctx.store.cell(job.shard)]


def shards_of(ctx: Context, job: Job) -> list[int]:
    """In which shards its live ones lie."""
    return ctx.tenant.shards(job.definition.width) if job.spread else [job.shard]


async def _shards_of_all(ctx: Context) -> list[int]:
    """As the copy of the first cell that answers says."""
    cells = ctx.store.home_first(shard_in(ctx.tenant.id))
    return ctx.tenant.shards_of_rows(await ask_first(cells, lambda tx: references.widest(tx, ctx.tenant.id)) or 0)


def _named(past: Past, known: Mapping[UUID, str]) -> Past:
    return past._replace(job=known[past.job_id]) if past.job_id in known else past


def _merged(found: list[Past], walked: Mark | None, limit: int) -> Page:
    """One page of what several cells told; nothing behind the point up to which all of them have looked."""
    told = sorted(found, key=lambda past: past.mark, reverse=True)
    if walked is not None:
        told = [past for past in told if past.mark >= walked]
    if len(told) >= limit:
        return Page(told[:limit], told[limit - 1].mark)
    return Page(told, walked)

"""Search of instances: live and ended ones in one order, from every cell that may have some.

A page reads a bounded number of rows. It may hold fewer instances than asked, or none, and still have a next page.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import chain
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.errors import NoLongerKept, NotFound
from horae.domain.ids import Prefix, creation_time, public, shard_in
from horae.domain.instances.lifecycle import LIVE
from horae.domain.instances.searches import (
    ANY,
    LAST,
    LAST_ID,
    NEWEST,
    InstanceFilter,
    InstanceMark,
    check_limit,
    smallest_id_at,
)
from horae.domain.jobs.jobs import Job
from horae.runtime.clock import boottime
from horae.service.context import Context
from horae.service.encryption.encryption import decrypt_record
from horae.service.jobs import jobs
from horae.store.connections.each_cell import ask_first
from horae.store.databases import days
from horae.store.instances import history, instances
from horae.store.instances.history import Bounds, InstanceRecord, Leaf
from horae.store.jobs import jobs as rows
from horae.store.protocol import CellProtocol
from horae.store.tenants import references
from horae.store.tx import GONE, Tx

__all__ = [
    "Bounds",
    "InstanceCounts",
    "InstancePage",
    "InstanceRecord",
    "by_fire_time",
    "cells_of",
    "counts",
    "find",
    "of_job",
    "of_job_ref",
    "of_tenant",
    "shards_of",
    "why_not_found",
]
SEARCH_REACH: Final = timedelta(days=100)
"""How far back a search over all jobs of a tenant goes."""
FIRST_SEARCH_SPAN: Final = timedelta(minutes=5)
"""The first span of time that a search over all jobs reads; each further span is twice as long."""
CELL_CLOCK_SKEW: Final = timedelta(seconds=10)
"""How far the clocks of two cells may differ."""
MAX_SEARCH_S: Final = 1.0
"""Seconds after which a search over all jobs reads no further span."""
MOST_COUNTED: Final = 100_000
"""Rows of one cell that a count reads at most."""
FIFTY: Final = Bounds(50)
FEW: Final = 300
"""Rows that the first read of a filtered search goes over, or the page size where that is larger."""


Ask = Callable[[Callable[[Tx], Awaitable[Leaf]]], Awaitable[list[Leaf]]]
"""Asks the cells of a job, each in a transaction."""


class InstancePage(NamedTuple):
    """The instances found, and the mark of the next page; None where there is none."""

    found: list[InstanceRecord]
    next: InstanceMark | None


class InstanceCounts(NamedTuple):
    """How many live instances of a job are in each state, and how many ended in each state within a span of time."""

    live: dict[str, int]
    ended: dict[str, int]


async def find(ctx: Context, id_: UUID) -> InstanceRecord:
    """Returns one instance with its attempts."""
    before_move = await _ended_before_move(ctx, id_)
    async with ctx.store.statement(shard_in(id_)) as tx:
        found = await history.find(tx, ctx.tenant.id, id_) or before_move
        if found is None:
            raise await why_not_found(ctx, tx, id_)
        known = await rows.names(tx, ctx.tenant.id, {found.job_id})
    return await decrypt_record(ctx, _with_job_name(found, known))


async def _ended_before_move(ctx: Context, id_: UUID) -> InstanceRecord | None:
    """Returns an instance that ended in another cell, before its shard moved; None if there is none."""
    for cell in ctx.store.former_cells(shard_in(id_)):
        try:
            async with cell.statement() as tx:
                found = await history.find(tx, ctx.tenant.id, id_)
        except GONE:
            ctx.cells_down.add(cell.name)
            continue
        if found is not None and found.state not in LIVE:
            return found
    return None


async def why_not_found(ctx: Context, tx: Tx, id_: UUID) -> NotFound:
    """Returns why there is no such instance: an id says when it was created, and older days may be dropped."""
    name, dropped_until = public(Prefix.INSTANCE, id_), await days.dropped_until(tx, [days.HISTORY])
    if dropped_until is not None and creation_time(id_) < dropped_until:
        return NoLongerKept(
            f"{name} ended before {dropped_until:%Y-%m-%d}, or never existed: older days are no longer kept"
        )
    return NotFound(f"tenant {ctx.tenant.name!r} has no instance {name}")


async def of_job(
    ctx: Context, job: Job, sought: InstanceFilter = ANY, *, before: InstanceMark = NEWEST, bounds: Bounds = FIFTY
) -> InstancePage:
    """Returns the instances of a job, newest fire first; of a type from every cell."""
    ask = partial(ctx.ask_each, cells=cells_of(ctx, job))
    return await _of_job(ctx, job, sought, before, bounds, ask)


async def of_job_ref(
    ctx: Context, ref: str, sought: InstanceFilter = ANY, *, before: InstanceMark = NEWEST, bounds: Bounds = FIFTY
) -> InstancePage:
    """Like `of_job`, by the job's public id or name. If all its rows are in one cell, it costs one transaction."""
    async with jobs.read_by_ref(ctx, ref, removed=True) as (tx, job):
        if not job.spread and not ctx.store.former_cells(job.shard):

            async def ask(look: Callable[[Tx], Awaitable[Leaf]]) -> list[Leaf]:
                return [await look(tx)]

            return await _of_job(ctx, job, sought, before, bounds, ask)
    return await of_job(ctx, job, sought, before=before, bounds=bounds)


async def _of_job(
    ctx: Context, job: Job, sought: InstanceFilter, before: InstanceMark, bounds: Bounds, ask: Ask
) -> InstancePage:
    """Returns a page of a job's instances; `ask` asks the cells that have some."""
    shards = shards_of(ctx, job)

    async def page_before(mark: InstanceMark, here: Bounds) -> InstancePage:
        leaves = await ask(
            lambda tx: history.of_job(tx, ctx.tenant.id, job.id, shards, sought, mark, here, spread=job.spread)
        )
        return _merge_pages(leaves, here.limit)

    page = await _fill_page(page_before, sought, before, bounds)
    await _check_kept(ctx, sought, page)
    return page._replace(found=[past._replace(job=job.name) for past in page.found])


async def by_fire_time(
    ctx: Context, sought: InstanceFilter = ANY, *, before: InstanceMark = NEWEST, bounds: Bounds = FIFTY
) -> InstancePage:
    """Returns the instances of all jobs, newest fire first: tasks of the future come before what has fired."""
    shards = await shards_of_tenant(ctx)

    async def page_before(mark: InstanceMark, here: Bounds) -> InstancePage:
        leaves = await ctx.ask_each(partial(_by_fire_time, ctx, shards, sought, mark, here))
        return _merge_pages(leaves, here.limit)

    page = await _fill_page(page_before, sought, before, bounds)
    await _check_kept(ctx, sought, page)
    return page


async def _by_fire_time(
    ctx: Context, shards: list[int], sought: InstanceFilter, before: InstanceMark, bounds: Bounds, tx: Tx
) -> Leaf:
    """Returns what one cell adds to a page."""
    leaf = await history.by_fire_time(tx, ctx.tenant.id, shards, sought, before, bounds)
    return leaf._replace(found=await _with_job_names(ctx, tx, leaf.found))


async def _fill_page(
    page_before: Callable[[InstanceMark, Bounds], Awaitable[InstancePage]],
    sought: InstanceFilter,
    before: InstanceMark,
    bounds: Bounds,
) -> InstancePage:
    """Matches may be rare, so each read goes over more rows than the one before.

    It ends when the page is full or `bounds.scan` is reached.
    """
    check_limit(bounds.limit)
    scan = bounds.limit if sought.plain else min(max(bounds.limit, FEW), bounds.scan)
    page = await page_before(before, Bounds(bounds.limit, scan))
    while page.next is not None and len(page.found) < bounds.limit and scan < bounds.scan:
        scan = min(scan * 4, bounds.scan)
        rest = await page_before(page.next, Bounds(bounds.limit - len(page.found), scan))
        page = InstancePage(page.found + rest.found, rest.next)
    return page


async def of_tenant(
    ctx: Context,
    sought: InstanceFilter = ANY,
    *,
    before: UUID = LAST_ID,
    limit: int = 50,
    seconds: float = MAX_SEARCH_S,
) -> InstancePage:
    """Returns the instances of all jobs, newest first by creation.

    1. Begin at `before`, at the end of the filter, or now, whichever is earliest.
    2. Read spans of time backwards, each twice as long as the one before.
    3. Stop when the page is full, after `seconds`, or at the start of the filter (`SEARCH_REACH` ago at the latest).
    """
    check_limit(limit)
    began, span = boottime(), FIRST_SEARCH_SPAN
    newest = max(cell.clock.now() for cell in ctx.store.cells if cell.clock.was_read)
    before = min(before, smallest_id_at(min(sought.until, newest + CELL_CLOCK_SKEW)))
    last = smallest_id_at(max(sought.since, newest - SEARCH_REACH))
    shards = await shards_of_tenant(ctx)
    found: list[InstanceRecord] = []
    while before > last and len(found) < limit and boottime() - began < seconds:
        floor = max(last, smallest_id_at(creation_time(before) - span))
        look = partial(_of_tenant, ctx, shards, sought, before, floor, limit - len(found))
        here = chain.from_iterable(await ctx.ask_each(look))
        found += sorted(here, key=lambda past: past.id, reverse=True)[: limit - len(found)]
        before, span = floor, span * 2
    if len(found) == limit:
        return InstancePage(found, found[-1].mark)
    page = InstancePage(found, InstanceMark(creation_time(before), before) if before > last else None)
    await _check_kept(ctx, sought, page)
    return page


async def _check_kept(ctx: Context, sought: InstanceFilter, page: InstancePage) -> None:
    """Refuse a search that found nothing in days that were dropped: an empty list would say that nothing happened."""
    if page.found or page.next is not None or sought.until == LAST or ctx.memory.archive is not None:
        return  # with an archive, `tiers` says what is kept
    for until in await ctx.ask_each(partial(days.dropped_until, parents=[days.HISTORY])):
        if until is not None and sought.until <= until:
            raise NoLongerKept(f"history before {until:%Y-%m-%d} is no longer kept")


async def _of_tenant(
    ctx: Context, shards: list[int], sought: InstanceFilter, before: UUID, floor: UUID, limit: int, tx: Tx
) -> list[InstanceRecord]:
    """Returns the instances of one cell within a span of time."""
    few = await history.of_tenant(tx, ctx.tenant.id, shards, sought, before, floor, limit)
    return await _with_job_names(ctx, tx, few)


async def _with_job_names(ctx: Context, tx: Tx, found: list[InstanceRecord]) -> list[InstanceRecord]:
    known = await rows.names(tx, ctx.tenant.id, {past.job_id for past in found}) if found else {}
    return [_with_job_name(past, known) for past in found]


async def counts(ctx: Context, job: Job, sought: InstanceFilter = ANY) -> InstanceCounts:
    """Counts the live instances of a job by state, and its ended ones within a span of time by state."""
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
    return InstanceCounts(live, ended)


def cells_of(ctx: Context, job: Job) -> Sequence[CellProtocol]:
    """Returns the cells that may hold instances of a job; of a shard that has moved, also those with its history."""
    return ctx.store.cells if job.spread else [ctx.store.cell(job.shard), *ctx.store.former_cells(job.shard)]


def shards_of(ctx: Context, job: Job) -> list[int]:
    """Returns the shards that may hold live instances of a job."""
    return ctx.tenant.shards(job.definition.width) if job.spread else [job.shard]


async def shards_of_tenant(ctx: Context) -> list[int]:
    """Returns the shards of the tenant's rows. The widest type is read from the first cell that answers."""
    cells = ctx.store.home_first(shard_in(ctx.tenant.id))
    return ctx.tenant.shards_of_rows(await ask_first(cells, lambda tx: references.widest(tx, ctx.tenant.id)) or 0)


def _with_job_name(past: InstanceRecord, known: Mapping[UUID, str]) -> InstanceRecord:
    return past._replace(job=known[past.job_id]) if past.job_id in known else past


def _merge_pages(leaves: Sequence[Leaf], limit: int) -> InstancePage:
    """Merges the answers of several cells into one page, up to the mark that all cells have read."""
    answers = sorted(chain.from_iterable(leaf.found for leaf in leaves), key=lambda past: past.mark, reverse=True)
    walked = max((leaf.walked for leaf in leaves if leaf.walked is not None), default=None)
    if walked is not None:
        answers = [past for past in answers if past.mark >= walked]
    if len(answers) >= limit:
        return InstancePage(answers[:limit], answers[limit - 1].mark)
    return InstancePage(answers, walked)

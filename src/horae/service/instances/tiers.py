"""One list over live, hot and cold instances: those in PostgreSQL first, then those that are in the archive only.

Each tier is sorted, newest first. A cold instance may be newer than the last hot one, if that waited or ran for long.
A day that moves into the archive between two pages may be listed twice, and is never left out: PostgreSQL is read
before the register of cold days.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from horae.archive.row_queries import RowOrder
from horae.domain.errors import ArchiveUnavailable, NoLongerKept, NotFound, RateLimited, Unavailable
from horae.domain.ids import Prefix, creation_time, public
from horae.domain.instances.lifecycle import LIVE
from horae.domain.instances.searches import (
    ANY,
    LAST,
    NEWEST,
    InstanceFilter,
    InstanceMark,
    InstanceOrder,
)
from horae.service.context import Context
from horae.service.identity.bound_keys import check_not_bound
from horae.service.instances import cold, searches
from horae.service.instances.cold import ColdPage, ReadCost
from horae.service.instances.request_lines import with_request_line
from horae.service.instances.searches import FIFTY, Bounds, InstancePage, InstanceRecord
from horae.service.jobs import jobs
from horae.store.databases import days

__all__ = ["START", "FoundInstance", "PagePosition", "ReadCost", "TieredPage", "find", "of_job_ref", "of_tenant"]
CROSSING_S: Final = 0.7
"""Seconds that the archive has to fill a page that has hot instances. Without them a page waits longer."""


class PagePosition(NamedTuple):
    """Where a page begins: a mark in one of the two tiers."""

    mark: InstanceMark
    is_cold: bool = False


START: Final = PagePosition(NEWEST)
COLD_START: Final = PagePosition(NEWEST, is_cold=True)


class TieredPage(NamedTuple):
    """The instances found, where the next page begins, and what was read from the archive; None where nothing was."""

    found: list[InstanceRecord]
    next: PagePosition | None
    archive: ReadCost | None = None


class FoundInstance(NamedTuple):
    """One instance, and what was read from the archive for it; None where it is live or hot."""

    found: InstanceRecord
    archive: ReadCost | None = None


async def of_job_ref(
    ctx: Context, ref: str, sought: InstanceFilter = ANY, *, at: PagePosition = START, bounds: Bounds = FIFTY
) -> TieredPage:
    """Returns the instances of a job, by its public id or name, newest fire first in each tier."""
    hot = None if at.is_cold else await searches.of_job_ref(ctx, ref, sought, before=at.mark, bounds=bounds)
    if hot is not None and not _reaches_archive(ctx, sought, hot, bounds.limit):
        return _hot_page(hot)
    job = await jobs.find_by_ref(ctx, ref, removed=True)
    return await _add_cold(ctx, hot, partial(cold.page, ctx, job, RowOrder.FIRE_TIME), sought, at, bounds.limit)


async def of_tenant(
    ctx: Context,
    sought: InstanceFilter = ANY,
    *,
    at: PagePosition = START,
    limit: int = 50,
    order: InstanceOrder = InstanceOrder.CREATED,
) -> TieredPage:
    """Returns the instances of all jobs, newest first in each tier, by creation or by fire time."""
    check_not_bound(ctx, "list the instances of all jobs: ask for those of one job")
    hot = None if at.is_cold else await _hot_of_tenant(ctx, sought, at.mark, limit, order)
    if hot is not None and not _reaches_archive(ctx, sought, hot, limit):
        return _hot_page(hot)
    rows = RowOrder.FIRE_TIME if order == InstanceOrder.FIRE_TIME else RowOrder.CREATED
    return await _add_cold(ctx, hot, partial(cold.page, ctx, None, rows), sought, at, limit)


async def _hot_of_tenant(
    ctx: Context, sought: InstanceFilter, before: InstanceMark, limit: int, order: InstanceOrder
) -> InstancePage:
    if order == InstanceOrder.FIRE_TIME:
        return await searches.by_fire_time(ctx, sought, before=before, bounds=Bounds(limit))
    return await searches.of_tenant(ctx, sought, before=before.id, limit=limit)


async def find(ctx: Context, id_: UUID) -> FoundInstance:
    """Returns one instance with its attempts, wherever it is."""
    found = await _find(ctx, id_)
    if ctx.job_labels:
        await jobs.find_by_ref(ctx, public(Prefix.JOB, found.found.job_id), removed=True, unreadable=True)
    return found


async def check_bound(ctx: Context, id_: UUID) -> None:
    """Refuse an instance to a caller that is bound to other jobs. For a caller that is not bound it reads nothing."""
    if ctx.job_labels:
        await find(ctx, id_)


async def _find(ctx: Context, id_: UUID) -> FoundInstance:
    try:
        return FoundInstance(await with_request_line(ctx, await searches.find(ctx, id_)))
    except NotFound as error:
        archived = await cold.find(ctx, id_)
        if archived is not None:
            return FoundInstance(await with_request_line(ctx, archived.found), archived.cost)
        if ctx.memory.archive is not None and ctx.cells_down:
            raise Unavailable(f"{', '.join(sorted(ctx.cells_down))} cannot be reached; ask again") from error
        first = await cold.first_day(ctx)
        if isinstance(error, NoLongerKept) and first is not None and creation_time(id_) >= first:
            raise NotFound(f"tenant {ctx.tenant.name!r} has no instance {public(Prefix.INSTANCE, id_)}") from error
        raise


def _reaches_archive(ctx: Context, sought: InstanceFilter, hot: InstancePage, limit: int) -> bool:
    """Whether the hot tier has ended, and the archive may have more."""
    only_live = bool(sought.states) and LIVE.issuperset(sought.states)
    return hot.next is None and len(hot.found) < limit and ctx.memory.archive is not None and not only_live


def _hot_page(hot: InstancePage) -> TieredPage:
    return TieredPage(hot.found, None if hot.next is None else PagePosition(hot.next))


async def _add_cold(
    ctx: Context,
    hot: InstancePage | None,
    read: Callable[[InstanceFilter, InstanceMark, int, float | None], Awaitable[ColdPage | None]],
    sought: InstanceFilter,
    at: PagePosition,
    limit: int,
) -> TieredPage:
    """Fill a page from the archive. Hot instances never wait for an archive that fails: its page is then the next."""
    found = [] if hot is None else hot.found
    before = at.mark if hot is None else NEWEST
    try:
        page = await read(sought, before, limit - len(found), CROSSING_S if found else None)
    except (ArchiveUnavailable, RateLimited):
        if not found:
            raise
        return TieredPage(found, COLD_START)
    if page is None:
        return await _checked(ctx, sought, TieredPage(found, None))
    known = {past.id for past in found}
    listed = found + [past for past in page.found if past.id not in known]
    following = None if page.next is None else PagePosition(page.next, is_cold=True)
    return await _checked(ctx, sought, TieredPage(listed, following, page.cost))


async def _checked(ctx: Context, sought: InstanceFilter, page: TieredPage) -> TieredPage:
    """Refuse a search that found nothing in days of which nothing is kept: an empty list would say nothing happened."""
    if page.found or page.next is not None or sought.until == LAST:
        return page
    dropped = await ctx.ask_each(partial(days.dropped_until, parents=[days.HISTORY]))
    first = await cold.first_day(ctx)
    for until in dropped:
        gone_until = until if until is None or first is None else min(until, first)
        if gone_until is not None and sought.until <= gone_until:
            raise NoLongerKept(f"history before {gone_until:%Y-%m-%d} is no longer kept")
    return page

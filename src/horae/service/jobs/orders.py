"""Lists of jobs in other orders than by name."""

from itertools import chain
from typing import Final
from uuid import UUID

from horae.domain.jobs.jobs import Job, JobFilter
from horae.domain.jobs.orders import JobMark, JobOrder, sort_jobs
from horae.service.context import Context
from horae.service.identity import bound_keys
from horae.store.jobs import orders
from horae.store.tx import Tx

FEW_JOBS: Final = 2000
"""Jobs of a tenant in a cell that are read and sorted for a page by the next fire, in some ten milliseconds."""


async def page(ctx: Context, wanted: JobFilter, order: JobOrder, after: JobMark, limit: int) -> list[Job]:
    """Returns the wanted jobs of all cells that answer in an order, after a mark.

    A job that only a newer release can read has placeholders.
    """
    wanted = bound_keys.narrow(ctx, wanted)
    read = orders.page_by_change if order is JobOrder.CHANGED_AT else _page_by_next_fire
    found = await ctx.ask_each(lambda tx: read(tx, ctx.tenant.id, wanted, after, limit))
    return sort_jobs(chain.from_iterable(found), order)[:limit]


async def _page_by_next_fire(tx: Tx, tenant_id: UUID, wanted: JobFilter, after: JobMark, limit: int) -> list[Job]:
    """Returns the jobs of a cell by their next fire; behind them, by name, those without one."""
    found: list[Job] = []
    if not after.is_past_fires:
        has_few = await orders.count_up_to(tx, tenant_id, FEW_JOBS + 1) <= FEW_JOBS
        read = orders.page_by_next_fire if has_few else orders.page_of_many_by_next_fire
        found = await read(tx, tenant_id, wanted, after, limit)
    if len(found) < limit:
        name = after.name if after.is_past_fires else ""
        found += await orders.page_without_fire(tx, tenant_id, wanted, name, limit - len(found))
    return found

"""Pages of jobs in other orders than by name, for display: a job that this release cannot read has placeholders."""

from uuid import UUID

from horae.domain.jobs.jobs import Job, JobFilter
from horae.domain.jobs.orders import JobMark
from horae.store.jobs.jobs import filter_args, job_from
from horae.store.statements import sql
from horae.store.tx import Tx


async def page_by_change(tx: Tx, tenant_id: UUID, wanted: JobFilter, after: JobMark, limit: int) -> list[Job]:
    """The jobs by their last change, the newest first, after a mark."""
    rows = await tx.rows(sql("jobs/orders/page_by_change"), *_args(tenant_id, wanted, limit), *after)
    return [job_from(row, unreadable=True) for row in rows]


async def page_by_next_fire(tx: Tx, tenant_id: UUID, wanted: JobFilter, after: JobMark, limit: int) -> list[Job]:
    """The jobs with a next fire, the soonest first, after a mark: reads all jobs of the tenant."""
    rows = await tx.rows(sql("jobs/orders/page_by_next_fire"), *_args(tenant_id, wanted, limit), *after)
    return [job_from(row, unreadable=True) for row in rows]


async def page_of_many_by_next_fire(
    tx: Tx, tenant_id: UUID, wanted: JobFilter, after: JobMark, limit: int
) -> list[Job]:
    """Like `page_by_next_fire`, for a tenant with many of this cell's jobs."""
    rows = await tx.rows(sql("jobs/orders/page_of_many_by_next_fire"), *_args(tenant_id, wanted, limit), *after)
    return [job_from(row, unreadable=True) for row in rows]


async def page_without_fire(tx: Tx, tenant_id: UUID, wanted: JobFilter, after: str, limit: int) -> list[Job]:
    """The jobs without a next fire by name, after a name."""
    rows = await tx.rows(sql("jobs/orders/page_without_fire"), *_args(tenant_id, wanted, limit, after))
    return [job_from(row, unreadable=True) for row in rows]


async def count_up_to(tx: Tx, tenant_id: UUID, limit: int) -> int:
    """How many jobs the tenant has in this cell, counted up to a limit."""
    return int(await tx.value(sql("jobs/orders/count_up_to"), tenant_id, limit))


def _args(tenant_id: UUID, wanted: JobFilter, limit: int, after: str = "") -> tuple[object, ...]:
    return (*filter_args(tenant_id, wanted, after, limit), wanted.owner, wanted.calendar)

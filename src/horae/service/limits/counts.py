"""Limits on how many jobs, secrets, keys and the like a tenant may have.

The count is read before the transaction and checked inside it, after the Idempotency-Key. So a repeated request gets
its first answer even when the limit is reached by then.

The count of jobs is remembered for `COUNT_REMEMBERED_S`, and increased with each job that this process creates. It is
read again before a job is refused. Several processes together may exceed the limit by what they create within that
time.
"""

from functools import partial
from typing import Final, NamedTuple

from horae.domain.ids import shard_in
from horae.domain.jobs.jobs import Job
from horae.domain.limits.counts import CountBounds, CountedKind
from horae.domain.schedules.calendars import Calendar
from horae.domain.schedules.triggers import Trigger
from horae.domain.tenants.tenants import NO_ALLOWANCE, Allowance
from horae.runtime.clock import boottime
from horae.service.context import Context
from horae.service.memory import JobCount
from horae.store.connections.each_cell import ask_by_statement, ask_each, ask_first
from horae.store.limits import counts
from horae.store.limits.counts import Count
from horae.store.tenants import tenants
from horae.store.tx import GONE, Tx

COUNT_REMEMBERED_S: Final = 60.0
LIMITS_REMEMBERED_S: Final = 2.0


class CountRoom(NamedTuple):
    """How many of a kind there are, and how many there may be."""

    bounds: CountBounds
    kind: CountedKind
    there_are: int

    def check(self, more: int = 1) -> None:
        """Refuse that many more where there is no room for them."""
        self.bounds.check(self.kind, self.there_are + more - 1)


async def bounds_of(ctx: Context) -> CountBounds:
    """Returns the tenant's limits, `LIMITS_REMEMBERED_S` old at most."""
    return (await allowance_of(ctx)).counts


async def allowance_of(ctx: Context) -> Allowance:
    """Returns what the tenant may use, from its home or the first copy, `LIMITS_REMEMBERED_S` old at most."""
    known = ctx.memory.allowances.get(ctx.tenant.id)
    if known is None or known[0] < boottime():
        known = (boottime() + LIMITS_REMEMBERED_S, await _allowance(ctx))
        ctx.memory.allowances[ctx.tenant.id] = known
    return known[1]


async def room_for_job(ctx: Context) -> CountRoom:
    """Returns how many jobs there are and how many there may be."""
    bounds, memory, tenant_id = await bounds_of(ctx), ctx.memory, ctx.tenant.id
    known = memory.job_counts.get(tenant_id)
    if known is None or known.until < boottime() or known.counted + known.made >= bounds.jobs:
        known = memory.job_counts[tenant_id] = JobCount(await _jobs(ctx), boottime() + COUNT_REMEMBERED_S)
    return CountRoom(bounds, CountedKind.JOBS, known.counted + known.made)


def count_jobs(ctx: Context, many: int = 1) -> None:
    """Count jobs that this process created."""
    known = ctx.memory.job_counts.get(ctx.tenant.id)
    if known is not None:
        ctx.memory.job_counts[ctx.tenant.id] = known._replace(made=known.made + many)


def check_change(bounds: CountBounds, job: Job, trigger: Trigger) -> None:
    """Refuse a job's new trigger where its fires are too close to each other. An unchanged trigger is never refused."""
    if trigger != job.definition.trigger:
        bounds.check_period(trigger)


async def room_for_source(ctx: Context, job: Job) -> CountRoom | None:
    """Returns how many sources there are and may be; None where the type already has one."""
    bounds, many = await bounds_of(ctx), 0
    for cell in ctx.store.cells:
        try:
            async with cell.statement() as tx:
                found = await counts.sources(tx, ctx.tenant.id, job.id)
        except GONE:
            continue
        if found.has_it:
            return None
        many += found.many
    return CountRoom(bounds, CountedKind.SOURCES, many)


async def check_channel(tx: Tx, ctx: Context, bounds: CountBounds, kind: CountedKind, name: str) -> None:
    """Refuse a new subscription or intake where the tenant has as many as it may."""
    _check(bounds, kind, await counts.channels(tx, ctx.tenant.id, kind.removesuffix("s"), name))


async def check_secret(tx: Tx, ctx: Context, bounds: CountBounds, name: str) -> None:
    """Refuse a new secret where the tenant has as many as it may."""
    _check(bounds, CountedKind.SECRETS, await counts.secrets(tx, ctx.tenant.id, name))


async def check_key(tx: Tx, ctx: Context, bounds: CountBounds) -> None:
    """Refuse a new API key where the tenant has as many as it may."""
    _check(bounds, CountedKind.KEYS, await counts.keys(tx, ctx.tenant.id))


async def check_binding(tx: Tx, ctx: Context, bounds: CountBounds, principal: str) -> None:
    """Refuse roles for a further person or group where the limit of bindings is reached."""
    _check(bounds, CountedKind.BINDINGS, await counts.bindings(tx, ctx.tenant.id, principal))


def _check(bounds: CountBounds, kind: CountedKind, found: Count) -> None:
    if not found.has_it:
        bounds.check(kind, found.many)
        bounds.check_removed(kind, found.removed)


async def check_calendar(ctx: Context, calendar: Calendar) -> None:
    """Refuse a new calendar, or more days of one, where the limit is reached in the cells that answer."""
    bounds, look = await bounds_of(ctx), partial(counts.calendars, tenant_id=ctx.tenant.id, name=calendar.name)
    found = (await ask_each(ctx.store.cells, partial(ask_by_statement, look))).found.values()
    if not any(one.has_it for one in found):
        bounds.check(CountedKind.CALENDARS, sum(one.many for one in found))
    if calendar.days > sum(one.its_days for one in found):
        bounds.check(CountedKind.CALENDAR_DAYS, sum(one.other_days for one in found), calendar.days)


async def _allowance(ctx: Context) -> Allowance:
    look = partial(tenants.allowances, ids=[ctx.tenant.id])
    try:
        found = await ask_first(ctx.store.home_first(shard_in(ctx.tenant.id)), look)
    except GONE:
        found = None
    return found[ctx.tenant.id] if found and ctx.tenant.id in found else NO_ALLOWANCE


async def _jobs(ctx: Context) -> int:
    """Returns the number of the tenant's jobs in the cells that answer."""
    look = partial(counts.jobs, tenant_id=ctx.tenant.id)
    answers = await ask_each(ctx.store.cells, partial(ask_by_statement, look))
    return sum(answers.found.values())

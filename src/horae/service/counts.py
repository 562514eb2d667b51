"""Whether a tenant may have one more of something: read before it is made, refused where it is made.

So whoever repeats a request under its Idempotency-Key gets the first answer, also where no more may be made by then. A
count of jobs is remembered for a while and counted on, and counted anew before anyone is refused: processes beside each
other may pass the bound by what they make within that while.
"""

from functools import partial
from typing import Final, NamedTuple

from horae.domain.calendars import Calendar
from horae.domain.counts import CountBounds, Counted
from horae.domain.ids import shard_in
from horae.domain.jobs import Job
from horae.domain.triggers import Trigger
from horae.runtime.clock import boottime
from horae.service.context import Context
from horae.service.memory import JobCount
from horae.store import counts, tenants
from horae.store.counts import Count
from horae.store.each import ask_by_statement, ask_each, ask_first
from horae.store.tx import GONE, Tx

COUNTED_FOR_S: Final = 60.0
BOUNDS_FOR_S: Final = 2.0


class Room(NamedTuple):
    """How many of a kind there are, and how many there may be."""

    bounds: CountBounds
    kind: Counted
    there_are: int

    def check(self) -> None:
        """Refuse one more where there is no room for it."""
        self.bounds.check(self.kind, self.there_are)


async def bounds_of(ctx: Context) -> CountBounds:
    """What the tenant may have, as its home, or the first copy that answers, said a moment ago."""
    known = ctx.memory.bounds.get(ctx.tenant.id)
    if known is None or known[0] < boottime():
        known = (boottime() + BOUNDS_FOR_S, await _bounds(ctx))
        ctx.memory.bounds[ctx.tenant.id] = known
    return known[1]


async def room_for_job(ctx: Context) -> Room:
    """Whether there is room for one more job."""
    bounds, memory, tenant_id = await bounds_of(ctx), ctx.memory, ctx.tenant.id
    known = memory.job_counts.get(tenant_id)
    if known is None or known.until < boottime() or known.counted + known.made >= bounds.jobs:
        known = memory.job_counts[tenant_id] = JobCount(await _jobs(ctx), boottime() + COUNTED_FOR_S)
    return Room(bounds, Counted.JOBS, known.counted + known.made)


def count_job(ctx: Context) -> None:
    """One more job was made here."""
    known = ctx.memory.job_counts.get(ctx.tenant.id)
    if known is not None:
        ctx.memory.job_counts[ctx.tenant.id] = known._replace(made=known.made + 1)


def check_change(bounds: CountBounds, job: Job, trigger: Trigger) -> None:
    """Refuse a job's new trigger where its fires are too close to each other; one that stays as it is may stay."""
    if trigger != job.definition.trigger:
        bounds.check_period(trigger)


async def room_for_source(ctx: Context, job: Job) -> Room | None:
    """Whether there is room for one more source; None: the type has one, which is only changed."""
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
    return Room(bounds, Counted.SOURCES, many)


async def check_channel(tx: Tx, ctx: Context, bounds: CountBounds, kind: Counted, name: str) -> None:
    """Refuse a new subscription or intake where the tenant has as many as it may."""
    _check(bounds, kind, await counts.channels(tx, ctx.tenant.id, kind.removesuffix("s"), name))


async def check_secret(tx: Tx, ctx: Context, bounds: CountBounds, name: str) -> None:
    """Refuse a new secret where the tenant has as many as it may."""
    _check(bounds, Counted.SECRETS, await counts.secrets(tx, ctx.tenant.id, name))


async def check_key(tx: Tx, ctx: Context, bounds: CountBounds) -> None:
    """Refuse a new API key where the tenant has as many as it may."""
    _check(bounds, Counted.KEYS, await counts.keys(tx, ctx.tenant.id))


async def check_binding(tx: Tx, ctx: Context, bounds: CountBounds, principal: str) -> None:
    """Refuse roles for one more person or group where as many as may be have some."""
    _check(bounds, Counted.BINDINGS, await counts.bindings(tx, ctx.tenant.id, principal))


def _check(bounds: CountBounds, kind: Counted, found: Count) -> None:
    if not found.has_it:
        bounds.check(kind, found.many)
        bounds.check_removed(kind, found.removed)


async def check_calendar(ctx: Context, calendar: Calendar) -> None:
    """Refuse a new calendar, or more days of one, where the tenant has as many as it may, in the cells that answer."""
    bounds, look = await bounds_of(ctx), partial(counts.calendars, tenant_id=ctx.tenant.id, name=calendar.name)
    found = (await ask_each(ctx.store.cells, partial(ask_by_statement, look))).found.values()
    if not any(one.has_it for one in found):
        bounds.check(Counted.CALENDARS, sum(one.many for one in found))
    if calendar.days > sum(one.its_days for one in found):
        bounds.check(Counted.CALENDAR_DAYS, sum(one.other_days for one in found), calendar.days)


async def _bounds(ctx: Context) -> CountBounds:
    look = partial(tenants.allowances, ids=[ctx.tenant.id])
    try:
        found = await ask_first(ctx.store.home_first(shard_in(ctx.tenant.id)), look)
    except GONE:
        found = None
    return found[ctx.tenant.id].counts if found and ctx.tenant.id in found else CountBounds()


async def _jobs(ctx: Context) -> int:
    """The tenant's jobs in all cells that answer."""
    look = partial(counts.jobs, tenant_id=ctx.tenant.id)
    answers = await ask_each(ctx.store.cells, partial(ask_by_statement, look))
    return sum(answers.found.values())

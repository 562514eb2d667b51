"""A tenant as a whole: paused, resumed, removed, purged."""

from datetime import timedelta

import pytest

from horae.domain.errors import Conflict, Invalid, NotFound
from horae.domain.instances.outcomes import ErrorCode, Success, Unrecoverable
from horae.domain.schedules import Misfire, OnMisfire, OnOverlap, Policies
from horae.domain.schedules.calendars import Calendar
from horae.domain.targets.targets import HttpTarget, QueueTarget
from horae.domain.tenants.tenants import Allowance
from horae.security.roles import Role
from horae.service.context import Context, PlatformContext
from horae.service.identity import api_keys
from horae.service.instances import instances
from horae.service.jobs import jobs
from horae.service.schedules import backfills, calendars
from horae.service.schedules.backfills import BackfillRequest
from horae.service.tasks import tasks
from horae.service.tenants import lifecycle, tenants
from horae.service.workers import workers
from horae.upkeep.copies import Copier
from horae.upkeep.purges import Purger
from tests.catcher import catching
from tests.nodes import node_in
from tests.steps import a_job, a_type, claim_everywhere, every, move_clock, query, settle

TTL = timedelta(seconds=8)


async def drained(store):
    node = node_in(store, "n", TTL)
    done = await node.drain()
    await node.leave()
    return done


@pytest.fixture
async def catcher(store):
    async with catching(store.cells[0].clock.now) as catcher:
        yield catcher


async def test_a_paused_tenant_neither_fires_nor_claims_and_goes_on_from_now(ctx, store, catcher):
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "other", width=4096), "test")
    for who in (ctx, other):
        await a_job(who, "a", every(who, 60, "a"), target=HttpTarget(catcher.url))
    made_up = Policies(misfire=Misfire(OnMisfire.ALL))
    job = await a_job(ctx, "b", every(ctx, 60, "b"), target=HttpTarget(catcher.url), policies=made_up)
    await a_job(ctx, "pull", target=QueueTarget("q"))
    await instances.trigger(ctx, "pull", "k", even_if_down=True)
    await lifecycle.pause(ctx, ctx.tenant.name)
    await Copier(store).once()
    await move_clock(store, minutes=10, seconds=30)
    await drained(store)
    assert {arrival.job for arrival in catcher.arrivals} <= {"a"}
    assert len(await query(store, "select 1 from instance_history where tenant_id = $1", ctx.tenant.id)) == 0
    assert await workers.claim(ctx, "q", "w") == []
    with pytest.raises(Conflict):
        await instances.trigger(ctx, "a", "k", even_if_down=True)
    await lifecycle.resume(ctx, ctx.tenant.name)
    await Copier(store).once()
    await drained(store)
    told = await query(store, "select state, reason, range_count from instance_history where job_id = $1", job.id)
    assert [tuple(row) for row in told] == [("SKIPPED", "PAUSED", 10)], "whatever its misfire policy says"
    assert (await jobs.find(ctx, "b")).next_fire_at == job.next_fire_at + timedelta(minutes=10)
    assert len(await workers.claim(ctx, "q", "w")) == 1
    await move_clock(store, minutes=1)
    await drained(store)
    assert (
        len(await query(store, "select 1 from instance_history where job_id = $1 and state = 'SUCCESS'", job.id)) == 1
    )


async def test_an_exclusive_jobs_fires_that_passed_are_one_range_too(ctx, store, catcher):
    await a_job(
        ctx, "a", every(ctx, 1, "a"), target=HttpTarget(catcher.url), policies=Policies(overlap=OnOverlap.FORBID)
    )
    await lifecycle.pause(ctx, ctx.tenant.name)
    await Copier(store).once()
    await move_clock(store, seconds=30)
    await lifecycle.resume(ctx, ctx.tenant.name)
    await Copier(store).once()
    await drained(store)
    reasons = await query(store, "select range_count from instance_history where reason = 'PAUSED'")
    assert len(reasons) == 1
    assert reasons[0]["range_count"] >= 30


async def test_a_tenants_allowance_keeps_it_paused_and_its_standing_is_told(ctx, store):
    await lifecycle.pause(ctx, ctx.tenant.name)
    await tenants.allow(ctx, ctx.tenant.name, Allowance(weight=3))
    [row] = await query(store, "select body from reference where kind = 'tenant' and name = $1", ctx.tenant.name)
    assert '"PAUSED"' in row["body"] or row["body"]["held"]["status"] == "PAUSED"
    with pytest.raises(Conflict):
        await lifecycle.pause(ctx, ctx.tenant.name)
    await lifecycle.resume(ctx, ctx.tenant.name)
    actions = [row["action"] for row in await query(store, "select action from audit_log order by at, id")]
    assert actions == ["tenant.created", "tenant.paused", "tenant.allowed", "tenant.resumed"]


async def everything_of(ctx, store):
    """A tenant with a bit of each."""
    await a_job(ctx, "a", every(ctx, 60, "a"))
    await a_type(ctx, "T", width=256)
    await api_keys.create(ctx, "k", [Role.ADMIN])
    now = store.cells[0].clock.now()
    await calendars.put(ctx, Calendar(name="c", first=now.date(), last=now.date()))
    await Copier(store).once()
    for n in range(30):
        await instances.trigger(ctx, "a", f"k{n}", even_if_down=True)
        await tasks.schedule(ctx, "T", f"k{n}")
    for n, ran in enumerate(await claim_everywhere(store)):
        await settle(store, ran, Success() if n % 3 else Unrecoverable(ErrorCode.HTTP_4XX, "404"))
    await tasks.schedule(ctx, "T", "later", at=now + timedelta(days=1))
    await jobs.remove(ctx, "a")
    job = await a_job(ctx, "a", every(ctx, 60, "a"))
    await move_clock(store, hours=1)
    start = job.next_fire_at
    await query(store, "update job_cursor set next_fire_at = $1", start + timedelta(hours=1))
    await backfills.start(ctx, "a", "k", BackfillRequest(start, start + timedelta(minutes=30)))


TABLES = (
    "job", "job_version", "job_cursor", "instance_live", "instance_history", "task_key", "dead_letter",
    "idempotency", "calendar", "backfill", "api_key", "role_binding", "quota_bucket",
)  # fmt: skip


async def test_a_removed_tenant_is_purged_from_every_table_and_cell_and_nobody_else_loses_a_row(ctx, store):
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "other", width=4096), "test")
    for who in (ctx, other):
        await everything_of(who, store)

    async def left(who, table):
        return len(await query(store, f"select 1 from {table} where tenant_id = $1", who.tenant.id))

    before = {table: await left(other, table) for table in TABLES}
    assert all(many for table, many in before.items() if table != "quota_bucket"), before
    with pytest.raises(Invalid):
        await lifecycle.remove(ctx, ctx.tenant.name, confirm="something else")
    await lifecycle.remove(ctx, ctx.tenant.name, confirm=ctx.tenant.name)
    with pytest.raises(NotFound):
        await tenants.find(store, ctx.tenant.name)
    await Copier(store).once()
    purger = Purger(store)
    while await purger.once():
        pass
    assert {table: await left(ctx, table) for table in TABLES} == dict.fromkeys(TABLES, 0)
    assert {table: await left(other, table) for table in TABLES} == before
    [told] = await query(store, "select detail from audit_log where action = 'tenant.purged'")
    assert await purger.once() == 0
    assert len(await query(store, "select 1 from audit_log where action = 'tenant.purged'")) == 1
    assert told["detail"]
    again = await tenants.create(ctx, ctx.tenant.name)
    assert again.id != ctx.tenant.id, "the name is free again"

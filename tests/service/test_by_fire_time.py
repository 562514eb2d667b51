"""The instances of all jobs of a tenant by fire time: live and ended ones of both cells in one order."""

from datetime import timedelta

import pytest
from benchmarks.query_plans import connect, explain, nodes

from horae.domain.errors import NoLongerKept
from horae.domain.instances.outcomes import Success
from horae.domain.instances.searches import NEWEST, InstanceFilter
from horae.service.context import PlatformContext
from horae.service.instances import searches
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.store.databases import days
from horae.store.databases.days import Day, DayState
from horae.store.instances.history import Bounds
from horae.upkeep.copies import Copier
from tests.steps import a_type, claim_everywhere, query, settle

TENANT_ROWS = """
insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, shard_id, priority, lane,
                              id, tenant_id, job_id, state, idem_key)
select $1::timestamptz + n * interval '1 s', $1::timestamptz + n * interval '1 s', $1, 1, 1, 0, 0, 1, 0,
       gen_random_uuid(), case when n % 100 = 0 then $2::uuid else gen_random_uuid() end, gen_random_uuid(),
       'SUCCESS', 'k'
from generate_series(1, 20000) n"""


async def all_by_fire_time(ctx, sought=None, bounds=None):
    found, before = [], NEWEST
    while before is not None:
        page = await searches.by_fire_time(ctx, sought or InstanceFilter(), before=before, bounds=bounds or Bounds(50))
        found += page.found
        before = page.next
    return found


async def scheduled(ctx, store):
    """Tasks of two types, created in another order than they fire; some have ended."""
    now = store.cells[0].clock.now()
    for name in ("T", "U"):
        await a_type(ctx, name)
        for n in (3, 1, 4, 2, 5):
            await tasks.schedule(ctx, name, str(n), at=now - timedelta(minutes=n))
    await Copier(store).once()
    for ran in (await claim_everywhere(store))[:6]:
        await settle(store, ran, Success())
    return now


@pytest.mark.parametrize("bounds", [Bounds(3), Bounds(50), Bounds(4, scan=1)])
async def test_all_come_in_pages_by_fire_time_without_gaps_or_doubles(ctx, store, bounds):
    await scheduled(ctx, store)
    found = await all_by_fire_time(ctx, bounds=bounds)
    assert len({past.id for past in found}) == len(found) == 10
    assert [past.fire_time for past in found] == sorted((past.fire_time for past in found), reverse=True)
    assert {past.job for past in found} == {"T", "U"}
    assert {past.state for past in found} == {"SUCCESS", "RUNNING"}


async def test_a_range_means_fire_times(ctx, store):
    now = await scheduled(ctx, store)
    sought = InstanceFilter(since=now - timedelta(minutes=3, seconds=1), until=now - timedelta(minutes=1, seconds=1))
    assert sorted(past.business_key for past in await all_by_fire_time(ctx, sought)) == ["2", "2", "3", "3"]


async def test_another_tenant_sees_none_of_them(ctx, store):
    await scheduled(ctx, store)
    other = ctx._replace(tenant=await tenants.create(PlatformContext(store, "test"), "other", width=4096))
    assert await all_by_fire_time(other) == []


async def test_a_range_in_dropped_days_is_told(ctx, store):
    now = store.cells[0].clock.now()
    for cell in store.cells:
        async with cell.direct(owner=True) as connection:
            await days.record_drop(connection, now, Day(days.HISTORY, now.date(), DayState.ATTACHED, 0))
    with pytest.raises(NoLongerKept):
        await searches.by_fire_time(ctx, InstanceFilter(until=now - timedelta(days=2)))


async def test_a_page_reads_rows_of_its_tenant_alone(ctx, store):
    cell = store.cells[0]
    now = cell.clock.now().replace(hour=1, minute=0)
    await query(cell, TENANT_ROWS, now, ctx.tenant.id)
    await query(cell, "analyze instance_history")
    connection = await connect(cell.dsn)
    try:
        args = [ctx.tenant.id, [1], *NEWEST, now - timedelta(days=1), now + timedelta(days=1), [], None, 50, 50]
        plan = await explain(connection, "instances/history/by_fire_time", args)
    finally:
        await connection.close()
    read = [node for node in nodes(plan) if node.get("Alias", "").startswith("h") and node["Actual Loops"]]
    assert all("tenant" in node["Index Name"] for node in read if "Index Name" in node)
    assert not [node for node in read if node["Node Type"] == "Seq Scan" and node["Actual Rows"]]
    assert sum(node.get("Rows Removed by Filter", 0) for node in read) == 0

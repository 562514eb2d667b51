"""A row that a newer release wrote is left out of a list, and says nothing about the other tenants' rows."""

from datetime import timedelta

import pytest

from horae.domain.errors import NewerRelease
from horae.domain.ids import shard_in
from horae.domain.measures.measures import MeasureLines
from horae.domain.schedules.triggers import RollingTrigger
from horae.domain.sources.sources import HttpSource, Spec
from horae.domain.tenants.tenants import Allowance
from horae.service.context import Context, PlatformContext
from horae.service.sources import sources as source_service
from horae.service.tenants import tenants as tenancies
from horae.store.jobs import jobs
from horae.store.measures import measures
from horae.store.sources import sources
from horae.store.tenants import tenants
from tests.steps import a_job, a_type, query


@pytest.fixture
async def pair(ctx, store):
    """Two tenants: the first one's rows are written in words that this release does not know."""
    return ctx, Context.of(store, await tenancies.create(PlatformContext(store, "test"), "globex", width=4096), "test")


async def found(store, read):
    """What all cells say together."""
    rows = []
    for cell in store.cells:
        async with cell.statement() as tx:
            rows += list(await read(tx))
    return rows


async def test_rolling_jobs_of_others_are_found(pair, store):
    for ctx in pair:
        trigger = RollingTrigger(window=60, every=30, anchor=store.cells[0].clock.now())
        await a_job(ctx, "set", trigger)
    new = """update reference set body = jsonb_set(body, '{definition,trigger,window}', '"a while"')
             where kind = 'job' and tenant_id = $1"""
    await query(store, new, pair[0].tenant.id)
    assert {job.tenant_id for job in await found(store, jobs.rolling)} == {pair[1].tenant.id}


async def test_sources_of_others_are_due(pair, store):
    for ctx in pair:
        await a_type(ctx, "PUBLISH")
        await source_service.put(ctx, "PUBLISH", Spec(HttpSource("https://shop.example/list")))
    new = "update source set spec = jsonb_set(spec, '{origin,kind}', '\"future\"') where tenant_id = $1"
    await query(store, new, pair[0].tenant.id)
    await query(store, "update source set next_at = $1", store.cells[0].clock.now() - timedelta(minutes=1))

    async def due(tx):
        return await sources.due(tx, 10)

    assert [source.tenant_id for source in await found(store, due)] == [pair[1].tenant.id]


async def test_allowances_of_others_are_known(pair, store):
    for ctx in pair:
        await tenancies.allow(ctx, ctx.tenant.name, Allowance(weight=5))
    new = "update reference set body = jsonb_set(body, '{allowance,weight}', '5000') where kind = 'tenant' and id = $1"
    await query(store, new, pair[0].tenant.id)

    async def allowances(tx):
        return (await tenants.allowances(tx, [ctx.tenant.id for ctx in pair])).items()

    assert dict(await found(store, allowances)) == {pair[1].tenant.id: Allowance(weight=5)}


async def test_a_tenant_with_an_unreadable_allowance_is_known_to_a_newer_release_only(pair, store):
    new = """update reference set body = jsonb_set(body, '{allowance}', '{"weight": 5000}')
             where kind = 'tenant' and id = $1"""
    await query(store, new, pair[0].tenant.id)
    unreadable, readable = [ctx.tenant.id for ctx in pair]
    async with store.statement(shard_in(unreadable)) as tx:
        with pytest.raises(NewerRelease):
            await tenants.known(tx, unreadable)
    async with store.statement(shard_in(readable)) as tx:
        assert await tenants.known(tx, readable)


async def test_measure_lines_of_others_are_read(pair, store):
    for ctx in pair:
        await tenancies.allow(ctx, ctx.tenant.name, Allowance(measures=MeasureLines(retry_backlog=5)))
    new = """update reference set body = jsonb_set(body, '{allowance,measures,retry_backlog}', '0')
             where kind = 'tenant' and id = $1"""
    await query(store, new, pair[0].tenant.id)

    async def lines(tx):
        return (await measures.lines(tx)).items()

    assert dict(await found(store, lines)) == {pair[1].tenant.id: MeasureLines(retry_backlog=5)}


async def test_a_tenant_that_stands_in_an_unknown_way_is_held(pair, store):
    new = """update reference set body = body || '{"held": {"status": "RESTING", "until": null}}'
             where kind = 'tenant' and id = $1"""
    await query(store, new, pair[0].tenant.id)
    assert [(one.id, one.held) for one in await found(store, tenants.held)] == [(pair[0].tenant.id, True)]

"""What is fired or made up for one by one goes by tenants in turn: one with very many of them stops nobody."""

import asyncio
from datetime import timedelta

import pytest

from horae.domain.jobs.jobs import Definition
from horae.domain.schedules import Misfire, OnMisfire, OnOverlap, Policies
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget
from horae.engine.dispatcher import BATCH
from horae.engine.fire import Firer
from horae.service.context import Context, PlatformContext
from horae.service.tenants import tenants
from tests.bulk import bulk_jobs
from tests.engine.running import running
from tests.steps import a_job, until

MANY = 5 * BATCH
"""In two cells: more than a desk lets wait."""


@pytest.fixture
async def victim(store):
    return Context.of(store, await tenants.create(PlatformContext(store, "test"), "victim"), "test")


def hang(monkeypatch, name, tenant_id):
    """What a firer does for a tenant takes until the test ends; returns how often that was begun."""
    begun, over, work = [], asyncio.Event(), getattr(Firer, name)

    async def maybe(firer, ready, **facts):
        readies = ready if isinstance(ready, list) else [ready]
        if any(one.timer.tenant_id == tenant_id for one in readies):
            begun.append(ready)
            await over.wait()
        return await work(firer, ready, **facts)

    monkeypatch.setattr(Firer, name, maybe)
    return begun, over


def fired(catcher, url):
    return url in {arrival.path for arrival in catcher.arrivals}


async def test_fires_that_run_alone_of_one_tenant_close_no_desk_for_another(ctx, victim, store, catcher, monkeypatch):
    start = store.cells[0].clock.now().replace(microsecond=0)
    alone = Policies(overlap=OnOverlap.FORBID)
    trigger = IntervalTrigger(3600, start)
    hostile = Definition(trigger=trigger, target=HttpTarget(f"{catcher.url}/hostile"), policies=alone)
    await bulk_jobs(ctx, store, MANY, hostile, start)
    begun, over = hang(monkeypatch, "fire_alone", ctx.tenant.id)
    async with running(store, slots=4 * MANY):
        await until(lambda: len(begun) >= 4)
        soon = IntervalTrigger(3600, store.cells[0].clock.now() + timedelta(seconds=1))
        await a_job(victim, "plain", soon, target=HttpTarget(f"{catcher.url}/plain"))
        await a_job(victim, "alone", soon, target=HttpTarget(f"{catcher.url}/alone"), policies=alone)
        await until(lambda: fired(catcher, "/plain") and fired(catcher, "/alone"))
        over.set()


async def test_what_one_tenant_is_behind_with_leaves_another_its_turn(ctx, victim, store, catcher, monkeypatch):
    start = store.cells[0].clock.now().replace(microsecond=0) - timedelta(hours=2)
    every = Policies(misfire=Misfire(OnMisfire.ALL, cap=3))
    hostile, other = (
        Definition(trigger=IntervalTrigger(3600, start), target=HttpTarget(f"{catcher.url}/{name}"), policies=every)
        for name in ("hostile", "other")
    )
    await bulk_jobs(ctx, store, MANY, hostile, start)
    begun, over = hang(monkeypatch, "catch_up", ctx.tenant.id)
    async with running(store, slots=4 * MANY) as node:
        await until(lambda: len(begun) >= 4)
        await bulk_jobs(victim, store, 2, other, start)
        for post in node.runners.values():
            post.dispatcher.parts.feeder.read_between(start, start)
        await until(lambda: fired(catcher, "/other"))
        over.set()

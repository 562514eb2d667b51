"""A job starts after another one has ended: once for each end, whatever breaks in between, and never for another tenant."""

import asyncio
from datetime import timedelta

import pytest

from horae.domain.errors import CountReached, Invalid
from horae.domain.ids import Prefix, public, shard_in
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import Success
from horae.domain.jobs.edges import After, EndKind
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import KeyedTrigger, ManualTrigger
from horae.domain.targets.targets import QueueTarget
from horae.domain.workers.workers import FailureReport, Finish
from horae.runtime import setbacks
from horae.service.context import Context, PlatformContext
from horae.service.instances import instances
from horae.service.jobs import edges, jobs
from horae.service.schedules import schedules
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.service.workers import workers
from horae.store.jobs import edges as rows
from horae.upkeep.copies import Copier
from horae.upkeep.edges import EdgeFollower
from tests.steps import query, until

DEAD = FailureReport("no", retryable=False)


async def a_job(ctx, name, *, after=None, keyed=False):
    trigger = KeyedTrigger() if keyed else ManualTrigger()
    wanted = Definition(trigger=trigger, target=QueueTarget(name), after=None if after is None else After(*after))
    return await jobs.create(ctx, name, wanted)


async def names_in_both_cells(ctx, store):
    """A name of a job in the first cell, and one in the second."""
    found = {store.cell(ctx.tenant.shard(f"job-{n}")).name: f"job-{n}" for n in range(50)}
    return [found[cell.name] for cell in store.cells]


async def run(ctx, name, said=Success(), key=None):  # noqa: B008
    """Fire a job by hand and end it; returns the instance."""
    fired = await instances.trigger(ctx, name, key or f"run-{name}", even_if_down=True)
    await end(ctx, name, said)
    return fired.instance_id


async def end(ctx, name, said=Success()):  # noqa: B008
    claimed = await workers.claim(ctx, name, "w")
    await workers.finish(ctx, [Finish(one.instance_id, one.attempt, one.token, said) for one in claimed])
    return claimed


async def drain(follower):
    while await follower.once() or follower._going:
        pass


@pytest.fixture
async def follower(store):
    made = EdgeFollower(store, store.shards_of)
    yield made
    await made.close()


def anew(store):
    return EdgeFollower(store, store.shards_of)


async def live(store, name):
    said = "select l.* from instance_live l join job j on j.id = l.job_id where j.name = $1"
    return await query(store, said, name)


@pytest.mark.parametrize(
    ("on", "said", "starts"),
    [
        (EndKind.SUCCEEDED, Success(), 1),
        (EndKind.SUCCEEDED, DEAD, 0),
        (EndKind.FAILED, Success(), 0),
        (EndKind.FAILED, DEAD, 1),
        (EndKind.ENDED, Success(), 1),
        (EndKind.ENDED, DEAD, 1),
    ],
)
async def test_a_job_in_another_cell_starts_with_the_fire_time_of_the_one_that_ended(
    ctx, store, follower, on, said, starts
):
    load, report = await names_in_both_cells(ctx, store)
    await a_job(ctx, load)
    await a_job(ctx, report, after=(load, on))
    ended = await run(ctx, load, said)
    await drain(follower)
    found = await live(store, report)
    assert len(found) == starts
    [past] = await query(store, "select fire_time from instance_history where id = $1", ended)
    assert all(row["fire_time"] == past["fire_time"] and row["due_at"] >= past["fire_time"] for row in found)
    progress = await edges.progress(ctx, await jobs.find(ctx, report))
    assert (progress.started, progress.error) == (starts, None)

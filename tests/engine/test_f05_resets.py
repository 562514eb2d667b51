"""F5: shards that are taken, and jobs that go on, while a look is under way are looked at from the beginning, too."""

import asyncio
from datetime import timedelta

import pytest

from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget
from tests.bulk import bulk_jobs
from tests.engine.running import TTL
from tests.nodes import node_in
from tests.steps import query

JOBS = 200


@pytest.fixture
async def node(store):
    node = node_in(store, "n", TTL)
    yield node
    await node.leave()


@pytest.mark.parametrize("due_s", [-120, 20], ids=["a backlog of two minutes", "due in twenty seconds"])
@pytest.mark.parametrize("gained", [True, False], ids=["more shards", "a resume"])
async def test_f05_a_reset_that_comes_during_a_look_is_not_lost(ctx, store, node, catcher, due_s, gained):
    cell = store.cells[0]
    shards = store.shards_of(cell)
    at = cell.clock.now().replace(microsecond=0) + timedelta(seconds=due_s)
    made = Definition(trigger=IntervalTrigger(3600, at), target=HttpTarget(catcher.url))
    await bulk_jobs(ctx, store, JOBS, made, at)
    expected = len(await query(cell, "select from job_cursor"))
    post = node.runners[cell.name]
    begun, go_on = asyncio.Event(), asyncio.Event()
    read = post.feeder.cursors.read

    async def slowly(tx, look, marks):
        page = await read(tx, look, marks)
        begun.set()
        await go_on.wait()
        return page

    post.feeder.cursors.read = slowly
    post.hold(shards[: len(shards) // 2] if gained else shards)
    looking = asyncio.create_task(post.feeder.once())
    await begun.wait()
    if gained:
        post.hold(shards)  # as a node does it with the next portion of the shards of one that died
    else:
        for timer in [*post.agenda.take(JOBS)]:
            post.agenda.forget(timer)  # held, and left where they are
        post.feeder.reset()
    go_on.set()
    await looking
    await post.feeder.once()
    assert len(post.agenda) == expected

"""A database that fails at a bad moment costs delay, never a fire: what was known is looked at again."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import asyncpg
import pytest

from horae.domain.jobs.jobs import own_queue
from horae.domain.targets.targets import HttpTarget
from tests.nodes import node_in
from tests.receiver import receiving
from tests.steps import a_job, every, move_clock, query, until


@pytest.fixture
async def node(store):
    node = node_in(store, "n", timedelta(seconds=8))
    yield node
    await node.leave()


def failing(error):
    async def fail(*_args, **_named):
        raise error

    return fail


@pytest.mark.parametrize("error", [ConnectionError("gone"), asyncpg.QueryCanceledError("too slow")])
async def test_what_could_not_be_looked_up_when_it_came_due_fires_later(ctx, store, node, monkeypatch, error):
    with receiving() as receiver:
        await a_job(ctx, "job", every(ctx, 60), target=HttpTarget(receiver.url))
        await move_clock(store, seconds=61)
        with monkeypatch.context() as broken:
            broken.setattr(node.allowances, "learn", failing(error))
            with suppress(asyncpg.QueryCanceledError):
                await node.drain()
        assert receiver.calls == []
        await node.drain()
        assert len(receiver.calls) == 1


@pytest.mark.parametrize("error", [ConnectionError("gone"), asyncpg.QueryCanceledError("too slow")])
async def test_a_fire_that_could_not_be_recorded_is_recorded_later(ctx, store, node, monkeypatch, error):
    job = await a_job(ctx, "job", every(ctx, 60), target=own_queue("job"))
    await move_clock(store, seconds=61)
    post = node.runners[store.cell(job.shard).name]
    post.hold([job.shard])
    with monkeypatch.context() as broken:
        broken.setattr(post.firer, "fire", failing(error))
        await post.once()
    await node.drain()
    assert len(await query(store, "select * from instance_live")) == 1


async def test_an_error_nobody_foresaw_does_not_end_the_work_in_a_cell(node, monkeypatch):
    post = next(iter(node.runners.values()))
    asked = 0

    async def fail():
        nonlocal asked
        asked += 1
        raise asyncpg.QueryCanceledError("too slow")

    monkeypatch.setattr(post, "offer_due", fail)
    monkeypatch.setattr("horae.engine.cell_runner.MAX_NAP_S", 0.01)
    running = asyncio.create_task(post.run())
    await until(lambda: asked > 1 or running.done())
    assert not running.done()
    running.cancel()


async def test_a_range_that_was_named_is_looked_at_again_when_its_look_failed(ctx, store, node, monkeypatch):
    """Who named it does so once: forgotten, its rows would wait for the next sweep."""
    job = await a_job(ctx, "job", every(ctx, 20), target=own_queue("job"))
    post = node.runners[store.cell(job.shard).name]
    post.hold([job.shard])
    await post.feeder.once()
    for timer in [*post.agenda.soon(), *post.agenda.take(10)]:
        post.agenda.forget(timer)
    post.agenda._known.clear()
    post.feeder.read_between(job.next_fire_at, job.next_fire_at)
    with monkeypatch.context() as broken:
        broken.setattr(post.feeder.cursors, "read", failing(ConnectionError("gone")))
        with pytest.raises(ConnectionError):
            await post.feeder.once()
    assert len(post.agenda) == 0
    await post.feeder.once()
    assert len(post.agenda) == 1

"""Wake-ups between processes: merged, only for what is near, outside of data, and heard again after any break."""

import asyncio
import threading
from contextlib import asynccontextmanager
from datetime import timedelta

import asyncpg
import pytest

from horae.domain.schedules.triggers import DelayTrigger
from horae.runtime.loop import Loop
from horae.service.context import Context
from horae.service.instances import instances
from horae.service.jobs import jobs
from horae.service.schedules import schedules
from horae.service.tasks import tasks
from horae.store.cells import Cell
from horae.store.connections.listener import Listener
from horae.store.store import Store
from tests.steps import NOWHERE, a_job, a_type, count_statements, every, query, until
from tests.system.proxy import proxied

COUNT = """
    select coalesce(sum(calls), 0)::int as calls from pg_stat_statements
    where query ~ 'pg_notify' and dbid = (select oid from pg_database where datname = current_database())
"""


@asynccontextmanager
async def listening(cell, heard, patience=2.0):
    """A listener with its loop; ready when it has reported that it may have missed something."""
    listener = Listener(cell, heard.append, patience=patience)
    loop = Loop("listener", listener, 0.1)
    running = asyncio.create_task(loop.run())
    try:
        await until(lambda: bool(heard))
        heard.clear()
        yield listener
    finally:
        loop.stop()
        await running
        await listener.close()


@pytest.fixture
async def counted(store):
    """How many notifications each cell was sent."""
    await count_statements(store)

    async def count():
        return [(await query(cell, COUNT))[0]["calls"] for cell in store.cells]

    return count


async def test_twenty_wakes_in_a_burst_are_one_notification_that_names_them_all(store, counted):
    cell, heard = store.cells[0], []
    shards, now = store.shards_of(cell)[:20], cell.clock.now()
    async with listening(cell, heard):
        for number, shard in enumerate(shards):
            store.wakes.wake(shard, now + timedelta(seconds=number))
        await until(lambda: bool(heard))
    [wake] = heard
    assert wake.shards == frozenset(shards)
    assert (wake.earliest, wake.latest) == (now, now + timedelta(seconds=19))
    assert await counted() == [1, 0]


async def test_a_steady_stream_is_at_most_one_notification_in_fifty_milliseconds(ctx, store, counted):
    await a_type(ctx)
    began = asyncio.get_running_loop().time()
    for n in range(60):
        await tasks.schedule(ctx, "ARTICLE_PUBLISH", str(n))
    await store.wakes.close()
    took = asyncio.get_running_loop().time() - began
    assert all(1 <= sent <= 1 + took / 0.05 for sent in await counted())


async def test_what_is_due_far_ahead_wakes_nobody(ctx, store, counted):
    await a_type(ctx)
    at = store.cells[0].clock.now() + timedelta(hours=1)
    for n in range(20):
        await tasks.schedule(ctx, "ARTICLE_PUBLISH", str(n), at=at)
    await a_job(ctx, "later", DelayTrigger(3600))
    await store.wakes.close()
    assert await counted() == [0, 0]


async def test_every_verb_that_makes_something_due_soon_wakes_its_shard_after_the_commit(ctx, store, cells):
    """When it wakes, any other connection already sees what it did."""
    seen = []

    class Looking:
        def wake(self, shard, at):
            dsn = next(one.dsn for one in cells if one.name == store.cell(shard).name)
            look = threading.Thread(target=lambda: seen.append((shard, at, asyncio.run(marks(dsn)))))
            look.start()
            look.join()

    async def marks(dsn):
        connection = await asyncpg.connect(dsn)
        try:
            return await connection.fetchval("select count(*) from outbox")
        finally:
            await connection.close()

    ctx = ctx._replace(wakes=Looking())

    async def did(verb, shard=None):
        """Each verb leaves an outbox row in its transaction, which must be there when it wakes."""
        before = {cell.name: (await query(cell, "select count(*) from outbox"))[0][0] for cell in store.cells}
        seen.clear()
        await verb
        [(woken, at, after)] = seen
        assert after > before[store.cell(woken).name]
        assert shard in (None, woken)
        return at

    home = ctx.tenant.shard("a")
    assert await did(a_job(ctx, "a", every(ctx, 5, "a")), home) is not None
    await jobs.pause(ctx, "a")
    assert await did(jobs.resume(ctx, "a"), home) is not None
    job = await jobs.find(ctx, "a")
    await did(schedules.update(ctx, "a", job.definition), home)
    first = (await schedules.preview(ctx, job)).verdicts[2].fire_time
    await did(schedules.skip(ctx, "a", first), home)
    await did(schedules.restore(ctx, "a", first), home)
    await did(instances.trigger(ctx, "a", "key", even_if_down=True), home)
    seen.clear()
    await instances.trigger(ctx, "a", "key", even_if_down=True)
    assert seen == [], "a replayed answer makes nothing due"
    await a_type(ctx)
    await did(tasks.schedule(ctx, "ARTICLE_PUBLISH", "42"), ctx.tenant.shard("ARTICLE_PUBLISH/42"))


async def test_a_listener_hears_again_after_its_backend_was_ended(store):
    cell, heard = store.cells[0], []
    async with listening(cell, heard):
        await query(cell, "select pg_terminate_backend(pid) from pg_stat_activity where application_name ~ 'listener'")
        await until(lambda: bool(heard))
        assert heard[0].shards is None, "what was told meanwhile is lost, so look at everything near"
        assert heard[0].earliest <= cell.clock.now() <= heard[0].latest
        heard.clear()
        store.wakes.wake(store.shards_of(cell)[0], cell.clock.now())
        await until(lambda: bool(heard))


async def test_a_listener_notices_that_nothing_arrives_any_more(store, cells):
    heard, shard = [], store.shards_of(store.cells[0])[0]
    with proxied(cells[0].dsn) as proxy:
        far = Cell(cells[0].name, proxy.dsn)
        far.clock = store.cells[0].clock
        async with listening(far, heard):
            proxy.cut()
            store.wakes.wake(shard, far.clock.now())
            await store.wakes.close()
            assert heard == []
            proxy.mend()
            await until(lambda: bool(heard))
            assert heard[0].shards is None


async def test_many_notifications_are_heard_as_few(store):
    cell, heard = store.cells[0], []
    async with listening(cell, heard):
        await query(cell, "select pg_notify('horae_wake', n::text) from generate_series(1, 100) n")
        await until(lambda: bool(heard))
    assert len(heard) == 1
    assert heard[0].shards is None, "what cannot be read means everything near"


async def test_a_wake_that_cannot_be_sent_costs_nothing(ctx, store, cells):
    nowhere = Cell(cells[0].name, "postgresql://postgres@127.0.0.1:1/nothing")
    nowhere.clock = store.cells[0].clock
    wakes = type(store.wakes)(lambda _shard: nowhere)
    job = await jobs.create(ctx._replace(wakes=wakes), "a", (await a_job(ctx, "b", DelayTrigger(0))).definition)
    assert job.next_fire_at is not None
    await wakes.close()


async def test_a_process_that_ends_at_once_still_tells(ctx, store, cells):
    heard = []
    shard = ctx.tenant.shard("soon")
    async with listening(store.cell(shard), heard):
        async with Store.of(cells) as brief:
            await a_job(Context.of(brief, ctx.tenant, "test"), "soon", DelayTrigger(0), target=NOWHERE)
        await until(lambda: bool(heard))
    assert heard[0].shards == {shard}

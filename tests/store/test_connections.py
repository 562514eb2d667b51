"""A connection that died while it lay idle is never what a statement fails of."""

import asyncio
import threading

import asyncpg
import pytest

from horae.domain.errors import NotFound
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from tests.steps import a_type, query

IDLE = 5


async def fill(cell):
    """Several idle connections in the pool."""
    held = [await cell.pool.acquire() for _ in range(IDLE)]
    for connection in held:
        await cell.pool.release(connection)


def end_all(store):
    """End every backend of ours from another thread, while this one's event loop stands still and notices nothing."""

    async def end(dsn):
        connection = await asyncpg.connect(dsn)
        ended = await connection.fetch(
            """select pg_terminate_backend(pid, 5000) from pg_stat_activity
               where datname = current_database() and application_name = 'horae'"""
        )
        await connection.close()
        assert len(ended) >= IDLE

    for cell in store.cells:
        thread = threading.Thread(target=asyncio.run, args=(end(cell.dsn),))
        thread.start()
        thread.join()


async def test_single_statements_survive_connections_that_died_in_the_pool(ctx, store):
    await a_type(ctx)
    for work in (
        lambda: tasks.schedule(ctx, "ARTICLE_PUBLISH", "42"),
        lambda: jobs.listing(ctx),
        lambda: jobs.pause(ctx, "ARTICLE_PUBLISH"),
        store.cells[0].sync_clock,
    ):
        for cell in store.cells:
            await fill(cell)
        end_all(store)
        await work()
    assert len(await query(store, "select * from instance_live")) == 1


async def test_a_connection_that_lives_is_kept(ctx, store):
    cell = store.cells[0]
    async with cell.statement() as tx:
        before = await tx.value("select pg_backend_pid()")
    with pytest.raises(NotFound):
        await jobs.find(ctx, "nothing")
    async with cell.statement() as tx:
        assert await tx.value("select pg_backend_pid()") == before

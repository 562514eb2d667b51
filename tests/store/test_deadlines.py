"""Dead sockets, silent servers, primaries that moved: no call waits for ever, none gets a doubtful connection."""

import asyncio
import socket
import time
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

import asyncpg
import pytest

from horae.service.tasks import tasks
from horae.store.cells import Cell
from horae.store.connections import connections, deadlines
from horae.store.connections.direct_connection import (
    KEEPALIVE_IDLE_S,
    KEEPALIVE_INTERVAL_S,
    KEEPALIVE_PROBES,
    TCP_USER_TIMEOUT_MS,
)
from horae.store.tx import GONE
from tests.cluster import free_port
from tests.steps import a_type, until
from tests.store.test_connections import end_all, fill
from tests.system.proxy import proxied

SHORT = 1.0


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(deadlines, "ANSWER_TIMEOUT_S", SHORT)


async def pid(cell):
    async with cell.statement() as tx:
        return await tx.value("select pg_backend_pid()")


async def test_a_call_on_a_dead_socket_ends_in_time_and_takes_its_connection_with_it(cells, short):
    with proxied(cells[0].dsn) as proxy:
        cell = Cell("far", proxy.dsn, connections=2)
        await cell.open()
        before = await pid(cell)
        proxy.cut()
        for begin in (cell.statement, cell.tx):
            began = time.monotonic()
            with pytest.raises(GONE):
                async with begin() as tx:
                    await tx.value("select 1")
            assert SHORT * 0.9 < time.monotonic() - began < SHORT + 5, "in time, and a new connection in its own"
        proxy.mend()
        assert await pid(cell) != before
        await cell.close()


async def test_when_all_connections_fell_silent_only_the_first_to_ask_pays_for_it(cells, short):
    with proxied(cells[0].dsn) as proxy:
        cell = Cell("far", proxy.dsn, connections=5)
        await cell.open()
        await fill(cell)
        proxy.sever()
        with pytest.raises(TimeoutError):
            await pid(cell)
        assert len(set(await asyncio.gather(*(pid(cell) for _ in range(5))))) == 5
        await fill(cell)
        proxy.sever()
        async with cell.tx() as tx:
            await tx.value("select 1")
        assert len(set(await asyncio.gather(*(pid(cell) for _ in range(5))))) == 5
        await cell.close()


async def test_one_silence_is_enough_to_leave_every_idle_connection(cells, short):
    with proxied(cells[0].dsn) as proxy:
        cell = Cell("far", proxy.dsn)
        await cell.open()
        await fill(cell)
        proxy.sever()
        with pytest.raises(TimeoutError):
            await pid(cell)
        for _ in range(5):
            assert await pid(cell)
        await cell.close()


async def test_a_commit_that_is_not_answered_ends_in_time(cells, short):
    with proxied(cells[0].dsn) as proxy:
        cell = Cell("far", proxy.dsn, connections=2)
        await cell.open()

        async def work():
            async with cell.tx() as tx:
                await tx.value("select 1")
                proxy.cut()

        with pytest.raises(GONE):
            await work()
        proxy.mend()
        assert await pid(cell)
        await cell.close()


async def test_whoever_finds_every_connection_taken_hears_of_it(store, short):
    cell = store.cells[0]
    async with AsyncExitStack() as taken:
        for _ in range(10):
            await taken.enter_async_context(cell.pool.acquire())
        with pytest.raises(TimeoutError):
            await pid(cell)
    assert await pid(cell)


async def test_what_nobody_waits_for_any_more_leaves_no_open_transaction_to_the_next_one(store):
    cell = store.cells[0]
    used = []

    async def work():
        async with cell.tx() as tx:
            used.append(await tx.value("select pg_backend_pid()"))
            await tx.run("update cell set environment = 'dev'")
            await tx.value("select pg_sleep(4)")

    working = asyncio.create_task(work())
    await until(lambda: asleep(cell))
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    async with AsyncExitStack() as taken:
        all_of_them = [await taken.enter_async_context(cell.pool.acquire()) for _ in range(10)]
        assert used[0] not in [connection.get_server_pid() for connection in all_of_them]
    async with cell.statement() as tx:
        assert await tx.value("select environment from cell") == "test"


async def asleep(cell):
    async with cell.statement() as tx:
        return bool(await tx.value("select count(*) from pg_stat_activity where wait_event = 'PgSleep'"))


async def test_an_answer_that_arrived_while_the_loop_stood_still_is_heard(store, short):
    cell = store.cells[0]
    async with cell.statement() as tx:
        asked = asyncio.create_task(tx.value("select pg_sleep(0.1)::text"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        time.sleep(SHORT * 2)
        assert await asked == ""


async def test_a_host_that_does_not_answer_and_one_that_only_reads_are_passed_over(cells):
    async with Cell("admin", cells[0].dsn).direct() as admin:
        role = "reader_of_" + str(urlsplit(cells[0].dsn).path[1:])
        await admin.execute(f"create role {role} login superuser")
        await admin.execute(f"alter role {role} set default_transaction_read_only = on")
    try:
        parts = urlsplit(cells[0].dsn)
        several = f"127.0.0.1:{free_port()},127.0.0.1:{parts.port}"
        cell = Cell("several", f"postgresql://{parts.username}@{several}{parts.path}")
        await cell.open()
        assert await pid(cell)
        await cell.close()
        with pytest.raises(asyncpg.TargetServerAttributeNotMatched):
            await Cell("reader", f"postgresql://{role}@127.0.0.1:{parts.port}{parts.path}").open()
    finally:
        async with Cell("admin", cells[0].dsn).direct() as admin:
            await admin.execute(f"drop role {role}")


async def test_a_connection_to_what_was_the_primary_is_not_used_again(store):
    cell = store.cells[0]
    async with cell.statement() as tx:
        before = await tx.value("select pg_backend_pid()")
        await tx.run("set default_transaction_read_only = on")
    with pytest.raises(GONE):
        async with cell.statement() as tx:
            await tx.run("update cell set environment = 'dev'")
    assert await pid(cell) != before


async def test_tcp_notices_a_dead_peer_within_seconds_on_both_ends(store):
    async with store.cells[0].pool.acquire() as connection:
        own = connection._transport.get_extra_info("socket")
        assert own.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        names = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT, socket.TCP_USER_TIMEOUT)
        found = [own.getsockopt(socket.IPPROTO_TCP, name) for name in names]
        assert found == [KEEPALIVE_IDLE_S, KEEPALIVE_INTERVAL_S, KEEPALIVE_PROBES, TCP_USER_TIMEOUT_MS]
        theirs = ("tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count", "tcp_user_timeout")
        asked = [await connection.fetchval(f"select current_setting('{name}')") for name in theirs]
        assert list(map(int, asked)) == found


async def test_a_task_is_put_although_every_connection_of_the_pool_died_unnoticed(ctx, store, monkeypatch):
    """Not even looking shows it: the end of the connection arrives only after the statement was sent."""
    await a_type(ctx)
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "41")
    monkeypatch.setattr(connections, "has_unread_data", lambda _connection: False)
    for cell in store.cells:
        await fill(cell)
    end_all(store)
    assert (await tasks.schedule(ctx, "ARTICLE_PUBLISH", "42")).decision == "created"

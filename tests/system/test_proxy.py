"""The proxy in front of a real PostgreSQL: what each kind of weather means for a client."""

import asyncio
import time

import asyncpg
import pytest

from horae.store.tx import GONE
from tests.system.proxy import FaultProxy, proxied

CLOCK_S = 0.002
"""An event loop rounds the times of its timers to milliseconds: two delays may end as much earlier."""


@pytest.fixture(params=["thread", "process"])
def proxy(request, cells):
    if request.param == "thread":
        with proxied(cells[0].dsn) as proxy:
            yield proxy
        return
    proxy = FaultProxy(cells[0].dsn)
    proxy.start()
    yield proxy
    proxy.stop()


@pytest.fixture
async def direct(cells):
    connection = await asyncpg.connect(cells[0].dsn)
    await connection.execute("create table note (text text)")
    yield connection
    await connection.close()


@pytest.fixture
async def client(proxy, direct):
    connection = await asyncpg.connect(proxy.dsn)
    yield connection
    connection.terminate()


async def notes(direct):
    return [row["text"] for row in await direct.fetch("select text from note order by text")]


async def test_a_lost_reply_to_a_commit_leaves_the_row_and_a_client_that_does_not_know(proxy, client, direct):
    transaction = client.transaction()
    await transaction.start()
    await client.execute("insert into note values ('a')")
    proxy.lose_replies(1)
    with pytest.raises(GONE):
        await transaction.commit()
    assert await notes(direct) == ["a"]
    assert proxy.counts()["lost_replies"] == 1


@pytest.mark.parametrize(
    "statement",
    [
        "insert into note values ($1)",
        "insert into note values ($1) returning text",
        "with made as (insert into note values ($1) returning text) select text from made",
    ],
)
async def test_a_write_that_commits_by_itself_loses_its_reply_too(proxy, client, direct, statement):
    proxy.lose_replies(1)
    with pytest.raises(GONE):
        await client.fetch(statement, "a")
    assert await notes(direct) == ["a"]


async def test_a_prepared_write_is_recognised_at_every_use(proxy, client, direct):
    write = await client.prepare("insert into note values ($1)")
    await write.fetch("a")
    proxy.lose_replies(1)
    with pytest.raises(GONE):
        await write.fetch("b")
    assert await notes(direct) == ["a", "b"]


async def test_reads_failures_and_writes_within_a_transaction_lose_nothing(proxy, client, direct):
    proxy.lose_replies(1)
    await client.fetch("select 1")
    with pytest.raises(asyncpg.UndefinedTableError):
        await client.fetch("insert into nothing values (1)")
    transaction = client.transaction()
    await transaction.start()
    await client.execute("insert into note values ('a')")
    await transaction.rollback()
    assert await notes(direct) == []
    assert proxy.counts()["lost_replies"] == 0


async def test_about_one_in_so_many_is_lost_and_none_of_them_is_undone(proxy, direct):
    proxy.lose_replies(10)
    heard, unheard, client = 0, 0, None
    for number in range(300):
        client = client or await asyncpg.connect(proxy.dsn)
        try:
            await client.execute("insert into note values ($1)", f"{number:03}")
            heard += 1
        except GONE:
            unheard, client = unheard + 1, None
    assert await notes(direct) == [f"{number:03}" for number in range(300)]
    assert 10 < unheard < 60
    assert proxy.counts()["lost_replies"] == unheard
    proxy.mend()
    await client.close() if client else None


async def test_a_cut_is_silent_for_old_and_new_and_the_server_hears_nothing(proxy, client, direct):
    pid = client.get_server_pid()
    proxy.cut()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(client.execute("insert into note values ('a')"), 0.3)
    with pytest.raises(TimeoutError):
        await asyncpg.connect(proxy.dsn, timeout=0.3)
    client.terminate()
    await asyncio.sleep(0.1)
    assert await direct.fetchval("select state from pg_stat_activity where pid = $1", pid) == "idle"
    proxy.mend()
    await gone(direct, pid)
    assert await notes(direct) == []
    await (await asyncpg.connect(proxy.dsn)).close()


async def test_what_was_severed_stays_dead_and_new_connections_work(proxy, client, direct):
    proxy.sever()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(client.fetch("select 1"), 0.3)
    other = await asyncpg.connect(proxy.dsn)
    assert await other.fetchval("select 1") == 1
    await other.close()
    pid = client.get_server_pid()
    client.terminate()
    await gone(direct, pid)


async def test_a_reset_is_heard_at_once(proxy, client, direct):
    proxy.reset()
    with pytest.raises(GONE):
        await asyncio.wait_for(client.fetch("select 1"), 5)
    proxy.refuse()
    with pytest.raises((ConnectionError, asyncpg.PostgresError)):
        await asyncpg.connect(proxy.dsn, timeout=5)
    proxy.mend()
    await (await asyncpg.connect(proxy.dsn)).close()


async def test_a_slow_network_delays_every_round_trip_by_both_ways(proxy, client):
    await client.fetch("select 1")
    proxy.slow(0.1)
    began = time.monotonic()
    await client.execute("select 1")
    assert time.monotonic() - began >= 0.2 - CLOCK_S
    proxy.mend()
    assert await client.fetchval("select 2") == 2


async def test_a_trickle_arrives_whole_and_in_order(proxy, client):
    text = "".join(str(number) for number in range(2000))
    proxy.trickle(20_000)
    began = time.monotonic()
    assert await client.fetchval("select $1::text", text) == text
    assert time.monotonic() - began > 0.3
    proxy.mend()
    assert await client.fetchval("select $1::text", text * 100) == text * 100


async def test_each_door_has_its_own_weather(cells):
    proxy = FaultProxy(cells[0].dsn, doors=2)
    proxy.start()
    proxy.cut(0)
    with pytest.raises(TimeoutError):
        await asyncpg.connect(proxy.through(0), timeout=0.3)
    await (await asyncpg.connect(proxy.through(1))).close()
    proxy.mend(0)
    await (await asyncpg.connect(proxy.through(0))).close()
    proxy.stop()


async def gone(direct, pid):
    async with asyncio.timeout(5):
        while await direct.fetchval("select count(*) from pg_stat_activity where pid = $1", pid):
            await asyncio.sleep(0.01)

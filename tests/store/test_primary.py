"""Of several members the newest primary is used, an old one is left, and a commit that waits is never cancelled."""

import asyncio
import socket
from contextlib import contextmanager
from typing import NamedTuple

import asyncpg
import pytest
from structlog.testing import capture_logs

from horae.store.cells import Cell
from horae.store.connections import primary
from horae.store.connections.direct_connection import DirectConnection
from horae.store.connections.primary import connect_to_primary
from horae.store.health import members
from horae.store.tx import GONE
from tests.cluster import SETTINGS, free_port, running_replica, running_server
from tests.memory import quick_folder
from tests.steps import until

STANDBY = "db2"
SMALL = {"shared_buffers": "16MB", "shared_preload_libraries": ""}
FOLLOWS = {"recovery_min_apply_delay": "0", "synchronous_standby_names": "", "horae.zone": "b"}
TABLES = """
    create table written (id int primary key);
    create table clock_offset (offset_ms bigint default 0, vouches bigint default 0);
    insert into clock_offset default values"""
WAITS = "select count(*) from pg_stat_activity where wait_event = 'SyncRep'"


class Pair(NamedTuple):
    """A primary whose commits wait for its standby."""

    first: int
    second: int

    @property
    def dsn(self):
        return f"postgresql://postgres@127.0.0.1:{self.first},127.0.0.1:{self.second}/postgres"

    def at(self, port):
        return f"postgresql://postgres@127.0.0.1:{port}/postgres"

    async def promote(self):
        """Make the standby a primary. The first one does not hear of it, as when its agent hangs."""
        connection = await asyncpg.connect(self.at(self.second))
        assert await connection.fetchval("select pg_promote(true, 30)")
        await connection.close()


@contextmanager
def a_pair():
    settings = SETTINGS | SMALL | {"synchronous_commit": "on", "horae.zone": "a"}
    with (
        quick_folder("horae-primary") as folder,
        quick_folder("horae-standby") as other,
        running_server(folder, settings) as first,
        running_replica(other, first, SETTINGS | SMALL | FOLLOWS) as second,
    ):
        yield Pair(first, second)


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """What a test learns of timelines is forgotten after it: other tests go on with the first one."""
    monkeypatch.setattr(primary, "_newest", {})


@pytest.fixture
async def pair():
    with a_pair() as pair:
        connection = await asyncpg.connect(pair.at(pair.first))
        await connection.execute(TABLES)
        await until(lambda: streams(connection))
        await connection.execute("alter system set synchronous_standby_names = '*'")
        await connection.execute("select pg_reload_conf()")
        await connection.close()
        yield pair


async def streams(connection):
    return await connection.fetchval("select count(*) from pg_stat_replication where state = 'streaming'") == 1


async def server_of(cell):
    async with cell.statement() as tx:
        return await tx.value("select inet_server_port()")


async def test_an_old_primary_that_still_answers_is_left_for_the_new_one(pair):
    cell = Cell("cell-0", pair.dsn, connections=3)
    await cell.open()
    line = DirectConnection(pair.dsn, "lease", patience=2)
    assert await server_of(cell) == pair.first
    assert await line.call(port_of) == pair.first
    looked = await members.read(pair.dsn)
    assert [(one.is_standby, one.zone) for one in looked.members] == [(False, "a"), (True, "b")]
    await pair.promote()
    waiting = asyncio.create_task(write(cell))
    look = await asyncpg.connect(pair.at(pair.first))
    await until(lambda: waits(look))
    with capture_logs() as logs:
        new = await connect_to_primary(pair.dsn, timeout=5)
    assert [(line["event"], line["timeline"]) for line in logs] == [("primary.changed", 2)]
    assert new.server.timeline == 2
    with pytest.raises(GONE):
        await waiting  # long before its deadline
    await look.close()
    await new.close()
    assert await server_of(cell) == pair.second
    assert await line.call(port_of) == pair.second
    assert [one.is_standby for one in (await members.read(pair.dsn)).members] == [False, False]
    await the_old_one_is_refused(pair)
    await line.close()
    await cell.close()


async def the_old_one_is_refused(pair):
    """Also where nothing else answers: this process has seen the timeline after it."""
    nobody = f"postgresql://postgres@127.0.0.1:{pair.first},127.0.0.1:{free_port()}/postgres"
    with pytest.raises(GONE, match="is an old primary: its timeline is 1, the newest is 2"):
        await connect_to_primary(nobody, timeout=5)


async def test_a_cancelled_commit_stays_invisible_until_its_standby_has_it(pair):
    """Otherwise a caller could be answered with a row that a failover loses."""
    await pair.promote()  # from now on no commit of the first one finds its standby
    cell = Cell("cell-0", pair.at(pair.first), connections=2)
    await cell.open()
    writing = asyncio.create_task(write(cell))
    look = await asyncpg.connect(pair.at(pair.first))
    await until(lambda: waits(look))
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True)
    assert await waits(look), "nobody told the server to stop waiting"
    assert await look.fetchval("select count(*) from written") == 0
    look.terminate()
    await cell.close()


async def write(cell):
    async with cell.tx() as tx:
        await tx.run("insert into written values (1)")


async def waits(connection):
    return bool(await connection.fetchval(WAITS))


async def port_of(connection):
    return await connection.fetchval("select inet_server_port()")


async def test_a_member_that_does_not_answer_is_waited_for_once(cells, monkeypatch):
    monkeypatch.setattr(primary, "_silent_until", {})
    with socket.create_server(("127.0.0.1", 0)) as silent:  # the kernel accepts for it, and nobody answers
        port = silent.getsockname()[1]
        user, _, rest = cells[0].dsn.removeprefix("postgresql://").partition("@")
        dsn = f"postgresql://{user}@127.0.0.1:{port},{rest}"
        connection = await connect_to_primary(dsn, timeout=5)
        await connection.close()
        assert [address.port for address in primary._silent_until] == [port]
        monkeypatch.setattr(primary, "SURVEY_S", 60.0)
        connection = await asyncio.wait_for(connect_to_primary(dsn, timeout=5), 30)
        await connection.close()
    with pytest.raises(GONE):
        await connect_to_primary(f"postgresql://x@127.0.0.1:{free_port()},127.0.0.1:{free_port()}/y", timeout=1)


@pytest.mark.parametrize("sqlstate", ["25006", "57P01", "57P02", "57P03"])
def test_a_server_that_is_no_primary_any_more_or_goes_away_is_a_lost_connection(sqlstate):
    error = asyncpg.PostgresError.get_message_class_for_sqlstate(sqlstate)
    assert error.sqlstate == sqlstate
    assert issubclass(error, GONE)

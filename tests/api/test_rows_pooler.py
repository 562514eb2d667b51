"""Pooler traps (R-22): the API through a real PgBouncer in transaction mode."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest
from pydantic import ValidationError

from horae.boot import fitness
from horae.domain.errors import Unfit
from horae.runtime.settings import CellSettings
from horae.security.roles import Role
from horae.store.connections.listener import Listener
from horae.store.store import Store
from tests.api.world import own_shards
from tests.pgbouncer import PROGRAM, connected, pooled, pooling
from tests.steps import query, until

ROOT = Path(__file__).parents[2]
SERVERS = 2
LONG = (pytest.mark.long, pytest.mark.timeout(3600))
LEFT = """
    select (select count(*) from pg_prepared_statements) as statements,
           (select count(*) from pg_listening_channels()) as channels,
           (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks,
           (select count(*) from pg_cursors where name <> '') as cursors,
           (select string_agg(name, ' ') from pg_settings
            where source = 'session' and setting <> reset_val
              and name not in ('application_name', 'client_encoding', 'TimeZone')) as settings,
           nullif(current_setting('horae.tenant', true), '') as tenant,
           pg_my_temp_schema() <> 0 as temporary,
           pg_backend_pid() as server"""
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not installed")
LISTENING = """
    select client_port from pg_stat_activity where application_name ~ 'listener' and datname = current_database()"""


@pytest.fixture
def pooler(cells):
    with pooling(*(cell.dsn for cell in cells), servers=SERVERS) as pooler:
        yield pooler


@pytest.fixture
async def door_cells(cells, pooler):
    through = pooled(cells, pooler)
    await connected(through[0].dsn)
    return through


@pytest.mark.parametrize("many", [20, pytest.param(1000, marks=LONG)])
async def test_many_callers_share_few_servers_and_each_gets_what_it_asked_for(admin, client, store, door_cells, many):
    """More calls at once than the pooler has servers: the statements of one caller meet another server each time."""
    await own_shards(store)
    worker = await client(Role.WORKER)
    for body in ({"name": "TYPE", "trigger": {"kind": "keyed"}}, {"name": "pull"}):
        assert (await admin.post("/jobs", json=body)).status_code == 201

    async def call(number):
        job, once = f"job-{number}", {"Idempotency-Key": f"once-{number}"}
        made = [await admin.post("/jobs", json={"name": job, "cron": "0 0 9 * * ?"}, headers=once) for _ in range(2)]
        assert [one.status_code for one in made] == [201, 201]
        assert len({one.json()["id"] for one in made}) == 1, "the second is the answer that was kept"
        put = await admin.put(f"/tasks/TYPE/{number}", json={"at": "2035-01-01T00:00:00Z", "payload": {"n": number}})
        assert put.json()["decision"] == "created"
        assert (await admin.get(f"/tasks/TYPE/{number}")).json()["live"]["payload"] == {"n": number}
        assert (await admin.post("/jobs/pull/trigger", json={"payload": number}, headers=once)).status_code == 202
        assert (await admin.post(f"/jobs/{job}/pause")).json()["status"] == "PAUSED"

    for first in range(0, many, 50):
        await asyncio.gather(*(call(number) for number in range(first, min(first + 50, many))))
    done = []
    while items := (await worker.post("/workers/poll", json={"queue": "pull", "worker_id": "w"})).json()["items"]:
        ends = [{name: one[name] for name in ("instance_id", "attempt", "token")} for one in items]
        said = await worker.post("/workers/finish", json={"items": ends})
        assert {one["verdict"] for one in said.json()["items"]} == {"done"}
        done += [one["payload"] for one in items]
    assert sorted(done) == list(range(many))
    for cell in door_cells:
        await nothing_is_left_on(cell)


async def nothing_is_left_on(cell):
    """Every server behind the pooler is as if nobody had used it."""
    held = [await asyncpg.connect(cell.dsn, statement_cache_size=0) for _ in range(SERVERS)]
    servers = set()
    for connection in held:  # each stays in its transaction, so that the next one meets another server
        await connection.execute("begin")
        found = dict(await connection.fetchrow(LEFT))
        servers.add(found.pop("server"))
        expected = {"statements": 0, "channels": 0, "locks": 0, "cursors": 0, "settings": None, "tenant": None}
        assert found == expected | {"temporary": False}
    assert len(servers) == SERVERS
    for connection in held:
        await connection.close()


async def test_what_is_made_through_a_pooler_wakes_nodes_by_a_connection_past_it(admin, doors, store, pooler):
    heard = {cell.name: [] for cell in doors.cells}
    listeners = [Listener(cell, heard[cell.name].append) for cell in doors.cells]
    for listener in listeners:
        await listener.once()
        assert not listener.is_stalled
    await until(lambda: all(heard.values()))
    for wakes in heard.values():
        wakes.clear()
    await admin.post("/jobs", json={"name": "TYPE", "trigger": {"kind": "keyed"}})
    await admin.put("/tasks/TYPE/1", json={})
    await until(lambda: any(heard.values()))
    listening = await query(store, LISTENING)  # other tests' processes may listen on the same server
    assert len(listening) == len(listeners)
    for listener in listeners:
        assert urlsplit(listener.cell.dsn).port != pooler.port
        await listener.close()


async def test_a_pooler_that_nobody_spoke_of_is_refused_at_once(door_cells):
    unspoken = [cell.model_copy(update={"pooled": False}) for cell in door_cells]
    with pytest.raises(asyncpg.PostgresError, match="unsupported startup parameter"):
        async with Store.of(unspoken):
            pass


async def test_a_node_refuses_a_pooled_cell(doors, settings):
    with pytest.raises(Unfit, match="cell-0: a node needs sessions of its own"):
        await fitness.check(settings, doors)


def test_a_pooled_cell_needs_a_way_past_the_pooler():
    with pytest.raises(ValidationError, match="direct_dsn"):
        CellSettings(name="cell-0", dsn="postgresql://pooler/horae", pooled=True)


@pytest.mark.parametrize("limit", ["0", "11s"])
async def test_a_role_that_may_stand_idle_in_a_transaction_is_refused_behind_a_pooler(doors, door_cells, store, limit):
    for cell in doors.cells:
        await fitness.check_session(cell)
    name = urlsplit(door_cells[0].dsn).path[1:]
    role = f'role horae_api in database "{name}"'
    await query(store.cells[0], f"alter {role} set idle_in_transaction_session_timeout = '{limit}'")
    with pytest.raises(Unfit, match="idle_in_transaction_session_timeout"):
        await fitness.check_session(doors.cells[0])
    await fitness.check_session(doors.cells[1])


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_every_test_of_the_api_passes_through_a_pooler():
    program = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", "tests/api"]
    done = subprocess.run(
        program, check=False, cwd=ROOT, env=os.environ | {"HORAE_TEST_POOLED": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-4000:]

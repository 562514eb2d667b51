"""`horae serve`: the API server and a node in one process, each with its own role of the database."""

import json
import socket
from itertools import pairwise
from signal import SIGKILL, SIGTERM
from urllib.parse import urlsplit

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from horae.security.roles import Role
from horae.service.identity import api_keys
from horae.service.jobs import jobs
from tests.api.api_servers import Door
from tests.catcher import catching
from tests.cluster import free_port
from tests.steps import count_statements, query, until
from tests.store.walls import as_node, as_role
from tests.system.children import Child

pytestmark = pytest.mark.timeout(240)
LONG = 60.0
API, ENGINE = "horae_api", "horae_engine"
STATEMENTS = """
select r.rolname as role, s.query from pg_stat_statements s join pg_roles r on r.oid = s.userid
where s.dbid = (select oid from pg_database where datname = current_database())
"""


@pytest.fixture
def serve(cells, started):
    """Starts `horae serve` on a free port; `number` tells two apart."""
    api_cells = json.dumps([cell.model_dump() for cell in as_role(cells, "horae_api")])

    def start(*words, number="", kind=Door, **settings):
        told = {"HORAE_API_CELLS": api_cells, "HORAE_LEASE_TTL": "2", "HORAE_GRACE": "5"}
        words = words or ("--port", "0")
        return started(kind, as_node(cells), "serve", *words, number=number, **(told | settings))

    return start


@pytest.fixture
async def catcher(store):
    async with catching(store.cells[0].clock.now) as catcher:
        yield catcher


@pytest.fixture
async def headers(ctx):
    """An admin's key."""
    return {"Authorization": f"Bearer {(await api_keys.create(ctx, 'admin', [Role.ADMIN])).text}"}


async def test_one_process_serves_the_api_and_the_console_and_fires(store, cells, serve, catcher, headers):
    await count_statements(store)
    port = free_port()
    process = serve(HORAE_NODE_MONITORING_PORT=str(port))
    await process.ready(LONG)
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{process.port}", headers=headers, timeout=30) as client:
        job = {"name": "ticks", "cron": "* * * * * *", "target": {"kind": "http", "url": f"{catcher.url}/ticks"}}
        created = await client.post("/api/v1/jobs", json=job, headers={"Idempotency-Key": "create-ticks"})
        assert created.status_code == 201, created.text
        assert "<html" in (await client.get("/console/")).text
        await until(lambda: len(catcher.of("/ticks")) >= 2, LONG)
        probes = f"http://127.0.0.1:{port}"
        assert (await client.get(f"{probes}/healthz")).json() == {"status": "ok"}
        ready = (await client.get(f"{probes}/readyz")).json()
        assert (ready["ready"], ready["degraded"]) == (True, False)
        found = samples((await client.get(f"{probes}/metrics")).text)
    assert {"horae_attempts_total", "horae_nodes_alive", "horae_api_requests_total", "horae_cell_up"} <= found
    await check_roles(store, urlsplit(cells[0].dsn).username)
    process.signal(SIGTERM)
    assert await process.ended(LONG) == 0, process.tail()
    assert "Traceback" not in process.log.read_text(), process.tail()
    assert not await query(store, "select from shard where owner is not null"), "its shards are free at once"


def samples(text):
    """The names of the samples of a scrape. No sample stands there twice, and no family either."""
    families = list(text_string_to_metric_families(text))
    names = [family.name for family in families]
    assert len(names) == len(set(names)), "a family stands there twice"
    keys = [(one.name, *sorted(one.labels.items())) for family in families for one in family.samples]
    assert len(keys) == len(set(keys)), "a sample stands there twice"
    return {name for name, *_ in keys}


async def check_roles(store, owner):
    """Requests were served by the role that row-level security holds, fires by the engine's, upkeep by the owner's."""
    wanted = {"job_version": [API], "instance_history": [ENGINE], "audit_block": [owner]}

    async def as_wanted():
        by_role = dict.fromkeys((API, ENGINE, owner), "")
        for row in await query(store, STATEMENTS):
            by_role[row["role"]] += row["query"].lower() + "\n"
        writers = {table: [role for role in by_role if f"insert into {table}" in by_role[role]] for table in wanted}
        return writers == wanted

    await until(as_wanted, LONG)


async def test_a_killed_process_that_is_started_again_loses_no_fire(ctx, store, serve, catcher, headers):
    first = serve(number="1")
    await first.ready(LONG)
    job = {"name": "ticks", "cron": "* * * * * *", "target": {"kind": "http", "url": f"{catcher.url}/ticks"}}
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{first.port}", headers=headers, timeout=30) as client:
        created = await client.post("/api/v1/jobs", json=job, headers={"Idempotency-Key": "create-ticks"})
        assert created.status_code == 201, created.text
    await until(lambda: len(catcher.of("/ticks")) >= 2, LONG)
    first.signal(SIGKILL)
    await first.ended(LONG)
    before = len(catcher.effects)
    second = serve(number="2")
    await second.ready(LONG)
    await until(lambda: len(catcher.effects) >= before + 3, LONG)
    await jobs.pause(ctx, "ticks")
    ended = "select fire_time from instance_history where state = 'SUCCESS' order by fire_time"

    async def all_ended():
        return len(await query(store, ended)) == len(catcher.effects)

    await until(all_ended, LONG)
    times = [row["fire_time"] for row in await query(store, ended)]
    gaps = {(later - earlier).total_seconds() for earlier, later in pairwise(times)}
    assert gaps == {1.0}, "every second has one fire, those of the time without a process too"


async def test_a_taken_port_is_named_before_a_shard_is_leased(store, serve):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        process = serve("--port", str(port), kind=Child)
        assert await process.ended(LONG) == 5
    said = process.log.read_text()
    assert f"port {port} of 127.0.0.1 is in use by another program" in said
    assert "Traceback" not in said
    assert not await query(store, "select from shard where owner is not null")


async def test_cells_that_the_node_and_the_api_name_differently_are_refused(cells, serve):
    renamed = [as_role(cells, "horae_api")[0].model_copy(update={"name": "other"})]
    process = serve(kind=Child, HORAE_API_CELLS=json.dumps([cell.model_dump() for cell in renamed]))
    assert await process.ended(LONG) == 1
    assert "let HORAE_CELLS and HORAE_API_CELLS name the same cells" in process.log.read_text()

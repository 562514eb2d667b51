"""A filled cell gets the policies of migration 0040 under load, while nodes of the release before go on (R-14)."""

import asyncio
from itertools import pairwise
from signal import SIGTERM

import asyncpg
import pytest

from horae.runtime.settings import CellSettings
from horae.service.context import Context, PlatformContext
from horae.service.tenants import tenants
from horae.store.health import health
from horae.store.store import Store
from tests.catcher import catching
from tests.cluster import SETTINGS, running_server
from tests.engine.fleet import every_fire_has_one_row, steady
from tests.keyring import sealed
from tests.memory import quick_folder
from tests.steps import until
from tests.system.children import ROOT
from tests.system.releases import ReleaseProcess, export_release, find_release_before
from tests.system.test_rows_releases import jobs_fired_since, owners

LONG = (pytest.mark.long, pytest.mark.timeout(1800))
SHORT = pytest.mark.timeout(300)
PATIENCE_S = 90
MAX_STALL_S = 1.0
ROLES = (
    "create role horae_migrate login bypassrls",
    "create role horae_engine login bypassrls",
    "create role horae_relay login bypassrls",
    "create role horae_api login",
    "create role horae_readonly login",
    "grant pg_read_all_stats, pg_signal_backend to horae_engine",
    "create database horae owner horae_migrate",
)
"""As the page of the release before told administrators to make them."""
NO_BYPASS = tuple(f"alter role {role} nobypassrls" for role in ("horae_migrate", "horae_engine", "horae_relay"))
FILL = """
    insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, generation, shard_id,
                                  priority, lane, id, tenant_id, job_id, business_key, state, idem_key)
    select now() - n * interval '10 ms', now(), now(), 1, 1, 0, 1, n % 4096,
           1, 0, gen_random_uuid(), $2, gen_random_uuid(), 'k' || n, 'SUCCESS', 'k' || n
    from generate_series(1, $1::int) n"""


@pytest.fixture
def sources(tmp_path):
    """The sources of the release before, and ours."""
    commit = find_release_before()
    if commit is None:
        pytest.skip("there is no release before: this checkout has no history, or none with fewer migrations")
    return [export_release(commit, tmp_path), ROOT / "src"]


@pytest.fixture
async def dsn():
    """A server of its own, whose roles have BYPASSRLS: its DSN, without role and database."""
    with quick_folder("horae-roles") as folder, running_server(folder, SETTINGS) as port:
        for statement in ROLES:
            await as_superuser(port, statement)
        yield port


async def as_superuser(port, statement):
    connection = await asyncpg.connect(f"postgresql://postgres@127.0.0.1:{port}/postgres")
    await connection.execute(statement)
    await connection.close()


class Fleet:
    """The processes of one deployment, by release."""

    def __init__(self, port, sources, folder):
        self.owner = CellSettings(name="cell-0", dsn=f"postgresql://horae_migrate@127.0.0.1:{port}/horae")
        engine = f"postgresql://horae_engine@127.0.0.1:{port}/horae"
        self._node = CellSettings(name="cell-0", dsn=engine, upkeep_dsn=self.owner.dsn)
        self._sources, self._folder = sources, folder
        self.started = []

    async def migrate(self, release):
        process = self._process(f"migrate-{release}", release, self.owner)
        process.start("-m", "horae", "migrate")
        assert await process.ended(PATIENCE_S) == 0, process.tail()

    def node(self, release):
        process = self._process(f"node-{len(self.started)}", release, self._node)
        process.start("-m", "horae", "node")
        return process

    async def stop(self, process):
        process.signal(SIGTERM)
        assert await process.ended(PATIENCE_S) == 0, process.tail()

    def _process(self, name, release, cell):
        self.started.append(ReleaseProcess(name, self._folder, self._sources[release], [cell]))
        return self.started[-1]


@pytest.fixture
def fleet(dsn, sources, tmp_path):
    made = Fleet(dsn, sources, tmp_path)
    yield made
    for process in made.started:
        process.end()


@pytest.mark.parametrize(
    ("rows", "jobs"), [pytest.param(2_000, 40, marks=SHORT), pytest.param(1_000_000, 500, marks=LONG)]
)
async def test_a_filled_cell_gets_its_policies_under_load(dsn, fleet, rows, jobs, record_property):
    before, now = 0, 1
    await fleet.migrate(before)
    async with Store.of([fleet.owner]) as store, catching(store.cells[0].clock.now) as catcher:
        tenant = await tenants.create(PlatformContext(sealed(store), "test"), "acme", width=4096)
        await fill(fleet.owner.dsn, rows, tenant)
        old = [fleet.node(before), fleet.node(before)]
        await steady(Context.of(store, tenant, "test"), store, catcher, jobs)
        await all_fire(catcher, jobs)
        began = asyncio.get_running_loop().time()
        await fleet.migrate(now)
        took = asyncio.get_running_loop().time() - began
        await all_fire(catcher, jobs)
        stalled = stall(catcher, began)
        fleet.node(now)
        await until(lambda: many_hold_shards(store, 3), PATIENCE_S)
        for statement in NO_BYPASS:
            await as_superuser(dsn, statement)
        await all_fire(catcher, jobs)
        await fleet.stop(old[0])
        fleet.node(now)
        await until(lambda: many_hold_shards(store, 3), PATIENCE_S)
        await all_fire(catcher, jobs)
        for process in [one for one in fleet.started if one.running]:
            await fleet.stop(process)
        fires = await every_fire_has_one_row(store, jobs)
    assert max(catcher.effects.values()) == 1
    figures = {"rows": rows, "fires": fires, "migration_s": round(took, 2), "stall_ms": round(stalled * 1000)}
    for name, value in figures.items():
        record_property(name, value)
    if rows >= 1_000_000:
        assert stalled <= MAX_STALL_S


async def fill(dsn, rows, tenant):
    """Ended instances of a day and a half, by the owner and without the timeout of the store's sessions."""
    connection = await asyncpg.connect(dsn)
    await connection.execute(FILL, rows, tenant.id)
    await connection.close()


async def all_fire(catcher, jobs):
    """Wait until every job has fired once more."""
    seen = len(catcher.arrivals)
    await until(lambda: jobs_fired_since(catcher, seen) == jobs, PATIENCE_S)


async def many_hold_shards(store, many):
    return len(await owners(store)) == many


def stall(catcher, since):
    """The longest time without a call, in seconds."""
    times = [one.began for one in catcher.arrivals if one.began >= since]
    return max(second - first for first, second in pairwise([since, *times]))


async def test_the_roles_of_the_release_before_are_left_as_they_are_and_the_doctor_names_them(dsn, fleet):
    """Other databases of the same server may not be migrated yet: only an administrator knows."""
    await fleet.migrate(1)
    async with Store.of([fleet.owner]) as store, store.cells[0].statement() as tx:
        assert (await health.facts(tx)).bypassing_roles == ("horae_engine", "horae_migrate", "horae_relay")

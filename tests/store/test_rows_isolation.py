"""Isolation (R-23): every transaction is READ COMMITTED on the primary, and a race is decided by the row."""

import asyncio
import os
from collections import Counter
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import asyncpg
import pytest

from horae.domain.errors import Conflict, Unavailable
from horae.domain.instances.outcomes import Success
from horae.domain.jobs.jobs import JobFilter
from horae.service.context import Context
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from horae.store import migrations, transactions
from horae.store.cells import Cell
from horae.store.connections.direct_connection import DirectConnection
from horae.store.connections.listener import Listener
from horae.store.row_level_security import Behalf, restrict
from horae.store.store import Store
from horae.store.tx import GONE
from tests.cluster import SETTINGS, running_replica
from tests.memory import quick_folder
from tests.pgbouncer import PROGRAM, connected, pooled, pooling
from tests.steps import a_job, a_type, claim, query, settle, until

ASKED = "select current_setting('transaction_isolation')"
OTHERS = ["repeatable read", "serializable"]
LONG = (pytest.mark.long, pytest.mark.timeout(900))
WAITS = """
    select from pg_stat_activity
    where wait_event_type = 'Lock' and application_name = 'horae' and datname = current_database()"""
own_server = pytest.mark.skipif("HORAE_TEST_DSN" in os.environ, reason="a replica is made of the tests' own server")
with_pooler = pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not installed")


async def ask_for(cells, isolation):
    """Let the databases give every session another isolation than ours."""
    for cell in cells:
        connection = await asyncpg.connect(cell.dsn)
        name = urlsplit(cell.dsn).path[1:]
        await connection.execute(f"alter database \"{name}\" set default_transaction_isolation = '{isolation}'")
        await connection.close()


async def isolations(store, tenant):
    """What each way to a cell gives."""
    cell = store.cells[0]
    for way in (cell.tx, cell.statement, restrict(store, Behalf(tenant.id)).cells[0].statement):
        async with way() as tx:
            yield await tx.value(ASKED)


@pytest.mark.parametrize("isolation", OTHERS)
async def test_every_way_to_a_cell_is_read_committed_whatever_the_database_has_as_its_default(cells, tenant, isolation):
    await ask_for(cells, isolation)
    plain = await asyncpg.connect(cells[0].dsn)
    assert await plain.fetchval(ASKED) == isolation
    await plain.close()
    async with Store.of(cells) as store:
        assert {one async for one in isolations(store, tenant)} == {"read committed"}
        async with store.cells[0].direct() as connection:
            assert await connection.fetchval(ASKED) == "read committed"
        line = DirectConnection(cells[0].dsn, "test", patience=5)
        assert await line.call(lambda connection: connection.fetchval(ASKED)) == "read committed"
        await line.close()


@with_pooler
async def test_through_a_pooler_every_transaction_is_read_committed_too(cells, tenant):
    await ask_for(cells, "serializable")
    with pooling(*(cell.dsn for cell in cells)) as pooler:
        through = pooled(cells, pooler)
        await connected(through[0].dsn)
        async with Store.of(through) as store:
            assert {one async for one in isolations(store, tenant)} == {"read committed"}


@pytest.mark.parametrize("isolation", OTHERS)
@pytest.mark.parametrize("rounds", [3, pytest.param(300, marks=LONG)])
async def test_a_race_is_decided_by_the_row_and_not_by_an_error(cells, tenant, monkeypatch, isolation, rounds):
    """The second of two writers finds that its row is gone; no transaction is ended for having come second."""
    monkeypatch.setattr(transactions, "TRIES", 1)  # an error that a second try would hide is seen
    await ask_for(cells, isolation)
    async with Store.of(cells) as one, Store.of(cells) as other:
        racers = [Context.of(store, tenant, "test") for store in (one, other)]
        await a_type(racers[0])
        for number in range(rounds):
            await a_job(racers[0], f"job-{number}")
            asked = [tasks.schedule(racers[n % 2], "ARTICLE_PUBLISH", f"key-{number}") for n in range(8)]
            decided = Counter(task.decision for task in await asyncio.gather(*asked))
            assert decided["created"] == 1
            both = [jobs.pause(ctx, f"job-{number}") for ctx in racers]
            paused = await asyncio.gather(*both, return_exceptions=True)
            assert Counter(type(said) for said in paused).keys() == {jobs.Job, Conflict}, paused
        for cell in one.cells:
            for ran in await claim(cell, one, limit=rounds):
                ways = [settle(store, ran, Success()) for store in (one, other)]
                assert sorted(await asyncio.gather(*ways)) == [(0, 1), (1, 0)]


@pytest.mark.parametrize("isolation", OTHERS)
async def test_who_waits_for_a_row_and_finds_it_changed_writes_nothing(cells, tenant, monkeypatch, isolation):
    """An attempt is taken over in the very moment in which its old owner ends it."""
    monkeypatch.setattr(transactions, "TRIES", 1)
    await ask_for(cells, isolation)
    async with Store.of(cells) as store:
        ctx = Context.of(store, tenant, "test")
        await a_type(ctx)
        await tasks.schedule(ctx, "ARTICLE_PUBLISH", "1")
        [ran] = [ran for cell in store.cells for ran in await claim(cell, store)]
        cell = store.cell(ran.shard)
        async with cell.tx() as taking:
            await taking.run("update instance_live set token = gen_random_uuid(), attempt = attempt + 1")
            late = asyncio.create_task(settle(store, ran, Success()))
            await until(lambda: waits(cell))
        assert await late == (0, 1)
        assert len(await query(store, "select from instance_live")) == 1


async def waits(cell):
    async with Cell("looks", cell.dsn).direct() as connection:
        return bool(await connection.fetch(WAITS))


@asynccontextmanager
async def a_replica(cells):
    """The cells as a replica knows them that applies nothing from now on."""
    primary = urlsplit(cells[0].dsn)
    with quick_folder("horae-replica") as folder, running_replica(folder, primary.port, SETTINGS) as port:
        netloc = f"{primary.username}@{primary.hostname}:{port}"
        yield [cell.model_copy(update={"dsn": urlsplit(cell.dsn)._replace(netloc=netloc).geturl()}) for cell in cells]


@own_server
async def test_no_way_to_a_cell_ends_at_a_replica(ctx, cells):
    await a_job(ctx, "j")
    async with a_replica(cells) as replicas:
        stale = await asyncpg.connect(replicas[0].dsn)
        assert await stale.fetchval("select pg_is_in_recovery()"), "it answers whoever does not ask what it is"
        await stale.close()
        cell = Cell("cell-0", replicas[0].dsn)
        with pytest.raises(GONE):
            await cell.open()
        with pytest.raises(GONE):
            await cell.as_owner().open()
        with pytest.raises(GONE):
            async with cell.direct():
                pass
        with pytest.raises(GONE):
            await DirectConnection(cell.dsn, "lease", patience=5).call(
                lambda connection: connection.fetchval("select 1")
            )
        with pytest.raises(GONE):
            await migrations.migrate(replicas, "test")
        listener = Listener(cell, lambda _wake: None)
        await listener.once()
        assert listener.is_stalled
        await of_several_hosts_the_primary_is_asked(cells[0], replicas[0])


async def of_several_hosts_the_primary_is_asked(primary, replica):
    parts = urlsplit(primary.dsn)
    hosts = ",".join(f"127.0.0.1:{urlsplit(one.dsn).port}" for one in (replica, primary))
    cell = Cell("cell-0", f"postgresql://{parts.username}@{hosts}{parts.path}")
    await cell.open()
    async with cell.statement() as tx:
        assert not await tx.value("select pg_is_in_recovery()")
    await cell.close()


@own_server
@with_pooler
async def test_a_pooler_that_is_led_to_a_replica_serves_nothing_rather_than_the_past(ctx, cells):
    await a_job(ctx, "removed-later")
    async with a_replica(cells) as replicas:
        with pooling(*(cell.dsn for cell in cells)) as pooler:
            through = pooled(cells, pooler)
            await connected(through[0].dsn)
            async with Store.of(through) as doors:
                caller = Context.of(restrict(doors, Behalf(ctx.tenant.id)), ctx.tenant, "caller")
                assert [job.name for job in await jobs.page(caller, JobFilter())] == ["removed-later"]
                await jobs.remove(ctx, "removed-later")
                pooler.lead_to(*(cell.dsn for cell in replicas))
                with pytest.raises(Unavailable):
                    await read_until_refused(caller)
                for cell in doors.cells:
                    for way in (cell.tx, cell.statement):
                        with pytest.raises(GONE):
                            async with way():
                                pass
                pooler.lead_to(*(cell.dsn for cell in cells))
                await until(lambda: is_served(caller))


async def read_until_refused(caller):
    for _ in range(10_000):
        assert await jobs.page(caller, JobFilter()) == [], "what a replica still says decides nothing"


async def is_served(caller):
    try:
        return await jobs.page(caller, JobFilter()) == []
    except Unavailable:
        return False

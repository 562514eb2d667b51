"""The lock of notifications (R-15): one for all commits of a server, and no fire and no write of a caller takes it."""

import asyncio
import os
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import asyncpg
import pytest

from horae.domain.targets.targets import HttpTarget
from horae.service.context import Context
from horae.service.tasks import tasks
from horae.store.nodes import wakes
from horae.store.store import Store
from horae.upkeep.copies import Copier
from tests.engine.fleet import every_fire_has_one_row, several, steady
from tests.engine.running import running
from tests.steps import a_type, query, until

pytestmark = pytest.mark.skipif("HORAE_TEST_DSN" in os.environ, reason="it changes settings of the whole server")
LONG = (pytest.mark.long, pytest.mark.timeout(1800))
WAKE = "horae wake"
LOCK = """
    select a.application_name as name, l.granted from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'object' and l.classid = 'pg_database'::regclass and l.objid = 0"""
STUCK = "select from pg_stat_activity where application_name = 'holder' and wait_event = 'SyncRep'"
HANG = "select pg_logical_emit_message(true, 'holder', ''), pg_notify('elsewhere', 'x')"
"""A commit waits for a replica only where it has written something before."""
LOGGED = {"log_lock_waits": "on", "deadlock_timeout": "1ms", "log_line_prefix": "%a|"}
"""Every wait of more than a millisecond leaves a line that names who waited."""
LOG = "select pg_read_file(current_setting('data_directory') || '/../log')"


@asynccontextmanager
async def settings_of_server(dsn, **settings):
    """Settings of the whole server while the block lasts."""
    admin = await asyncpg.connect(dsn)
    for name, value in settings.items():
        await admin.execute(f"alter system set {name} = '{value}'")
    await admin.execute("select pg_reload_conf()")
    try:
        yield admin
    finally:
        for name in settings:
            await admin.execute(f"alter system reset {name}")
        await admin.execute("select pg_reload_conf()")
        await admin.close()


@asynccontextmanager
async def held_by_another(dsn):
    """Somebody notifies and hangs in the commit, with the lock: it waits for a replica that does not exist."""
    holder = await asyncpg.connect(dsn, server_settings={"application_name": "holder", "synchronous_commit": "on"})

    async def stuck():
        nonlocal notifying
        if notifying.done():  # the server had not heard of its new setting yet
            notifying = asyncio.create_task(holder.execute(HANG))
        return bool(await admin.fetch(STUCK))

    async with settings_of_server(dsn, synchronous_standby_names="nobody") as admin:
        notifying = asyncio.create_task(holder.execute(HANG))
        await until(stuck, 30)
        yield admin
    await notifying
    await holder.close()


@pytest.mark.parametrize(("jobs", "fires"), [(40, 120), pytest.param(1000, 100_000, marks=LONG)])
async def test_while_somebody_holds_the_lock_fires_and_writes_go_on(ctx, store, cells, catcher, jobs, fires):
    await a_type(ctx, target=HttpTarget(f"{catcher.url}/task"))
    await steady(ctx, store, catcher, jobs)
    async with running(store):
        await until(lambda: len(catcher.arrivals) >= jobs, 60)
        async with held_by_another(cells[0].dsn) as admin:
            before, [ended] = (
                len(catcher.arrivals),
                await query(store.cells[0], "select count(*) from instance_history"),
            )
            for number in range(jobs):
                put = await tasks.schedule(ctx, "ARTICLE_PUBLISH", f"held-{number}")
                assert put.decision == "created"
            assert {row["name"] for row in await locked(admin, granted=False)} <= {WAKE}
            await until(lambda: len(catcher.arrivals) >= before + fires, fires / 100 + 60)
            [after] = await query(store.cells[0], "select count(*) from instance_history")
            assert after[0] > ended[0]
            await store.wakes.close()  # what it still had to say is said, or dropped
            store.wakes.wake(store.shards_of(store.cells[0])[0], store.cells[0].clock.now())
            await until(lambda: wake_waits(admin))
            assert [row["name"] for row in await locked(admin, granted=True)] == ["holder"]
            assert {row["name"] for row in await locked(admin, granted=False)} == {WAKE}
    await every_fire_has_one_row(store, jobs)


async def locked(admin, *, granted):
    return [row for row in await admin.fetch(LOCK) if row["granted"] is granted]


async def wake_waits(admin):
    return bool(await locked(admin, granted=False))


async def test_notifications_that_nobody_waits_for_any_more_do_not_pile_up(store, cells, monkeypatch):
    """A commit has no statement_timeout: who gave up on one would leave a session behind each time."""
    monkeypatch.setattr(wakes, "NOTIFY_TIMEOUT_S", 0.3)
    monkeypatch.setattr(wakes, "FAILURE_PAUSE_S", 0.01)
    cell, sent = store.cells[0], []
    notify = wakes.notify

    async def count(connection, wake):
        sent.append(wake)
        await notify(connection, wake)

    monkeypatch.setattr(wakes, "notify", count)
    async with held_by_another(cells[0].dsn) as admin:

        def told_often():
            store.wakes.wake(store.shards_of(cell)[0], cell.clock.now())
            return len(sent) >= 8

        await until(told_often, 60)

        async def few_wait():
            return len(await locked(admin, granted=False)) <= 2

        await until(few_wait)


async def test_nothing_in_the_database_notifies(store):
    found = await query(
        store,
        "select proname from pg_proc where pronamespace = 'public'::regnamespace and prosrc ~* 'notify'"
        " union all select rulename from pg_rules where schemaname = 'public' and definition ~* 'notify'",
    )
    assert found == []


@pytest.mark.parametrize(
    ("processes", "writers", "each"), [(2, 8, 15), pytest.param(4, 64, 500, marks=LONG)], ids=["few", "many"]
)
async def test_under_load_nobody_but_wakes_waits_for_the_lock(
    ctx, store, cells, catcher, tenant, processes, writers, each
):
    """Nodes fire beside processes that schedule tasks; the server writes down who waits for what."""
    await a_type(ctx, target=HttpTarget(f"{catcher.url}/task"))
    await Copier(store).once()
    await steady(ctx, store, catcher, 60)
    for cell in cells:  # the tests' server is told to log nothing by its command line, which goes before its files
        await query(store.cells[0], f"alter database \"{urlsplit(cell.dsn).path[1:]}\" set log_min_messages = 'log'")
    async with settings_of_server(cells[0].dsn, **LOGGED) as admin:
        begin = len(await admin.fetchval(LOG))
        async with several(cells, 2):
            await asyncio.gather(*(schedule_by_many(cells, tenant, n, writers, each) for n in range(processes)))
            total = processes * writers * each
            await until(lambda: tasks_that_arrived(catcher) >= total, total / 50 + 60)
        waits = [line for line in (await admin.fetchval(LOG))[begin:].splitlines() if "still waiting" in line]
        assert [line for line in waits if " on object " in line and not line.startswith(f"{WAKE}|")] == []
        async with held_by_another(cells[0].dsn):
            await wait_in_vain(cells[0].dsn)
        assert "control|LOG:  process" in (await admin.fetchval(LOG))[begin:], "a wait is seen where there is one"


async def schedule_by_many(cells, tenant, process, writers, each):
    """One process with its own pools and its own notifications."""
    async with Store.of(cells) as own:
        ctx = Context.of(own, tenant, "test")

        async def write(writer):
            for number in range(each):
                put = await tasks.schedule(ctx, "ARTICLE_PUBLISH", f"{process}-{writer}-{number}")
                assert put.decision == "created"

        await asyncio.gather(*map(write, range(writers)))


def tasks_that_arrived(catcher):
    return len({arrival.key for arrival in catcher.arrivals if arrival.path == "/task"})


async def wait_in_vain(dsn):
    control = await asyncpg.connect(dsn, server_settings={"application_name": "control", "lock_timeout": "500ms"})
    with pytest.raises(asyncpg.LockNotAvailableError):
        await control.execute("select pg_notify('elsewhere', 'y')")
    await control.close()

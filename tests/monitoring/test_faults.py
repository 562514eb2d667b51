"""Each alert is fired by a real fault and ends after it: real processes, Prometheus and Alertmanager."""

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta
from signal import SIGCONT, SIGSTOP

import asyncpg
import pytest
import yaml

from horae.boot.preparing import prepare
from horae.domain.events.channels import Subscription, WebhookAddress
from horae.domain.instances.retries import RetryPolicy
from horae.runtime.settings import Settings
from horae.service.events import subscriptions
from horae.service.instances import dead_letters
from horae.store.databases import archived_days, clock, days, partitions
from tests.cluster import free_port
from tests.monitoring.conftest import RULES
from tests.monitoring.servers import LONG, receiving
from tests.steps import until

pytestmark = pytest.mark.timeout(400)
FAULTS = {}
"""Faults by the alert that they fire: a function that makes it, and gives the way back to the block."""
IN_THE_SUITE = ("HoraeCellDown",)
"""The others take minutes together: they are `long`."""
WITHOUT_A_FAULT = {
    "HoraeErrorBudgetBurning",
    "HoraeFireAuditBehind",
    "HoraeIntakeBehind",
    "HoraeRelayLag",
    "HoraeSourceDrift",
    "HoraeWalNotArchived",
}
"""Only tried with made-up series: a broker, a request and a list that fail for long are tested with their duties, and
so are the walk of an audit, and a budget, whose burn rate lasts for minutes after its fault
(`tests/engine/test_service_level.py`). The servers here archive no WAL: `tests/system/test_restore.py` has one that
does."""


def fault(name, prepare_it=None):
    """Name the alert that a fault fires. `prepare_it` is called before anything is started."""

    def known(function):
        FAULTS[name] = prepare_it, asynccontextmanager(function)
        return function

    return known


@fault("HoraeNodeGone")
async def kill_a_node(watched):
    await watched.kill("node-2")
    yield
    watched.start("node-2")


@fault("HoraeNoNode")
@fault("HoraeShardsUnleased")
async def kill_all_nodes(watched):
    await watched.kill("node-1", "node-2")
    yield
    watched.start("node-1")
    watched.start("node-2")


@fault("HoraeApiGone")
async def kill_the_api(watched):
    await watched.kill("api")
    yield
    watched.start("api")


@fault("HoraeNodeFrozen")
async def freeze_a_node(watched):
    watched.children["node-2"].signal(SIGSTOP)
    yield
    watched.children["node-2"].signal(SIGCONT)


@fault("HoraeCellDown")
async def refuse_connections(watched):
    watched.proxies[0].refuse()
    yield
    watched.proxies[0].mend()


@fault("HoraeNodeStuck")
@fault("HoraeLeaseEnding")
async def drop_packets(watched):
    watched.proxies[0].cut()
    yield
    watched.proxies[0].mend()


@fault("HoraeTriggersLate")
async def stop_all_nodes_for_seconds(watched):
    await watched.fire_every_second()
    for name in ("node-1", "node-2"):
        watched.children[name].signal(SIGSTOP)
    await asyncio.sleep(6)
    for name in ("node-1", "node-2"):
        watched.children[name].signal(SIGCONT)
    yield


@fault("HoraeSuccessRateLow")
@fault("HoraeBreakerOpen")
async def fail_every_call(watched):
    await watched.fire_every_second()
    await watched.sees('sum(rate(horae_attempts_total{result="success"}[5s])) > 0')
    watched.catcher.answer = lambda _arrival: 500
    yield
    watched.catcher.answer = lambda _arrival: 200


@fault("HoraeRetryBacklogHigh")
async def fail_every_call_before_its_last_attempt(watched):
    watched.catcher.answer = lambda _arrival: 500
    await watched.fire_every_second(retry=RetryPolicy(base=5, longest=5, max_failures=100))
    yield
    watched.catcher.answer = lambda _arrival: 200


def few_slots(watched):
    watched.settings["HORAE_SLOTS"] = "3"


@fault("HoraeBacklogHigh", few_slots)
async def hang_in_every_slot(watched):
    watched.catcher.answer = lambda _arrival: None
    await watched.fire_every_second(jobs=6)
    yield
    watched.catcher.answer = lambda _arrival: 200
    watched.catcher.release()


@fault("HoraeDeadLettersGrow")
async def refuse_every_call(watched):
    watched.catcher.answer = lambda _arrival: 400
    await watched.fire_every_second()
    yield
    watched.catcher.answer = lambda _arrival: 200


@fault("HoraeDeadLettersOpen")
async def leave_dead_letters(watched):
    watched.catcher.answer = lambda _arrival: 400
    await watched.fire_every_second(jobs=2)
    yield
    watched.catcher.answer = lambda _arrival: 200
    answered = len(watched.catcher.effects)
    await until(lambda: len(watched.catcher.effects) > answered + 4, LONG)
    for dead_letter in await dead_letters.listing(watched.ctx, limit=1000):
        await dead_letters.discard(watched.ctx, dead_letter.instance_id)


@fault("HoraeClockUntrusted")
async def doubt_the_clock_of_a_database(watched):
    """As the process does that saw it jump; `tests/system/faults/clocks.py` moves the clock of a real PostgreSQL."""
    cell = watched.store.cells[0]
    async with cell.tx() as tx:
        await clock.doubt(tx, timedelta(hours=1))
    yield
    async with cell.statement() as tx:
        await clock.vouch(tx)


@fault("HoraeResultsUnwritten")
async def cut_the_cells_while_calls_run(watched):
    watched.catcher.answer = lambda _arrival: None
    await watched.fire_every_second()
    for proxy in watched.proxies:
        proxy.cut()
    watched.catcher.release()
    yield
    watched.catcher.answer = lambda _arrival: 200
    for proxy in watched.proxies:
        proxy.mend()


@asynccontextmanager
async def session(watched, number=0):
    """A session of somebody else in a cell."""
    connection = await asyncpg.connect(watched.cells[number].dsn)
    try:
        yield connection
    finally:
        await connection.close()


@fault("HoraePoolExhausted")
@fault("HoraeApiSlow")
async def lock_the_jobs(watched):
    async with session(watched) as somebody, asyncio.TaskGroup() as callers:
        asking = asyncio.Event()
        asking.set()

        async def ask():
            while asking.is_set():
                await watched.get("/jobs")

        await watched.sees("sum(horae_api_requests_total) or vector(1)")
        transaction = somebody.transaction()
        await transaction.start()
        await somebody.execute("lock table job in access exclusive mode")
        for _ in range(40):
            callers.create_task(ask())
        yield
        await transaction.rollback()
        await watched.sees("histogram_quantile(0.95, sum by (le) (rate(horae_api_request_seconds_bucket[5s]))) < 1")
        asking.clear()


@fault("HoraeApiErrors")
async def refuse_the_api(watched):
    assert await watched.get("/jobs") == 200
    for proxy in watched.proxies:
        proxy.refuse()
    async with asyncio.TaskGroup() as callers:
        asking = asyncio.Event()
        asking.set()

        async def ask():
            while asking.is_set():
                await watched.get("/jobs")

        callers.create_task(ask())
        yield
        for proxy in watched.proxies:
            proxy.mend()
        await watched.sees('sum(rate(horae_api_requests_total{status=~"5.."}[5s])) == 0')
        asking.clear()


@fault("HoraePartitionMissing")
async def drop_a_day(watched):
    cell = watched.store.cells[0]
    day = (cell.clock.now() + timedelta(days=1)).date()
    async with session(watched) as somebody:
        await somebody.execute(f"drop table instance_history_{day:%Y%m%d}")
    yield
    await prepare(Settings(cells=watched.cells, environment="test"))  # `horae migrate`


async def an_old_day(watched, age_days):
    cell = watched.store.cells[0]
    async with cell.tx() as tx:
        assert await partitions.ensure(tx, (tx.now - timedelta(days=age_days)).date(), 1)


FOUND = """
    insert into fire_finding (found_at, seen_at, fire_time, fires, shard_id, job_id, tenant_id, fault, said)
    select now(), now(), now(), 1, j.shard_id, j.id, j.tenant_id, 'MISSING', 'found by an audit'
    from job j limit 1"""


@fault("HoraeFireFaults")
async def find_a_fault(watched):
    async with session(watched) as somebody:
        await somebody.execute(FOUND)
        yield
        await somebody.execute("update fire_finding set ended_at = found_at")


@fault("HoraeDaysNotDropped")
async def keep_days_from_being_dropped(watched):
    async with session(watched) as somebody:
        async with asyncio.timeout(LONG):
            while not await days.lock(somebody):
                await asyncio.sleep(0.05)
        await an_old_day(watched, 20)
        yield


def with_archive(watched):
    watched.settings["HORAE_ARCHIVE"] = f"file://{watched.prometheus.folder}/archive"


@fault("HoraeArchiveBehind", with_archive)
async def keep_days_from_being_archived(watched):
    async with session(watched) as somebody:
        async with asyncio.timeout(LONG):
            while not await archived_days.lock(somebody):
                await asyncio.sleep(0.05)
        await an_old_day(watched, 5)
        yield


def small_disk(watched):
    watched.settings["HORAE_DISK_BYTES"] = "10MiB"


@fault("HoraeDiskFull", small_disk)
async def have_a_small_disk(watched):
    yield
    watched.settings["HORAE_DISK_BYTES"] = "100GiB"
    await watched.kill("node-1", "node-2")
    watched.start("node-1")
    watched.start("node-2")


@fault("HoraeFeedLag")
async def close_a_sink(watched):
    port = free_port()
    sink = Subscription(WebhookAddress(f"http://127.0.0.1:{port}/", "crm"))
    await subscriptions.put(watched.ctx, "crm", sink)
    await watched.fire_every_second(jobs=2)
    yield
    async with receiving(port) as opened:
        await until(lambda: len(opened.bodies) > 0, LONG)
        await until(lambda: "resolved" in watched.hook.alerts("HoraeFeedLag"), LONG)


def test_every_alert_has_its_fault():
    rules = {rule["alert"] for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]}
    assert FAULTS.keys() == rules - WITHOUT_A_FAULT
    assert len(FAULTS) >= 14


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in IN_THE_SUITE else pytest.mark.long) for name in FAULTS]
)
async def test_a_fault_fires_its_alert_and_its_end_resolves_it(watched, name):
    prepare_it, strike = FAULTS[name]
    if prepare_it is not None:
        prepare_it(watched)
    await watched.begin()
    async with strike(watched):
        await until(lambda: "firing" in watched.hook.alerts(name), LONG)
    await until(lambda: watched.hook.alerts(name)[-1] == "resolved", 2 * LONG)
    assert watched.hook.alerts(name)[0] == "firing"

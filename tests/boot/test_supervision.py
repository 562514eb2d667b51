"""A process that a service manager has started tells when it is ready, that it makes progress, and that it stops."""

import json
from signal import SIGTERM

import pytest

from horae.boot.supervision import ServiceReporter
from horae.domain.health.readiness import CellState, needs_restart
from horae.runtime.service_manager import READY, STOPPING, WATCHDOG, ServiceManager
from tests.api.api_servers import Door
from tests.cell_down import first_behind, mended_proxy
from tests.cluster import free_port
from tests.service_manager import Manager
from tests.steps import until
from tests.system.children import Child

pytestmark = pytest.mark.timeout(240)
LONG = 60.0
WELL, DOWN = CellState("cell-0", None), CellState("cell-1", "its lease is not renewed")
STUCK = CellState("cell-0", "no progress: feeder of cell-0", restart_helps=True)


@pytest.fixture
def manager(tmp_path):
    made = Manager(tmp_path / "notify")
    yield made
    made.close()


@pytest.mark.parametrize("word", ["node", "api", "serve"])
async def test_it_is_ready_after_its_start_and_says_that_it_stops(cells, started, manager, word):
    words, kind = ((word,), Child) if word == "node" else ((word, "--port", "0"), Door)
    settings = {"HORAE_LEASE_TTL": "2", "HORAE_NODE_MONITORING_PORT": "0", "HORAE_API_MONITORING_PORT": "0"}
    child = started(kind, cells, *words, **settings, **manager.environment)
    await until(lambda: manager.has(READY), LONG)
    await until(lambda: manager.count(WATCHDOG) >= 3, LONG)
    assert manager.statuses[-1] == "ready"
    assert not manager.has(STOPPING)
    child.signal(SIGTERM)
    assert await child.ended(LONG) == 0
    await until(lambda: manager.has(STOPPING), LONG)
    assert manager.count(READY) == 1
    assert STOPPING in manager.messages[-1][1], "nothing comes after the last words"


async def test_a_database_that_is_down_restarts_nothing(cells, started, manager):
    with mended_proxy(cells) as proxy:
        reached = first_behind(cells[:1], proxy)
        settings = {"HORAE_LEASE_TTL": "2", "HORAE_NODE_MONITORING_PORT": str(free_port())}
        started(Child, reached, "node", **settings, **manager.environment)
        await until(lambda: manager.has(READY), LONG)
        proxy.cut()
        await until(lambda: manager.statuses[-1].startswith("not ready: "), LONG)
        fed = manager.count(WATCHDOG)
        await until(lambda: manager.count(WATCHDOG) >= fed + 20, LONG)
        assert manager.statuses[-1].startswith("not ready: ")
        proxy.mend()
        await until(lambda: manager.statuses[-1] == "ready", LONG)


async def test_no_progress_although_the_database_answers_stops_feeding_the_watchdog(manager):
    cells = [STUCK]
    reporter = ServiceReporter(ServiceManager(manager.environment["NOTIFY_SOCKET"], 1.0), lambda: cells)
    await reporter.once()
    cells[:] = [WELL]
    await reporter.once()
    await reporter.once()
    cells[:] = [STUCK]
    await reporter.once()
    await until(lambda: len(manager.messages) == 4, LONG)
    assert [lines for _, lines in manager.messages] == [
        ["STATUS=not ready: cell-0: no progress: feeder of cell-0"],
        [READY, WATCHDOG, "STATUS=ready"],
        [WATCHDOG],
        ["STATUS=not ready: cell-0: no progress: feeder of cell-0"],
    ]


async def test_a_report_that_could_not_be_sent_is_sent_again(tmp_path):
    reporter = ServiceReporter(ServiceManager(str(tmp_path / "late"), None), lambda: [WELL])
    await reporter.once()
    manager = Manager(tmp_path / "late")
    await reporter.once()
    await until(lambda: manager.has(READY), LONG)
    manager.close()


@pytest.mark.parametrize(
    ("cells", "restart"),
    [
        ([WELL], False),
        ([DOWN], False),
        ([STUCK], True),
        ([STUCK, DOWN], True),
        ([STUCK, CellState("cell-1", None)], False),
        ([], False),
    ],
    ids=json.dumps,
)
def test_a_restart_is_for_a_process_that_does_nothing_although_it_could(cells, restart):
    assert needs_restart(cells) is restart

"""A process whose event loop is blocked says so, from a thread of its own, and is ready again afterwards.

Meanwhile it does not feed the watchdog of its service manager.
"""

import sys
import time
from signal import SIGUSR1

import pytest

from horae.domain.health.readiness import MAX_LOOP_SILENCE_S
from horae.runtime.service_manager import READY, WATCHDOG
from tests.boot.conftest import started  # noqa: F401 - the fixture
from tests.boot.test_monitoring import Probed
from tests.cluster import free_port
from tests.service_manager import Manager
from tests.steps import until
from tests.system.children import Child

pytestmark = pytest.mark.timeout(240)
PROMISED_S = 15.0
LONG = 60.0
PROGRAM = (sys.executable, "-m", "tests.monitoring.quick_process")


@pytest.mark.parametrize("word", ["node", "api"])
async def test_a_blocked_loop_turns_readiness_red_and_back(cells, started, tmp_path, word):  # noqa: F811
    port, manager = free_port(), Manager(tmp_path / "notify")
    words = (word, "--port", "0") if word == "api" else (word,)
    settings = {f"HORAE_{word.upper()}_MONITORING_PORT": str(port), **manager.environment}
    child = started(QuickChild, cells, *words, **settings)
    process = Probed(child, port)
    await until(lambda: manager.has(READY), LONG)
    assert (await process.get("/readyz")).status_code == 200
    child.signal(SIGUSR1)
    began = time.monotonic()
    said = await process.says(503, ready=False)
    assert time.monotonic() - began <= PROMISED_S
    assert manager.silence_s(WATCHDOG) > MAX_LOOP_SILENCE_S / 2, "systemd would restart it in a minute"
    assert said["reasons"][0].startswith("the event loop has not turned for ")
    assert (await process.get("/healthz")).status_code == 200, "nobody restarts it for a few seconds"
    await process.says(200, ready=True)
    assert time.monotonic() - began <= 2 * PROMISED_S
    fed = manager.count(WATCHDOG)
    await until(lambda: manager.count(WATCHDOG) > fed, LONG)
    await process.client.aclose()
    manager.close()


class QuickChild(Child):
    """Runs the program that can be blocked."""

    def spawn(self, command, env=None, **facts):
        super().spawn([*PROGRAM, *command[1:]], env, **facts)

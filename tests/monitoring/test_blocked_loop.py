"""A process whose event loop is blocked says so, from a thread of its own, and is ready again afterwards."""

import sys
import time
from signal import SIGUSR1

import pytest

from tests.boot.conftest import started  # noqa: F401 - the fixture
from tests.boot.test_monitoring import Probed
from tests.cluster import free_port
from tests.system.children import Child

pytestmark = pytest.mark.timeout(240)
PROMISED_S = 15.0
PROGRAM = (sys.executable, "-m", "tests.monitoring.quick_process")


@pytest.mark.parametrize("word", ["node", "api"])
async def test_a_blocked_loop_turns_readiness_red_and_back(cells, started, word):  # noqa: F811
    port = free_port()
    words = (word, "--port", "0") if word == "api" else (word,)
    child = started(QuickChild, cells, *words, **{f"HORAE_{word.upper()}_MONITORING_PORT": str(port)})
    process = Probed(child, port)
    await process.says(200, ready=True)
    child.signal(SIGUSR1)
    began = time.monotonic()
    said = await process.says(503, ready=False)
    assert time.monotonic() - began <= PROMISED_S
    assert said["reasons"][0].startswith("the event loop has not turned for ")
    assert (await process.get("/healthz")).status_code == 200, "nobody restarts it for a few seconds"
    await process.says(200, ready=True)
    assert time.monotonic() - began <= 2 * PROMISED_S
    await process.client.aclose()


class QuickChild(Child):
    """Runs the program that can be blocked."""

    def spawn(self, command, env=None, **facts):
        super().spawn([*PROGRAM, *command[1:]], env, **facts)

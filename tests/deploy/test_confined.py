"""A node and an API server work under the limits of their units."""

import re
import sys
from pathlib import Path
from signal import SIGTERM

import httpx2
import pytest

from horae.domain.targets.targets import HttpTarget
from horae.runtime.service_manager import READY
from tests.api.api_servers import Door
from tests.boot.conftest import started  # noqa: F401 - the fixture
from tests.catcher import catching
from tests.service_manager import Manager
from tests.steps import a_job, every, until
from tests.system.children import Child

pytestmark = pytest.mark.timeout(240)
LONG = 60.0
CONFINED = (sys.executable, "-m", "tests.deploy.confined")


class ConfinedChild(Child):
    """A process under the limits."""

    def spawn(self, command, env=None, **facts):
        super().spawn([*CONFINED, *command], env, **facts)


class ConfinedDoor(Door):
    """An API server under the limits."""

    def spawn(self, command, env=None, **facts):
        super().spawn([*CONFINED, *command], env, **facts)


def refusals(child):
    """Lines of the log about something that the limits refused."""
    refused = re.compile(
        r"Operation not permitted|Address family not supported|Read-only file system|Errno (1|97|30)\b"
    )
    return [line for line in child.log.read_text().splitlines() if refused.search(line)]


def filters_of(child):
    """How many filters of system calls a process has."""
    status = Path(f"/proc/{child.pid}/status").read_text()
    return int(re.search(r"^Seccomp_filters:\s*(\d+)$", status, re.MULTILINE)[1])


async def test_a_confined_node_is_ready_and_fires(ctx, cells, store, started, tmp_path):  # noqa: F811
    manager = Manager(tmp_path / "notify")
    settings = {"HORAE_LEASE_TTL": "2", "HORAE_NODE_MONITORING_PORT": "0", **manager.environment}
    async with catching(store.cells[0].clock.now) as catcher:
        await a_job(ctx, "job", every(ctx, 1, "job"), target=HttpTarget(f"{catcher.url}/job"))
        child = started(ConfinedChild, cells, "node", **settings)
        await until(lambda: manager.has(READY), LONG)
        assert filters_of(child) >= 3
        await until(lambda: len(catcher.arrivals) >= 2, LONG)
        child.signal(SIGTERM)
        assert await child.ended(LONG) == 0, child.tail()
    assert refusals(child) == []
    manager.close()


async def test_a_confined_api_server_answers(cells, started, tmp_path):  # noqa: F811
    manager = Manager(tmp_path / "notify")
    child = started(ConfinedDoor, cells, "api", "--port", "0", HORAE_API_MONITORING_PORT="0", **manager.environment)
    await until(lambda: manager.has(READY), LONG)
    await child.ready()
    assert filters_of(child) >= 3
    async with httpx2.AsyncClient() as client:
        assert (await client.get(f"http://127.0.0.1:{child.port}/healthz")).status_code == 200
    child.signal(SIGTERM)
    assert await child.ended(LONG) == 0, child.tail()
    assert refusals(child) == []
    manager.close()

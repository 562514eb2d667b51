"""Two nodes and an API process behind proxies, watched by the real Prometheus."""

import json
import re
import sys
from contextlib import ExitStack
from pathlib import Path
from signal import SIGKILL

import httpx2
import pytest

from horae.domain.targets.targets import HttpTarget
from horae.security.roles import Role
from horae.service.identity import api_keys
from tests.api.api_servers import CLEAN, SECRET, Door
from tests.catcher import catching
from tests.cell_down import first_behind, mended_proxy
from tests.cluster import free_port
from tests.keyring import keyring
from tests.monitoring.servers import LONG, Prometheus, receiving
from tests.steps import a_job, every, until
from tests.system.children import Child

RULES = Path(__file__).parents[2] / "deploy/prometheus/horae.rules.yml"
JOBS = 12
"""Jobs that fire every second."""
SMALLER = {
    "horae_backlog_instances) > 5000": "horae_backlog_instances) > 20",
    "horae_retry_backlog_instances) > 1000": "horae_retry_backlog_instances) > 20",
    "horae_feed_lag_seconds) > 300": "horae_feed_lag_seconds) > 30",
}
"""Limits that a test would need many minutes to reach."""


def quick_rules():
    """The rules with short windows and without patience."""
    text = re.sub(r"\[(5|10)m\]", "[15s]", RULES.read_text())
    text = re.sub(r"for: \d+[smh]", "for: 2s", text.replace("[1m]", "[5s]"))
    for large, small in SMALLER.items():
        assert text.count(large) == 1
        text = text.replace(large, small)
    return text


class Watched:
    """What runs: nodes and an API process, the proxies before the cells, a target, and Prometheus."""

    def __init__(self, ctx, cells, proxies, folder, catcher, hook):
        self.ctx, self.store, self.catcher, self.hook = ctx, ctx.store, catcher, hook
        self.cells, self.proxies = cells, proxies
        self.reached = [first_behind([cell], proxy)[0] for cell, proxy in zip(cells, proxies, strict=True)]
        self.prometheus = Prometheus(folder)
        self.settings = {"HORAE_SECRETS": json.dumps({"acme": {"crm": "whsec_" + "c2VjcmV0" * 4}})}
        self.ports = {name: free_port() for name in ("node-1", "node-2", "api")}
        self.children = {name: (Door if name == "api" else Child)(name, folder / f"{name}.log") for name in self.ports}
        self.client = httpx2.AsyncClient(timeout=60)

    def start(self, name):
        """Start a process, also again after its end."""
        word = name.partition("-")[0]
        told = {
            "HORAE_CELLS": json.dumps([cell.model_dump() for cell in self.reached]),
            "HORAE_ENVIRONMENT": "test",
            "HORAE_API_SECRET": SECRET,
            "HORAE_KEYRING": str(keyring()),
            f"HORAE_{word.upper()}_MONITORING_PORT": str(self.ports[name]),
            "PYTHONUNBUFFERED": "1",
        }
        words = (word, "--port", "0") if word == "api" else (word,)
        program = [sys.executable, "-m", "tests.monitoring.quick_process", *words]
        self.children[name].spawn(program, CLEAN | told | self.settings)

    async def kill(self, *names):
        """End processes as when the machine goes."""
        for name in names:
            self.children[name].signal(SIGKILL)
            await self.children[name].ended()

    async def begin(self):
        """Start everything, and wait until Prometheus sees all of it."""
        for name in self.children:
            self.start(name)
        await self.children["api"].ready()
        key = (await api_keys.create(self.ctx, "fleet", [Role.ADMIN])).text
        self.client.headers["Authorization"] = f"Bearer {key}"
        targets = {"horae-node": [self.ports["node-1"], self.ports["node-2"]], "horae-api": [self.ports["api"]]}
        await self.prometheus.start(targets, quick_rules(), self.hook)
        await self.sees("sum(up) == 3 and sum(horae_shards_held) == sum(horae_cell_shards) / 3")

    async def fire_every_second(self, jobs=JOBS, **facts):
        """Make jobs, and wait until their target was called."""
        for number in range(jobs):
            name = f"job-{number}"
            target = HttpTarget(f"{self.catcher.url}/{name}")
            await a_job(self.ctx, name, every(self.ctx, 1, name), target=target, **facts)
        await until(lambda: len(self.catcher.arrivals) >= jobs, LONG)

    async def get(self, path):
        """The status of a request to the API."""
        url = f"http://127.0.0.1:{self.children['api'].port}/api/v1{path}"
        return (await self.client.get(url)).status_code

    async def sees(self, expression, seconds=LONG):
        """Wait until Prometheus finds something."""

        async def found():
            return bool(await self.prometheus.query(expression))

        await until(found, seconds)

    async def end(self):
        """End everything."""
        for child in self.children.values():
            child.end()
        await self.prometheus.close()
        await self.client.aclose()


@pytest.fixture
async def watched(ctx, cells, store, tmp_path):
    with ExitStack() as stack:
        proxies = [stack.enter_context(mended_proxy([cell])) for cell in cells]
        async with catching(store.cells[0].clock.now) as catcher, receiving() as hook:
            watched = Watched(ctx, cells, proxies, tmp_path, catcher, hook)
            try:
                yield watched
            finally:
                await watched.end()

"""A reference business as its users start it: its own process, its own database, and Horae only from outside."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from uuid import uuid4

import httpx2
import psycopg

from horae.runtime.settings import CellSettings
from tests.cluster import Cluster, free_port
from tests.system.children import Child
from tests.system.processes import NodeProcess, node_processes

EXAMPLES = Path(__file__).parents[2] / "examples"
TTL = 8.0
"""A lease's, as it is shipped."""
SECRET = "whsec_bm90aGluZy1pcy1zaWduZWQtd2l0aC10aGlzLWVsc2U="


@contextmanager
def own_database(cluster: Cluster, name: str) -> Iterator[str]:
    """A database of a business's own while the block lasts; gives its DSN."""
    made = f"{name}_{uuid4().hex[:12]}"
    with psycopg.connect(cluster.dsn("postgres"), autocommit=True) as connection:
        connection.execute(f"create database {made}")
    try:
        yield cluster.dsn(made)
    finally:
        with psycopg.connect(cluster.dsn("postgres"), autocommit=True) as connection:
            connection.execute(f"drop database {made} with (force)")


@asynccontextmanager
async def some_nodes(many: int, cells: Sequence[CellSettings], folder: Path) -> AsyncIterator[list[NodeProcess]]:
    """So many nodes as processes, once each holds a lease in every cell; they may be killed and started again."""
    with node_processes(many, folder, cells, TTL) as nodes:
        for node in nodes:
            await node.ready(120)
        yield nodes


class Service(Child):
    """One of a business's programs: `python -m …`, with `examples` on its path."""

    def start(self, words: Sequence[str], env: dict[str, str]) -> None:
        path = os.pathsep.join([str(EXAMPLES), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        self.spawn([sys.executable, "-m", *words], os.environ | {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1"} | env)


@asynccontextmanager
async def web_service(module: str, folder: Path, env: dict[str, str], name: str = "") -> AsyncIterator[str]:
    """A web service once it answers; `env` may say `{url}` for its own address, which is given."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    service = Service(name or module, folder / f"{name or module}.log")
    try:
        words = [
            "uvicorn",
            f"{module}:app",
            "--port",
            str(port),
            "--log-level",
            "warning",
            "--timeout-keep-alive",
            "75",
        ]
        service.start(words, {key: value.replace("{url}", url) for key, value in env.items()})
        await answering(url, service)
        yield url
    finally:
        service.signal(15)
        service.wait(60)


async def answering(url: str, service: Service, seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    async with httpx2.AsyncClient(base_url=url, timeout=2) as visitor:
        while True:
            assert service.running, f"{service.name} ended:\n{service.tail()}"
            try:
                await visitor.get("/")
            except httpx2.TransportError:
                assert time.monotonic() < deadline, f"{service.name} does not answer:\n{service.tail()}"
                await asyncio.sleep(0.05)
            else:
                return

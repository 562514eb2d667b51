"""A real server for the SDK's tests: `horae api` in a process of its own, and tenants made beside it."""

import asyncio
import json
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

from horae.domain.tenants.tenants import SYSTEM, Tenant
from horae.runtime.settings import CellSettings
from horae.security.roles import Role
from horae.service.context import Context, PlatformContext
from horae.service.identity import api_keys
from horae.service.tenants import tenants
from horae.store.store import Store
from tests.api.api_servers import Door, hold_every_shard
from tests.cluster import Cluster
from tests.store.walls import as_role

T = TypeVar("T")
BROKER = {"kind": "nats", "url": "nats://127.0.0.1:1", "topics": ["schedules"]}
ENVIRONMENT = {
    "HORAE_API_RATE": "100000",
    "HORAE_API_BURST": "100000",
    "HORAE_BROKERS": json.dumps({"events": BROKER}),  # no node runs here, so nothing connects to it
}


class Home(NamedTuple):
    """A tenant of its own, and a key that may do everything in it."""

    tenant: Tenant
    ctx: Context
    url: str
    key: str


class Served:
    """A server over two cells, and a loop beside it that tests use to look behind the doors."""

    def __init__(self, cells: list[CellSettings], folder: Path) -> None:
        self.cells = cells
        self.door = Door("sdk-api", folder / "sdk-api.log")
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.store: Store

    def run(self, work: Coroutine[Any, Any, T], seconds: float = 300.0) -> T:
        """Do something behind the doors."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(seconds)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.door.port}"

    def home(self) -> Home:
        """A fresh tenant."""
        return self.run(self._home())

    @cached_property
    def platform_key(self) -> str:
        """A key of the platform's own tenant."""
        return self.run(self._platform_key())

    @contextmanager
    def open(self) -> Iterator["Served"]:
        self._thread.start()
        self.door.start(as_role(self.cells, "horae_api"), ENVIRONMENT)
        opening = Store.of(self.cells)
        self.store = self.run(opening.__aenter__())
        try:
            self.run(hold_every_shard(self.store))
            self.run(self.door.ready())
            yield self
        finally:
            self.door.end()
            self.run(opening.__aexit__(None, None, None))
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()
            self.loop.close()

    async def _home(self) -> Home:
        tenant = await tenants.create(PlatformContext(self.store, "test"), f"t-{uuid4().hex[:12]}", width=16)
        ctx = Context.of(self.store, tenant, "test")
        text = (await api_keys.create(ctx, "all", [Role.ADMIN, Role.WORKER])).text
        return Home(tenant, ctx, self.url, text)

    async def _platform_key(self) -> str:
        tenant = await tenants.create(PlatformContext(self.store, "test"), SYSTEM, width=1)
        return (await api_keys.create(Context.of(self.store, tenant, "test"), "all", [Role.ADMIN])).text


@contextmanager
def served_on(cluster: Cluster, folder: Path) -> Iterator[Served]:
    """A server on fresh cells while the block lasts."""
    names = asyncio.run(cluster.make_cells(2))
    cells = [CellSettings(name=f"cell-{number}", dsn=cluster.dsn(name)) for number, name in enumerate(names)]
    try:
        with Served(cells, folder).open() as served:
            yield served
    finally:
        asyncio.run(cluster.drop(names))

"""What a browser is pointed at: a real door on a port that stays the same, a real node, two cells and a receiver."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import httpx2

from horae.domain.tenants.tenants import SYSTEM, Tenant
from horae.runtime.settings import CellSettings
from horae.security.roles import Role
from horae.service.context import Context, PlatformContext
from horae.service.health import health
from horae.service.identity import api_keys
from horae.service.tenants import tenants
from horae.store.store import Store
from tests.api.api_servers import CLEAN, SECRET, Door
from tests.boot.fleet import Node, until
from tests.cluster import Cluster, free_port
from tests.keyring import keyring, sealed
from tests.receiver import Receiver, receiving
from tests.steps import move_clock
from tests.store.walls import as_role

SHARDS = 4096
BROKERS = '{"main": {"kind": "nats", "url": "nats://127.0.0.1:9", "topics": ["*"]}}'
"""Its name is known at the door; nobody ever reaches it."""
FEW = "0.01"
"""The share of runs that has to succeed: the tests let many die, and no replay is to wait for a measure."""
IDLE = str(30 * 86400)
"""Sessions outlive the hours that tests let pass."""


class SteadyDoor(Door):
    """`horae api` on a port that it finds again after it was killed."""

    def __init__(self, log: Path) -> None:
        super().__init__("console-api", log)
        self.port = free_port()

    def start(self, cells: Sequence[CellSettings], settings: dict[str, str]) -> None:
        told = {
            "HORAE_API_CELLS": json.dumps([cell.model_dump() for cell in cells]),
            "HORAE_API_SECRET": SECRET,
            "HORAE_ENVIRONMENT": "test",
            "HORAE_KEYRING": str(keyring()),
            "HORAE_SESSION_IDLE": IDLE,
            "HORAE_SESSION_LIFE": IDLE,
            "HORAE_BROKERS": BROKERS,
            "PYTHONUNBUFFERED": "1",
        }
        self.log.unlink(missing_ok=True)  # so that it is ready when this one says so
        self.spawn([*self.program, "api", "--port", str(self.port)], CLEAN | told | settings)


class Home(NamedTuple):
    """A tenant of its own, with a key that may do everything in it, and its API."""

    tenant: Tenant
    ctx: Context
    key: str
    api: httpx2.AsyncClient

    async def key_of(self, *roles: Role, name: str = "") -> str:
        """Another key of this tenant."""
        return (await api_keys.create(self.ctx, name or "-".join(roles), roles)).text

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """An answer of the API, which has to be a good one."""
        answer = await self.api.request(method, path, json=body, headers=headers)
        assert answer.is_success, (method, path, answer.status_code, answer.text)
        return answer.json() if answer.content else None


class Served:
    """One server for all tests of the console; each has a tenant of its own in it."""

    def __init__(self, cells: list[CellSettings], store: Store, receiver: Receiver, folder: Path) -> None:
        self.cells = cells
        self.store = store
        self.receiver = receiver
        self.door = SteadyDoor(folder / "api.log")
        self.node = Node("console-node", folder / "node.log")
        self._clients: list[httpx2.AsyncClient] = []

    @property
    def url(self) -> str:
        """As a browser reaches it: only `localhost` may have secure cookies without TLS."""
        return f"http://localhost:{self.door.port}"

    async def open_door(self) -> None:
        """Start it, or start it again, and wait until it listens."""
        self.door.start(as_role(self.cells, "horae_api"), {})
        await self.door.ready()

    async def open(self) -> None:
        self.node.start(self.cells, keyring(), HORAE_MEASURE_RUN_SUCCESS_RATE_10M=FEW)
        await self.open_door()
        await until("a node holds every shard", self.held)

    async def close(self) -> None:
        for client in self._clients:
            await client.aclose()
        self.door.end()
        self.node.end()

    async def home(self, name: str = "", width: int = 16, key: str = "") -> Home:
        """A fresh tenant."""
        tenant = await tenants.create(PlatformContext(self.store, "test"), name or f"t-{uuid4().hex[:8]}", width=width)
        return await self._home(tenant, [Role.ADMIN, Role.WORKER, Role.AUDITOR], key)

    async def platform(self, key: str = "") -> Home:
        """The platform's own tenant."""
        found = [
            tenant
            for tenant, _ in await tenants.page(PlatformContext(self.store, "test"), None, 100)
            if tenant.name == SYSTEM
        ]
        system = found[0] if found else await tenants.create(PlatformContext(self.store, "test"), SYSTEM, width=1)
        return await self._home(system, [Role.ADMIN], key)

    async def pass_time(self, **by: float) -> None:
        """Move the clock of every process at once."""
        await move_clock(self.store, **by)

    async def _home(self, tenant: Tenant, roles: list[Role], name: str) -> Home:
        ctx = Context.of(self.store, tenant, "test")
        key = (await api_keys.create(ctx, name or f"all-{uuid4().hex[:6]}", roles)).text
        headers = {"Authorization": f"Bearer {key}"}
        self._clients.append(httpx2.AsyncClient(base_url=f"{self.url}/api/v1", headers=headers, timeout=60))
        return Home(tenant, ctx, key, self._clients[-1])

    async def held(self) -> bool:
        """Whether the node holds every shard."""
        told = await health.nodes(PlatformContext(self.store, "test"))
        return sum(node.shards for cell in told for node in cell.nodes or () if node.alive) == SHARDS


@asynccontextmanager
async def serving(cluster: Cluster, folder: Path) -> AsyncIterator[Served]:
    """A server on fresh cells while the block lasts."""
    names = await cluster.make_cells(2)
    cells = [CellSettings(name=f"cell-{number}", dsn=cluster.dsn(name)) for number, name in enumerate(names)]
    with receiving() as receiver:
        async with Store.of(cells) as store:
            served = Served(cells, sealed(store), receiver, folder)
            try:
                await served.open()
                yield served
            finally:
                await served.close()
    await cluster.drop(names)

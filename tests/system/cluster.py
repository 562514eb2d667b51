"""Two cells, three nodes behind their proxies, a target and the load: all real processes, in one folder."""

import asyncio
import http.client
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from horae.domain.tenants.tenants import Tenant
from horae.runtime.settings import CellSettings
from horae.service.context import PlatformContext
from horae.service.tenants import tenants
from horae.store import migrations
from horae.store.store import Store
from tests.system.cells import CellServer
from tests.system.children import Child, python
from tests.system.processes import LoadProcess, NodeProcess

TENANT: Final = "acme"
NODES: Final = 3


class TargetProcess(Child):
    """The target; `folder / ledger.sqlite` is its ledger."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        super().__init__("target", folder / "log")
        self.folder = folder
        self.ledger = folder / "ledger.sqlite"

    def start(self) -> None:
        """Start it, after its end as well: then on the same port."""
        self.spawn(python("tests.system.target", str(self.folder)))

    @property
    def port(self) -> int:
        return int((self.folder / "port").read_text())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def ready(self, seconds: float = 60.0) -> None:
        deadline = time.monotonic() + seconds
        while not await asyncio.to_thread(self._answers):
            assert time.monotonic() < deadline, f"the target does not answer:\n{self.tail()}"
            await asyncio.sleep(0.02)

    def mode(self, path: str) -> None:
        """Make every path behave like this one; "/own" ends it."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        line.request("POST", "/mode", body=path)
        line.getresponse().read()
        line.close()

    def _answers(self) -> bool:
        try:
            self.mode("/own")
        except (OSError, ValueError, http.client.HTTPException):
            return False
        return True


class Cluster:
    """What faults are struck at. `tenant` owns everything the load makes."""

    def __init__(self, folder: Path, ttl: float, *, disk: str | None = "1g") -> None:
        self.folder = folder
        self.ttl = ttl
        self.cells = [
            CellServer("cell-0", folder / "cell-0", doors=NODES, disk=disk),
            CellServer("cell-1", folder / "cell-1", doors=NODES, clock=True),
        ]
        self.target = TargetProcess(folder / "target")
        self.nodes: list[NodeProcess] = []
        self.load: LoadProcess | None = None
        self.tenant: Tenant

    @property
    def dsns(self) -> list[str]:
        """The direct ones."""
        return [cell.dsn for cell in self.cells]

    def settings(self) -> list[CellSettings]:
        """The cells without their proxies."""
        return [CellSettings(name=cell.name, dsn=cell.dsn) for cell in self.cells]

    async def start(self) -> None:
        """Everything from nothing, up to three nodes that share the shards."""
        await asyncio.gather(*(cell.create() for cell in self.cells))
        await migrations.migrate(self.settings(), "test")
        async with Store.of(self.settings()) as store:
            self.tenant = await tenants.create(PlatformContext(store, "test"), TENANT, width=4096)
        self.target.start()
        doors = [[(cell.name, cell.proxy.through(n)) for cell in self.cells] for n in range(NODES)]
        folder = self.folder / "nodes"
        self.nodes = [NodeProcess(f"node-{n}", folder, cells, self.ttl, TENANT) for n, cells in enumerate(doors)]
        self.nodes[-1].with_clock()
        for node in self.nodes:
            node.start()
        await self.target.ready()
        await self.ready()

    async def ready(self, seconds: float = 60.0) -> None:
        """Wait until every server and every node serves; what is not running is started."""
        await asyncio.gather(*(cell.ready(seconds) for cell in self.cells))
        for node in self.nodes:
            if node.paused:
                node.resume()
        await asyncio.gather(*(node.ready(seconds) for node in self.nodes))

    async def begin_load(self, rate: float, seed: int) -> None:
        """From now on jobs fire and people ask, about `rate` fires a second in all."""
        cells = [(cell.name, cell.dsn) for cell in self.cells]
        settings = {"cells": cells, "tenant": TENANT, "url": self.target.url, "rate": rate, "seed": seed}
        self.load = LoadProcess(self.folder / "load", settings)
        self.load.start()
        await self.load.ready()

    def destroy(self) -> None:
        """End every process; logs and the ledger stay."""
        loads = [self.load] if self.load else []
        for child in (*loads, *self.nodes, self.target):
            child.end()
        for cell in self.cells:
            cell.destroy()


@asynccontextmanager
async def running_cluster(ttl: float, folder: Path | None = None, *, disk: str | None = "1g") -> AsyncIterator[Cluster]:
    """A cluster while the block lasts; its folder goes with it unless one was given."""
    own = folder is None
    place = folder or Path(tempfile.mkdtemp(prefix="horae-system-"))
    place.chmod(0o755)
    cluster = Cluster(place, ttl, disk=disk)
    try:
        await cluster.start()
        yield cluster
    finally:
        cluster.destroy()
        if own:
            shutil.rmtree(place, ignore_errors=True)

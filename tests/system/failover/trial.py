"""Nodes, an API and writers on a Patroni cluster; one fault at a time; what was acknowledged is counted afterwards."""

import asyncio
import json
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import asyncpg
import httpx2

from horae.runtime.settings import CellSettings
from horae.security.roles import Role
from horae.service.context import Context, PlatformContext
from horae.service.identity import api_keys
from horae.service.tenants import tenants
from horae.store import migrations
from horae.store.connections.primary import connect_to_primary
from horae.store.store import Store
from tests.api.api_servers import Door
from tests.catcher import Arrival, Catcher, catching
from tests.engine.fleet import ALL_ROWS, steady
from tests.keyring import sealed
from tests.steps import query, until
from tests.system.failover.faults import FAULTS
from tests.system.failover.patroni import PatroniCluster
from tests.system.failover.probes import TABLE, ApiWriter, MemberProbes
from tests.system.processes import NodeProcess

NODES: Final = 2
WRITERS: Final = 4
WRITE_PAUSE_S: Final = 0.2
LEASE_TTL_S: Final = 8.0
"""The shipped one."""
CALM_S: Final = 5.0
"""Seconds of steady firing before a fault."""
GAP_S: Final = 1.0
"""A shorter pause between two calls is no interruption."""
BACK_TIMEOUT_S: Final = 120.0
FIRING_S: Final = 3.0
"""Seconds of steady firing after which the service is back."""
FREE_RATE: Final = {"api_rate": "100000", "api_burst": "100000"}


class Trial:
    """One cluster under load. `run` strikes once and returns the figures of the run."""

    def __init__(self, folder: Path, fires_per_s: int) -> None:
        self.folder = folder
        self.fires_per_s = fires_per_s
        self.cluster = PatroniCluster(folder)
        self.cell = CellSettings(name="cell-0", dsn=self.cluster.dsn("horae"))
        self.nodes: list[NodeProcess] = []
        self.api = Door("api", folder / "api.log")
        self.up_s = 0.0

    async def start(self) -> None:
        """Start the members and migrate their database."""
        self.up_s = round(await self.cluster.start(), 1)
        connection = await connect_to_primary(self.cluster.dsn("postgres"), timeout=5)
        await connection.execute("create database horae")
        await connection.close()
        await migrations.migrate([self.cell], "test")

    async def begin(self, store: Store, catcher: Catcher) -> None:
        """Start jobs, nodes and the API, and wait until everything fires."""
        tenant = await tenants.create(PlatformContext(store, "test"), "acme", width=4096)
        self.ctx = Context.of(store, tenant, "test")
        await query(store, TABLE)
        await steady(self.ctx, store, catcher, self.fires_per_s)
        key = (await api_keys.create(self.ctx, "writers", [Role.ADMIN])).text
        self._headers = {"Authorization": f"Bearer {key}"}
        cells = [(self.cell.name, self.cell.dsn)]
        self.nodes = [NodeProcess(f"node-{n}", self.folder, cells, LEASE_TTL_S, "acme") for n in range(NODES)]
        for node in self.nodes:
            node.start()
        self.api.start([self.cell], {f"HORAE_{name.upper()}": value for name, value in FREE_RATE.items()})
        await self.api.ready()
        for node in self.nodes:
            await node.ready(60)

    async def run(self, fault: str, catcher: Catcher) -> dict[str, Any]:
        """Strike, wait until it fires again, heal, and count."""
        await self.cluster.healthy()
        await self._firing(catcher, BACK_TIMEOUT_S)
        probes, began = MemberProbes(self.cluster.members), catcher.now()
        address = f"http://127.0.0.1:{self.api.port}"
        async with httpx2.AsyncClient(base_url=address, headers=self._headers, timeout=10) as client:
            writers = [ApiWriter(client, f"{fault}-{time.time_ns()}-{n}") for n in range(WRITERS)]
            going = [asyncio.create_task(writer.write(WRITE_PAUSE_S)) for writer in writers]
            going += [asyncio.create_task(probes.write(member)) for member in self.cluster.members]
            try:
                await asyncio.sleep(CALM_S)
                before, struck = len(catcher.arrivals), time.monotonic()
                async with FAULTS[fault](self.cluster) as old:
                    if old is not None:
                        await until(lambda: any(one.member != old for one in probes.acknowledged), BACK_TIMEOUT_S)
                    await self._firing(catcher, BACK_TIMEOUT_S)
                await self.cluster.healthy()
                await self._firing(catcher, BACK_TIMEOUT_S)
            finally:
                for task in going:
                    task.cancel()
                ended = await asyncio.gather(*going, return_exceptions=True)
        for result in ended:
            assert isinstance(result, asyncio.CancelledError), result
        gap, back = interruption([arrival.began for arrival in catcher.arrivals[max(0, before - 1) :]], struck)
        promoted = None if old is None else probes.promoted_at(old)
        return {
            "fault": fault,
            "fires_per_s": self.fires_per_s,
            **await self._count(catcher, probes, writers, old, began),
            "promoted_after_s": None if promoted is None else round(promoted - struck, 1),
            "longest_pause_s": gap,
            "back_after_s": back,
        }

    async def _count(
        self, catcher: Catcher, probes: MemberProbes, writers: list[ApiWriter], old: str | None, began: datetime
    ) -> dict[str, Any]:
        """Count in one snapshot, while everything goes on firing."""
        arrivals = list(catcher.arrivals)
        connection = await connect_to_primary(self.cluster.dsn("horae"), timeout=5)
        try:
            async with connection.transaction(isolation="repeatable_read"):
                jobs = {row["name"] for row in await connection.fetch("select name from job")}
                lost_rows = await probes.lost(connection)
                fires = Counter((row["job_id"], row["fire_time"]) for row in await connection.fetch(ALL_ROWS))
                due = await _due(connection)
                delivered = await _unrecorded(connection, arrivals)
        finally:
            await connection.close()
        written = [name for writer in writers for name in writer.acknowledged]
        return {
            "acknowledged": len(written) + len(probes.acknowledged),
            "acknowledged_by_api": len(written),
            "lost": sum(name not in jobs for name in written) + lost_rows,
            "by_old_primary": 0 if old is None else probes.late(old),
            "fires": sum(fire_time > began for _, fire_time in fires),
            "doubled": sum(fires.values()) - len(fires),
            "missed": due - sum(fires.values()),
            "delivered_without_record": delivered,
        }

    async def _firing(self, catcher: Catcher, seconds: float) -> None:
        """Wait for `FIRING_S` in which nearly everything that was due arrived."""
        marks: list[tuple[float, int]] = []

        def steadily() -> bool:
            now = time.monotonic()
            marks.append((now, len(catcher.arrivals)))
            while marks[0][0] < now - FIRING_S - 0.1:
                marks.pop(0)
            first, last = marks[0], marks[-1]
            lasted = last[0] - first[0]
            return lasted >= FIRING_S and (last[1] - first[1]) >= 0.8 * self.fires_per_s * lasted

        await until(steadily, seconds)

    def close(self) -> None:
        """End everything that was started."""
        for process in (*self.nodes, self.api):
            process.end()
        self.cluster.close()


async def _due(connection: "asyncpg.Connection[asyncpg.Record]") -> int:
    """How many fires there must be: from the first fire of each job to its cursor, one a second."""
    rows = await connection.fetch(
        f"""select c.next_fire_at, f.first from job_cursor c
            join (select job_id, min(fire_time) as first from ({ALL_ROWS}) a group by job_id) f using (job_id)"""
    )
    return sum(round((row["next_fire_at"] - row["first"]) / timedelta(seconds=1)) for row in rows)


async def _unrecorded(connection: "asyncpg.Connection[asyncpg.Record]", arrivals: list[Arrival]) -> int:
    """How many calls arrived for which the database has no record."""
    rows = await connection.fetch(f"select j.name, a.fire_time from ({ALL_ROWS}) a join job j on j.id = a.job_id")
    recorded: set[tuple[str, datetime]] = {(row["name"], row["fire_time"]) for row in rows}
    return sum((arrival.job, arrival.fire_time) not in recorded for arrival in arrivals)


def interruption(arrived: list[float], struck: float) -> tuple[float, float]:
    """The longest pause between two calls, and the seconds from the fault to its end; zeros without a pause."""
    pauses = [(later - earlier, later) for earlier, later in pairwise(arrived) if later - earlier > GAP_S]
    if not pauses:
        return 0.0, 0.0
    longest, ended = max(pauses)
    return round(longest, 1), round(ended - struck, 1)


@asynccontextmanager
async def trying(fires_per_s: int) -> AsyncIterator[tuple[Trial, Catcher]]:
    """A trial with its nodes, while the block lasts."""
    folder = Path(tempfile.mkdtemp(prefix="horae-failover-"))
    folder.chmod(0o755)
    trial = Trial(folder, fires_per_s)
    try:
        await trial.start()
        async with Store.of([trial.cell]) as store, catching(store.cells[0].clock.now) as catcher:
            await trial.begin(sealed(store), catcher)
            yield trial, catcher
    finally:
        trial.close()
        shutil.rmtree(folder, ignore_errors=True)


def write(report: Path, run: dict[str, Any]) -> None:
    """Add a run to the report at once: what was measured is kept when the next run is broken off."""
    found = json.loads(report.read_text()) if report.exists() else {"runs": []}
    found["runs"].append(run)
    report.write_text(json.dumps(found, indent=1) + "\n")

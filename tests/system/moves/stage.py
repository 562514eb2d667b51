"""Clusters, nodes, jobs and a client that reschedules. A round moves shards under one list of faults, and counts."""

import asyncio
import json
import os
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import cycle
from pathlib import Path
from typing import Any, Final, NamedTuple

from horae.domain.moves.moves import ENDED, Move, MoveStep
from horae.runtime.randomness import new_id
from horae.runtime.settings import CellSettings
from horae.service.context import Context
from horae.store.cells import Cell
from horae.store.moves import moves
from horae.store.store import Store
from horae.store.tx import GONE
from tests.catcher import Catcher
from tests.engine.fleet import ALL_ROWS
from tests.engine.rescheduling import lost_reschedules, rescheduling
from tests.keyring import keyring
from tests.steps import query, until
from tests.system.cells import CellServer
from tests.system.children import Child, python
from tests.system.moves.load import ReceiverLog, SteadyJobs
from tests.system.moves.watch import ShardWatch, watching
from tests.system.processes import NodeProcess

NODES: Final = 2
LEASE_TTL_S: Final = 2.0
ZOMBIE_EVERY_S: Final = 15.0
ZOMBIE_FOR_S: Final = 3 * LEASE_TTL_S
"""A node is stopped for so long that others take its shards. Then it goes on with what it knows."""
MOVES_AT_ONCE: Final = 4
MOVE_TIMEOUT_S: Final = 180.0
RESCHEDULE_PAUSE_S: Final = 0.05
DOWN_S: Final = 1.0
"""Seconds until a cluster that was killed is started again."""
LEFT: Final = ENDED | {MoveStep.DELETE}
NO_FAULT: Final = "none"
CLUSTERS: Final = ("source", "target")
ACTIVE: Final = "select from shard where state = 'ACTIVE' and shard_id = $1"


class MoveFault(NamedTuple):
    """What is killed (`coordinator`, `source`, `target`; or `none`), and at which step."""

    killed: str
    step: str = ""


class MoveStage:
    """`servers` are the clusters that may be killed, in the order of `cells`."""

    def __init__(
        self, folder: Path, ctx: Context, store: Store, cells: Sequence[CellSettings], nodes: int = NODES
    ) -> None:
        self.folder = folder
        self.ctx = ctx
        self.store = store
        self.cells = cells
        self.servers: Sequence[CellServer] = ()
        self.zombie = False
        self._turns = asyncio.Semaphore(MOVES_AT_ONCE)
        self._numbers = iter(range(1_000_000))
        self._random = random.Random(23)
        named = [(cell.name, cell.dsn) for cell in cells]
        self.nodes = [NodeProcess(f"node-{n}", folder, named, LEASE_TTL_S, ctx.tenant.name) for n in range(nodes)]

    async def start(self) -> None:
        """Start the nodes."""
        for node in self.nodes:
            node.start()
        for node in self.nodes:
            await node.ready(60)

    def close(self) -> None:
        """End the nodes."""
        for node in self.nodes:
            node.end()

    async def round(self, jobs: SteadyJobs, catcher: Catcher, plan: Sequence[tuple[int, MoveFault]]) -> dict[str, Any]:
        """Move shards, each with its fault. Returns what the receiver and the cells say afterwards."""
        log, began = ReceiverLog(catcher), time.monotonic()
        async with rescheduling(self.ctx, self.cells, RESCHEDULE_PAUSE_S) as caller, self._zombies():
            clusters_die = [self._move(shard, fault) for shard, fault in plan if fault.killed in CLUSTERS]
            moved = [await one for one in clusters_die]  # one after another: each fault strikes one move only
            rest = [self._move(shard, fault) for shard, fault in plan if fault.killed not in CLUSTERS]
            moved += await asyncio.gather(*rest)
        lost = await log.missing(jobs, self.store.cells[0].clock.now())
        await self.store.learn_shards()
        return {
            "cells": len(self.cells),
            "jobs": jobs.many,
            "fires_per_s": jobs.jobs_per_s,
            "seconds": round(time.monotonic() - began),
            "fires": log.fires(),
            "lost": lost,
            "doubled": log.doubled(),
            "doubled_rows": await self._doubled_rows(),
            "repeated_calls": log.repeated(),
            "reschedules": caller.answers,
            "reschedules_refused": caller.refused,
            "reschedules_lost": len(await lost_reschedules(self.store, caller)),
            "times_two_cells_active": sum(one.pop("two_active") for one in moved),
            "moves": moved,
        }

    async def _move(self, shard: int, fault: MoveFault) -> dict[str, Any]:
        """Move a shard to the next cell, with its fault. Returns how it went, when its rows in the source are gone."""
        began = time.monotonic()
        async with self._turns:
            source = await self._active(shard)
            target = (source + 1) % len(self.cells)
            async with watching(shard, self.cells[source].dsn, self.cells[target].dsn) as watch:
                if fault.killed == NO_FAULT:
                    await self._ask(shard, source, target)
                else:
                    await self._strike(shard, source, target, fault)
                await self._come_to(self.store.cells[source], shard, LEFT)
        done = await self._come_to(self.store.cells[source], shard, ENDED)
        return self._figures(done, fault, watch, time.monotonic() - began)

    def _figures(self, move: Move, fault: MoveFault, watch: ShardWatch, seconds: float) -> dict[str, Any]:
        return {
            "shard": move.shard,
            "killed": fault.killed,
            "step": fault.step,
            "end": str(move.step),
            "pause_ms": move.pause_ms,
            "closed_ms": round(watch.closed_s * 1000),
            "rows": move.rows_copied,
            "seconds": round(seconds, 1),
            "two_active": watch.times_two_active,
        }

    async def _ask(self, shard: int, source: int, target: int) -> None:
        async with self.store.cells[source].tx() as tx:
            id_ = new_id(shard, tx.now)
            assert await moves.request(tx, shard, id_, self.cells[target].name, "test")

    async def _strike(self, shard: int, source: int, target: int, fault: MoveFault) -> None:
        """Let a coordinator come to the step of the fault. It is killed there, or a cluster is."""
        folder = self.folder / f"move-{next(self._numbers)}"
        folder.mkdir()
        transactions = self._random.randint(0, 2) if fault.killed == "coordinator" else None
        plan = {
            "cells": [{"name": cell.name, "dsn": cell.dsn} for cell in self.cells],
            "source": self.cells[source].name,
            "target": self.cells[target].name,
            "shard": shard,
            "fault": {"step": fault.step, "transactions": transactions},
        }
        (folder / "plan.json").write_text(json.dumps(plan))
        process = Child("coordinator", folder / "log")
        environment = {**os.environ, "HORAE_KEYRING": str(keyring())}
        process.spawn(python("tests.system.moves.coordinator", str(folder)), environment)
        try:
            if transactions is None:
                await until(lambda: (folder / "at").exists() or not process.running, MOVE_TIMEOUT_S)
                assert process.running, process.tail()
                server = self.servers[source if fault.killed == "source" else target]
                await server.stop("immediate")
                (folder / "go").touch()
                await asyncio.sleep(DOWN_S)
                await server.ready()
            await process.ended(MOVE_TIMEOUT_S)
            assert transactions is None or process.exit_code == -9, process.tail()
        finally:
            process.end()

    async def _come_to(self, source: Cell, shard: int, steps: frozenset[MoveStep]) -> Move:
        """Wait until the newest move of a shard is at one of these steps."""
        found: list[Move] = []

        async def has_come() -> bool:
            with suppress(*GONE):
                async with source.statement() as tx:
                    own = [one for one in await moves.listing(tx, 10_000) if one.shard == shard]
                found[:] = sorted(own, key=lambda one: one.requested_at)[-1:]
            await asyncio.sleep(0.2)
            return bool(found) and found[0].step in steps

        await until(has_come, MOVE_TIMEOUT_S)
        return found[0]

    async def _active(self, shard: int) -> int:
        [place] = [n for n, cell in enumerate(self.store.cells) if await query(cell, ACTIVE, shard)]
        return place

    async def _doubled_rows(self) -> int:
        rows = Counter((row["job_id"], row["fire_time"]) for row in await query(self.store, ALL_ROWS))
        return rows.total() - len(rows)

    @asynccontextmanager
    async def _zombies(self) -> AsyncIterator[None]:
        """Stop one node after another for longer than its lease, and let it go on."""
        going = asyncio.create_task(self._stop_and_go()) if self.zombie else None
        try:
            yield
        finally:
            if going is not None:
                going.cancel()
                with suppress(asyncio.CancelledError):
                    await going

    async def _stop_and_go(self) -> None:
        for node in cycle(self.nodes):
            await asyncio.sleep(ZOMBIE_EVERY_S)
            node.pause()
            try:
                await asyncio.sleep(ZOMBIE_FOR_S)
            finally:
                node.resume()


@asynccontextmanager
async def clusters(number: int) -> AsyncIterator[list[CellServer]]:
    """Real clusters of our own, while the block lasts."""
    folder = Path(tempfile.mkdtemp(prefix="horae-moves-"))
    folder.chmod(0o755)
    servers = [CellServer(f"cell-{n}", folder / f"cell-{n}") for n in range(number)]
    try:
        for server in servers:
            await server.create()
        yield servers
    finally:
        for server in servers:
            server.destroy()
        shutil.rmtree(folder, ignore_errors=True)

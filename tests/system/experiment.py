"""One run: a cluster under load, faults struck at it, what was measured of each, and the checker's verdict."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import asyncpg

from tests.system import checker, measures
from tests.system.checker import Verdict
from tests.system.cluster import Cluster, running_cluster
from tests.system.evidence import Evidence, Strike
from tests.system.faults import Fault
from tests.system.owners import OwnerWatch

BEFORE: Final = 5.0
"""Seconds before a strike that its timeline shows."""
SETTLE: Final = 60.0
WARM: Final = 3.0
WATCHED: Final = 4.0
"""Seconds after a fault that are looked at even if all seems well at once."""
RECORDED: Final = 3.0
"""Seconds that a fire's record may take once nothing is overdue."""
LOST: Final = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, EOFError)
UNSETTLED: Final = """
    select (select count(*) from instance_live where state = 'RUNNING' and deadline < now() - interval '1 s')
         + (select count(*) from instance_live
            where state in ('INIT', 'FAIL') and queue is null and due_at < now() - interval '3 s')
         + (select count(*) from job_cursor where next_fire_at < now() - interval '2 s')
         + (select count(*) from shard s where state = 'ACTIVE'
            and not exists (select from node n where n.incarnation = s.owner and n.expires_at > now()))
"""
STUCK: Final = "select count(*) from instance_live where state = 'RUNNING' and deadline < now() - interval '30 s'"


@dataclass
class Outcome:
    """One strike as it is kept: times in seconds, moments of the host's clock."""

    kind: str
    began: float
    healed: float
    facts: dict[str, Any] = field(default_factory=dict)
    takeover: float | None = None
    first_sent: float | None = None
    full_service: float | None = None
    settled: float | None = None
    stuck: int = 0
    refused: int = 0
    duplicates: int = 0
    lateness: dict[str, Any] = field(default_factory=dict)
    timeline: list[tuple[int, int, int]] = field(default_factory=list)
    error: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Experiment:
    """A cluster under load. Strikes are remembered for the checker, which must explain what it finds by them."""

    def __init__(self, cluster: Cluster, chance: random.Random) -> None:
        self.cluster = cluster
        self.chance = chance
        self.strikes: list[Strike] = []
        self.began = 0.0
        self.owners = OwnerWatch(cluster)

    async def begin(self, rate: float) -> None:
        """The load, and a moment of calm."""
        await self.cluster.begin_load(rate, self.chance.getrandbits(32))
        self.owners.start()
        self.began = time.time()
        await self.settle()
        await asyncio.sleep(WARM)

    async def strike(self, fault: Fault) -> Outcome:
        """Strike once, wait until everything has settled, and measure. A fault that fails is an outcome too."""
        incarnations = await self._incarnations()
        error = None
        began = time.time()
        try:
            done = await fault.strike(self.cluster, self.chance)
        except Exception as failure:  # of the fault, not of the cluster: what it left behind is put right
            error = f"{type(failure).__name__}: {failure}"
            await self.heal()
            done = Strike(fault.name, began, time.time(), {"error": error})
        self.strikes.append(done)
        outcome = Outcome(fault.name, done.began, done.healed, dict(done.facts), error=error)
        outcome.settled = await self.settle()
        await asyncio.sleep(max(0.0, outcome.healed + WATCHED - time.time()))
        await self.measure(outcome, incarnations)
        return outcome

    async def heal(self) -> None:
        """Good weather, right clocks, room on the disk, everything running."""
        for cell in self.cluster.cells:
            with suppress(*LOST):
                await asyncio.to_thread(cell.proxy.mend)
            if cell.clock_file is not None:
                cell.move_clock("+0")
            (cell.data / "ballast").unlink(missing_ok=True)
        with suppress(*LOST):
            await asyncio.to_thread(self.cluster.target.mode, "/own")
        await self.cluster.ready(90)

    async def settle(self, seconds: float = SETTLE) -> float | None:
        """Until nothing is overdue and every shard has an owner; returns how long that took, None for too long."""
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            with suppress(*LOST):
                if sum([await _value(dsn, UNSETTLED) for dsn in self.cluster.dsns]) == 0:
                    return round(time.monotonic() - began, 3)
            await asyncio.sleep(0.25)
        return None

    async def measure(self, outcome: Outcome, incarnations: dict[str, UUID]) -> None:
        """What the ledger, the logs and the rows say about a strike, from shortly before it until now."""
        since, until = outcome.began - BEFORE, time.time()
        calls = await asyncio.to_thread(measures.arrivals, self.cluster.target.ledger, since)
        outcome.full_service = measures.full_service(calls, outcome.healed)
        outcome.duplicates = measures.duplicates(calls)
        outcome.refused = measures.refused((node.log for node in self.cluster.nodes), outcome.began)
        late = [call.late for call in measures.firsts(calls) if call.steady and call.at >= outcome.began]
        outcome.lateness = measures.histogram(late)
        outcome.timeline = measures.timeline(calls, since, until)
        outcome.stuck = sum([await _value(dsn, STUCK) for dsn in self.cluster.dsns])
        self._measure_takeover(outcome, calls, incarnations)

    async def judge(self) -> Verdict:
        """The checker's word on everything so far. Nobody asks meanwhile, so that every call has its answer."""
        load = self.cluster.load
        assert load is not None
        await load.tell("quiet", patience=40)
        try:
            assert await self.settle() is not None, "something stayed overdue for a minute"
            return await checker.check(self.evidence(time.time() - RECORDED))
        finally:
            await load.tell("go_on")

    def evidence(self, ended: float) -> Evidence:
        load = self.cluster.load
        assert load is not None
        return Evidence(
            dsns=self.cluster.dsns,
            ledger=self.cluster.target.ledger,
            log=load.api_log,
            began=datetime.fromtimestamp(self.began, UTC),
            ended=datetime.fromtimestamp(ended, UTC),
            ttl=self.cluster.ttl,
            strikes=self.strikes,
            node_logs=[node.log for node in self.cluster.nodes],
        )

    async def _incarnations(self) -> dict[str, UUID]:
        found = {}
        for node in self.cluster.nodes:
            with suppress(*LOST):
                found[node.name] = UUID((await node.tell("ping", patience=2))["incarnation"])
        return found

    def _measure_takeover(self, outcome: Outcome, calls: list[measures.Arrival], incarnations: dict[str, UUID]) -> None:
        """From the moment a node was killed, frozen or cut off until all its shards are in other hands."""
        names = [node.name for node in self.cluster.nodes] if "kill-all" in outcome.kind else list(_nodes(outcome))
        victims = [node for node in self.cluster.nodes if node.name in names and node.name in incarnations]
        gone = [incarnations[node.name] for node in victims]
        for node, incarnation in zip(victims, gone, strict=True):
            hit = max(node.hit_at, outcome.began)
            shards = self.owners.owned(incarnation, hit)
            moved = self.owners.moved_at(shards, gone, hit)
            sent = measures.first_sent(calls, shards, hit)
            if moved is not None:
                outcome.takeover = max(outcome.takeover or 0.0, round(moved - hit, 3))
            if sent is not None:
                outcome.first_sent = max(outcome.first_sent or 0.0, round(sent - hit, 3))


TAKEN_OVER: Final = ("kill", "pause", "cut-node")


def _nodes(outcome: Outcome) -> Iterator[str]:
    """The nodes that a fault took away, as its facts name them, also those of a pair."""
    if outcome.kind in TAKEN_OVER and "node" in outcome.facts:
        yield outcome.facts["node"]
    for name in TAKEN_OVER:
        facts = outcome.facts.get(name)
        if isinstance(facts, dict) and "node" in facts:
            yield facts["node"]


async def _value(dsn: str, query: str) -> int:
    connection = await asyncpg.connect(dsn, timeout=5)
    try:
        return int(await connection.fetchval(query, timeout=10))
    finally:
        connection.terminate()


@asynccontextmanager
async def experimenting(
    ttl: float, rate: float, seed: int, folder: Path | None = None, **facts: Any
) -> AsyncIterator[Experiment]:
    """A whole run: cluster and load while the block lasts."""
    async with running_cluster(ttl, folder, **facts) as cluster:
        experiment = Experiment(cluster, random.Random(seed))
        try:
            await experiment.begin(rate)
            yield experiment
        finally:
            await experiment.owners.stop()

"""The network between nodes and cells: silent, reset, slow, in drops, or losing the one reply that matters."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.system.cluster import Cluster
from tests.system.faults.fault import Facts, Fault
from tests.system.proxy import FaultProxy


class CutCell(Fault):
    """One cell falls silent for every node: no data, no reset."""

    name = "cut-cell"

    def seconds(self, cluster: Cluster, chance: random.Random) -> float:
        return chance.uniform(1.0, 2.0) * cluster.ttl

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        cell = chance.choice(cluster.cells)
        async with _weather([(cell.proxy, None)], FaultProxy.cut):
            yield {"cell": cell.name}


class CutNode(Fault):
    """One node is cut off from every cell, without a word, while the target still hears it."""

    name = "cut-node"

    def seconds(self, cluster: Cluster, chance: random.Random) -> float:
        return chance.uniform(1.5, 3.0) * cluster.ttl

    def most(self, cluster: Cluster) -> float:
        return 3.0 * cluster.ttl

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        door = chance.randrange(len(cluster.nodes))
        async with _weather([(cell.proxy, door) for cell in cluster.cells], FaultProxy.cut):
            yield {"node": cluster.nodes[door].name}


class Sever(Fault):
    """The connections there are fall silent, in every cell; new ones work, as after a firewall forgot its state."""

    name = "sever"

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        async with _weather([(cell.proxy, None) for cell in cluster.cells], FaultProxy.sever):
            yield {}


class Reset(Fault):
    """Every connection is reset, and new ones too for a while."""

    name = "reset"

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        cell = chance.choice(cluster.cells)
        async with _weather([(cell.proxy, None)], FaultProxy.refuse):
            yield {"cell": cell.name}


class SlowDatabase(Fault):
    """Every round trip to one cell takes that much longer."""

    name = "slow-database"

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        cell, latency = chance.choice(cluster.cells), chance.uniform(0.02, 0.1) * cluster.ttl
        async with _weather([(cell.proxy, None)], FaultProxy.slow, latency):
            yield {"cell": cell.name, "latency": round(latency, 3)}


class Trickle(Fault):
    """Bytes come through one by one, so to speak: large answers take long, small ones hardly."""

    name = "trickle"

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        cell, rate = chance.choice(cluster.cells), chance.randrange(5_000, 50_000)
        async with _weather([(cell.proxy, None)], FaultProxy.trickle, rate):
            yield {"cell": cell.name, "bytes_per_second": rate}


class LoseReplies(Fault):
    """One in fifty writes takes effect and is never heard of."""

    name = "lose-replies"
    one_in = 50

    def seconds(self, cluster: Cluster, chance: random.Random) -> float:
        return chance.uniform(5.0, 7.0)

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        proxies = [cell.proxy for cell in cluster.cells]
        before = sum(proxy.counts()["lost_replies"] for proxy in proxies)
        facts: Facts = {}
        async with _weather([(proxy, None) for proxy in proxies], FaultProxy.lose_replies, self.one_in):
            yield facts
            facts["lost"] = sum(proxy.counts()["lost_replies"] for proxy in proxies) - before


@asynccontextmanager
async def _weather(doors: list[tuple[FaultProxy, int | None]], verb, *args: float) -> AsyncIterator[None]:
    try:
        for proxy, door in doors:
            verb(proxy, *args, door=door)
        yield
    finally:
        for proxy, door in doors:
            proxy.mend(door)

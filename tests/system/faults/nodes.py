"""Nodes that die, freeze, or are replaced one after another."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tests.system.cluster import Cluster
from tests.system.faults.fault import Facts, Fault
from tests.system.processes import NodeProcess

IN_FLIGHT = "/slow/700"
GRACE = 15.0
UP_S = 60.0
"""Seconds for which processes may load their code; the time until they serve is counted from there on."""


class KillNode(Fault):
    """SIGKILL, as when a machine goes; after a while it is started again."""

    name = "kill"

    def seconds(self, cluster: Cluster, chance: random.Random) -> float:
        return chance.uniform(1.25, 2.0) * cluster.ttl

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        node = chance.choice(cluster.nodes)
        try:
            await _killed(node)
            yield {"node": node.name}
        finally:
            started(node)


class KillAll(Fault):
    """All nodes at the same moment."""

    name = "kill-all"

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        try:
            await asyncio.gather(*map(_killed, cluster.nodes))
            yield {}
        finally:
            for node in cluster.nodes:
                started(node)
            with suppress(TimeoutError):  # beside another fault it may not come up
                await asyncio.gather(*(node.until("pid", UP_S) for node in cluster.nodes))


class PauseNode(Fault):
    """SIGSTOP for 2 to 10 TTLs with requests in flight: it comes back as a zombie that believes to own its work."""

    name = "pause"

    def seconds(self, cluster: Cluster, chance: random.Random) -> float:
        return chance.triangular(2.0, 10.0, 2.0) * cluster.ttl

    def most(self, cluster: Cluster) -> float:
        return 10.0 * cluster.ttl

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        node = chance.choice(cluster.nodes)
        try:
            await asyncio.to_thread(cluster.target.mode, IN_FLIGHT)
            await asyncio.sleep(1.0)  # by now every fire of the last 700 ms is in flight
            node.pause()
            await asyncio.to_thread(cluster.target.mode, "/own")
            yield {"node": node.name}
        finally:
            node.resume()
            await asyncio.to_thread(cluster.target.mode, "/own")


class RollingRestart(Fault):
    """SIGTERM to one node after another, as a deploy does; the next one waits until the last serves again."""

    name = "rolling"

    def seconds(self, cluster: Cluster, chance: random.Random) -> float:
        return 0.0

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        took = {}
        try:
            for node in chance.sample(cluster.nodes, len(cluster.nodes)):
                took[node.name] = await ended(node)
                started(node)
                await node.ready(GRACE + cluster.ttl)
            yield {"ended_after": took}
        finally:
            for node in cluster.nodes:
                started(node)


async def _killed(node: NodeProcess) -> None:
    node.kill()
    await node.ended(10)


async def ended(node: NodeProcess) -> float:
    """SIGTERM, and SIGKILL to one that does not end in time, as every init system does; returns the seconds it took."""
    began = asyncio.get_running_loop().time()
    node.terminate()
    try:
        await node.ended(GRACE)
    except TimeoutError:
        await _killed(node)
    return round(asyncio.get_running_loop().time() - began, 3)


def started(node: NodeProcess) -> None:
    """Unless another fault has done so already."""
    if not node.running:
        node.start()

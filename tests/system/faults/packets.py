"""Packets that the kernel drops, as a broken switch would: no proxy in between takes them or says goodbye."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.system.cluster import Cluster
from tests.system.faults.fault import Facts, Fault
from tests.system.faults.nodes import ended, started
from tests.system.namespace import Namespace, namespaces


class DropPackets(Fault):
    """A node in a network namespace of its own loses every packet to and from its cells; the target still hears it."""

    name = "drop-packets"

    def seconds(self, cluster: Cluster, chance: random.Random) -> float:
        return chance.uniform(1.25, 2.0) * cluster.ttl

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        door = chance.randrange(len(cluster.nodes))
        node, cells = cluster.nodes[door], [cell.proxy.ports[door] for cell in cluster.cells]
        namespace = Namespace([*cells, cluster.target.port])
        facts: Facts = {"node": node.name}
        try:
            await asyncio.to_thread(namespace.open)
            await ended(node)
            node.prefix = namespace.prefix
            started(node)
            await node.ready()
            await asyncio.sleep(cluster.ttl)  # it has work now
            node.hit_at = facts["dropped"] = time.time()
            namespace.drop(cells)
            yield facts
            namespace.allow()
            await node.ready()
        finally:
            namespace.allow()
            await ended(node)
            node.prefix = []
            started(node)
            namespace.close()

    def impossible(self, cluster: Cluster) -> str | None:
        return None if namespaces() else "network namespaces need root, ip, nsenter and nft"

"""What no signal can do to a node: its event loop blocked, its connections all taken. Each for a time of its own."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tests.system.cluster import Cluster
from tests.system.faults.fault import Facts, Fault

BUSY = (OSError, TimeoutError, EOFError)


class BlockLoop(Fault):
    """Nothing in a node's event loop gets its turn, for 30 s at the shipped TTL; its leases have their own thread."""

    name = "block-loop"
    do = "block"

    def seconds(self, cluster: Cluster, chance: random.Random) -> float:
        return min(30.0, 4.0 * cluster.ttl)

    def most(self, cluster: Cluster) -> float:
        return 30.0

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        node = chance.choice(cluster.nodes)
        seconds = self.seconds(cluster, chance)
        with suppress(*BUSY):  # another fault may have it
            await node.tell(self.do, seconds=seconds)
        yield {"node": node.name}


class ExhaustPool(BlockLoop):
    """Every connection of a node's pools is taken."""

    name = "exhaust-pool"
    do = "hold_pool"

    def seconds(self, cluster: Cluster, chance: random.Random) -> float:
        return min(12.0, 4.0 * cluster.ttl)

"""A target that does what it was asked, and hangs up instead of saying so."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.system.cluster import Cluster
from tests.system.faults.fault import Facts, Fault


class DropAnswers(Fault):
    """One call in three takes effect and is not answered."""

    name = "drop-answers"

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        try:
            await asyncio.to_thread(cluster.target.mode, "/drop/3")
            yield {}
        finally:
            await asyncio.to_thread(cluster.target.mode, "/own")

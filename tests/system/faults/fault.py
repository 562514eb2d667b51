"""What every fault is: something that begins, is held for a while, and is over again, whatever happens meanwhile."""

import asyncio
import os
import random
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final

from tests.system.cluster import Cluster
from tests.system.evidence import Strike

Facts = dict[str, Any]
BRIEF: Final = 3.0
"""Seconds: what does not wait for a lease to end need not be held for longer, whatever the TTL."""
PATIENCE: Final = 90.0
"""Seconds a fault may take beside the time it is held, and the cluster to serve again after it."""


class Fault(ABC):
    """`struck()` injects, hands its facts to the block, and heals when the block ends."""

    name: str

    async def strike(self, cluster: Cluster, chance: random.Random) -> Strike:
        """Inject, hold and heal, in bounded time; then everything that should run runs and serves again."""
        began = time.time()
        async with asyncio.timeout(self.most(cluster) + PATIENCE):
            facts = await self.happen(cluster, chance)
        healed = time.time()
        await cluster.ready(PATIENCE)
        return Strike(self.name, began, healed, {**facts, "serving_after": round(time.time() - healed, 3)})

    async def happen(self, cluster: Cluster, chance: random.Random) -> Facts:
        """The fault alone, without waiting for the cluster to serve again."""
        async with self.struck(cluster, chance) as facts:
            seconds = self.seconds(cluster, chance)
            await asyncio.sleep(seconds)
        return {"held": round(seconds, 3), **facts}

    @abstractmethod
    def struck(self, cluster: Cluster, chance: random.Random) -> AbstractAsyncContextManager[Facts]:
        """The cluster with this fault in it, while the block lasts."""

    def seconds(self, cluster: Cluster, chance: random.Random) -> float:
        """For how long it is held."""
        return chance.uniform(1.0, 3.0) * min(cluster.ttl, BRIEF)

    def most(self, cluster: Cluster) -> float:
        """For how long it may be held at most."""
        return 3.0 * cluster.ttl

    def impossible(self, cluster: Cluster) -> str | None:
        """Why this machine cannot do it; None where it can."""
        return None


class Both(Fault):
    """Two faults that overlap: the second begins while the first is on."""

    def __init__(self, first: Fault, second: Fault) -> None:
        self.first = first
        self.second = second
        self.name = f"{first.name}+{second.name}"

    async def happen(self, cluster: Cluster, chance: random.Random) -> Facts:
        """Each has dice of its own, so that the order of their throws does not depend on the machine's speed."""
        dice = [random.Random(chance.random()) for _ in range(2)]
        wait = chance.uniform(0.0, 0.8) * cluster.ttl
        first = asyncio.create_task(self.first.happen(cluster, dice[0]))
        second = asyncio.create_task(_later(wait, self.second, cluster, dice[1]))
        facts = await asyncio.gather(first, second, return_exceptions=True)
        for fact in facts:
            if isinstance(fact, BaseException):
                raise fact
        return {self.first.name: facts[0], self.second.name: facts[1], "second_after": round(wait, 3)}

    @asynccontextmanager
    async def struck(self, cluster: Cluster, chance: random.Random) -> AsyncIterator[Facts]:
        async with self.first.struck(cluster, chance) as first, self.second.struck(cluster, chance) as second:
            yield {**first, **second}

    def most(self, cluster: Cluster) -> float:
        return self.first.most(cluster) + self.second.most(cluster)

    def impossible(self, cluster: Cluster) -> str | None:
        return self.first.impossible(cluster) or self.second.impossible(cluster)


async def _later(seconds: float, fault: Fault, cluster: Cluster, chance: random.Random) -> Facts:
    await asyncio.sleep(seconds)
    return await fault.happen(cluster, chance)


def root() -> bool:
    return os.getuid() == 0

"""One look for all the queues at which workers of a tenant wait in this process.

What a look costs does not grow with the number of names that somebody waits at, and the names need not exist.
"""

import asyncio
from itertools import chain
from typing import Final

from horae.domain.wakes import Wake
from horae.runtime.ending import told
from horae.runtime.telemetry import log
from horae.runtime.waker import Waker
from horae.service.context import Context
from horae.store import workers

MAX_QUEUES_PER_LOOK: Final = 200
LOOK_GAP_S: Final = 0.02
"""Seconds between two looks for a tenant, at least."""
MIN_PAUSE_S: Final = 0.05
MAX_PAUSE_S: Final = 0.5


class PollQueue:
    """The workers that wait at one queue. The lock goes round in the order in which they came."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.waker = Waker()
        self.waiting = 0


class QueueWatch:
    """Finds out which of a tenant's queues have something due, and wakes the first worker of each.

    1. A look is one statement per cell and asks for `MAX_QUEUES_PER_LOOK` queues at most; queues take turns.
    2. A round is as many looks as all queues need. The pause between looks doubles after every round.
    3. A wake-up for a shard of the tenant begins a round at once, with the shortest pause.
    4. Two looks are `LOOK_GAP_S` apart, however many wake-ups come.
    """

    def __init__(self, ctx: Context) -> None:
        self.queues: dict[str, PollQueue] = {}
        self.waiting = 0
        self._ctx = ctx
        self._shards = frozenset(ctx.tenant.shards())
        self._waker = Waker()

    def join(self, ctx: Context, name: str) -> PollQueue:
        """One more worker waits at a queue."""
        if ctx.tenant is not self._ctx.tenant:  # it may have been widened meanwhile
            self._shards = frozenset(ctx.tenant.shards())
        self._ctx = ctx
        queue = self.queues.setdefault(name, PollQueue())
        queue.waiting += 1
        self.waiting += 1
        return queue

    def leave(self, name: str) -> None:
        """One worker less."""
        queue = self.queues[name]
        queue.waiting -= 1
        self.waiting -= 1
        if not queue.waiting:
            del self.queues[name]
        if not self.queues:
            self._waker.wake()

    def hear(self, wake: Wake, seconds: float) -> None:
        """Something may be due in so many seconds, perhaps here. What is due after the next round is found by it."""
        if (wake.shards is None or wake.shards & self._shards) and seconds <= MAX_PAUSE_S * self._looks_in_round():
            asyncio.get_running_loop().call_later(seconds, self._waker.wake)

    async def run(self) -> None:
        """Look until nobody waits any more."""
        pause, left = MIN_PAUSE_S, self._looks_in_round()
        while self.queues:
            await self._look()
            left -= 1
            if not left:
                pause, left = min(pause * 2, MAX_PAUSE_S), self._looks_in_round()
            await asyncio.sleep(LOOK_GAP_S)
            if await self._waker.wait(pause - LOOK_GAP_S):
                pause, left = MIN_PAUSE_S, self._looks_in_round()

    async def once(self) -> int:
        """One look at the queues whose turn it is; returns how many have something due."""
        asked = list(self.queues)[:MAX_QUEUES_PER_LOOK]
        for name in asked:
            self.queues[name] = self.queues.pop(name)  # behind all others
        tenant_id = self._ctx.tenant.id
        found = await self._ctx.ask_each(lambda tx: workers.ready(tx, tenant_id, asked))
        ready = [self.queues[name] for name in set(chain.from_iterable(found)) if name in self.queues]
        for queue in ready:
            queue.waker.wake()
        return len(ready)

    async def _look(self) -> None:
        """A look that fails is told and followed by the next: the workers still wait."""
        try:
            await self.once()
        except (Exception, asyncio.CancelledError):  # a library cancels what it lost with a connection, too
            if told():
                raise
            log.warning("polls.look_failed", tenant=self._ctx.tenant.name, exc_info=True)

    def _looks_in_round(self) -> int:
        return -(-len(self.queues) // MAX_QUEUES_PER_LOOK) or 1

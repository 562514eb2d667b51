"""Finds due work for all queues at which workers of a tenant wait in this process.

The cost of a query does not depend on how many queue names are waited at, and a queue need not exist.
"""

import asyncio
from itertools import chain
from typing import Final

from horae.domain.nodes.wakes import Wake
from horae.runtime.cancellation import cancellation_requested
from horae.runtime.telemetry import log
from horae.runtime.waker import Waker
from horae.service.context import Context
from horae.store.workers import workers

MAX_QUEUES_PER_LOOK: Final = 200
"""Queues that one query asks for."""
MIN_QUERY_GAP_S: Final = 0.02
"""Seconds between two queries for a tenant, at least."""
WOKEN_QUERY_PAUSE_S: Final = 0.05
"""Seconds between two queries after a wake-up."""
IDLE_QUERY_PAUSE_S: Final = 0.5
"""Seconds between two queries when nothing happens."""


class PollQueue:
    """The workers that wait at one queue. They take the lock in the order of their arrival."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.waker = Waker()
        self.waiting = 0


class QueueWatch:
    """Finds the queues of a tenant that have due work, and wakes the first worker of each.

    1. A query is one statement per cell, for at most `MAX_QUEUES_PER_LOOK` queues; the queues take turns.
    2. A round is as many queries as all queues need. The pause between queries doubles after each round.
    3. A wake-up for a shard of the tenant begins a new round at once, with the shortest pause.
    4. Two queries are at least `MIN_QUERY_GAP_S` apart, however many wake-ups arrive.
    """

    def __init__(self, ctx: Context) -> None:
        self.queues: dict[str, PollQueue] = {}
        self.waiting = 0
        self._ctx = ctx
        self._shards = frozenset(ctx.tenant.shards())
        self._waker = Waker()

    def join(self, ctx: Context, name: str) -> PollQueue:
        """Add a worker that waits at a queue."""
        if ctx.tenant is not self._ctx.tenant:  # the tenant may have been widened
            self._shards = frozenset(ctx.tenant.shards())
        self._ctx = ctx
        queue = self.queues.setdefault(name, PollQueue())
        queue.waiting += 1
        self.waiting += 1
        return queue

    def leave(self, name: str) -> None:
        """Remove a worker that waits at a queue."""
        queue = self.queues[name]
        queue.waiting -= 1
        self.waiting -= 1
        if not queue.waiting:
            del self.queues[name]
        if not self.queues:
            self._waker.wake()

    def plan_query(self, wake: Wake, seconds: float) -> None:
        """Plan a query in `seconds` seconds, where the wake-up may concern this tenant.

        A wake-up after the end of the current round needs no query: the next rounds find its work.
        """
        if (
            wake.shards is None or wake.shards & self._shards
        ) and seconds <= IDLE_QUERY_PAUSE_S * self._looks_in_round():
            asyncio.get_running_loop().call_later(seconds, self._waker.wake)

    async def run(self) -> None:
        """Query until no worker waits any more."""
        pause, left = WOKEN_QUERY_PAUSE_S, self._looks_in_round()
        while self.queues:
            await self._look()
            left -= 1
            if not left:
                pause, left = min(pause * 2, IDLE_QUERY_PAUSE_S), self._looks_in_round()
            await asyncio.sleep(MIN_QUERY_GAP_S)
            if await self._waker.wait(pause - MIN_QUERY_GAP_S):
                pause, left = WOKEN_QUERY_PAUSE_S, self._looks_in_round()

    async def once(self) -> int:
        """Query the queues whose turn it is. Returns how many have due work."""
        asked = list(self.queues)[:MAX_QUEUES_PER_LOOK]
        for name in asked:
            self.queues[name] = self.queues.pop(name)  # to the end of the order
        tenant_id = self._ctx.tenant.id
        found = await self._ctx.ask_each(lambda tx: workers.ready(tx, tenant_id, asked))
        ready = [self.queues[name] for name in set(chain.from_iterable(found)) if name in self.queues]
        for queue in ready:
            queue.waker.wake()
        return len(ready)

    async def _look(self) -> None:
        """Query, and log a failure: the workers still wait, so the next query follows."""
        try:
            await self.once()
        except (Exception, asyncio.CancelledError):  # a library may also cancel when it loses a connection
            if cancellation_requested():
                raise
            log.warning("polls.check_failed", tenant=self._ctx.tenant.name, exc_info=True)

    def _looks_in_round(self) -> int:
        return -(-len(self.queues) // MAX_QUEUES_PER_LOOK) or 1

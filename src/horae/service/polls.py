"""Workers that wait for something to do: of all that wait at one queue one looks, the others stand in line.

The looks come at growing intervals, and at once when a wake-up names a shard of the tenant. Whoever gets something
makes room for the next, who looks at once: what arrives in a crowd is taken by as many as it needs, one task by one.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final
from uuid import UUID

from horae.domain.errors import Invalid, RateLimited
from horae.domain.tenants import Tenant
from horae.domain.wakes import Wake
from horae.domain.workers import Claimed
from horae.runtime.clock import boottime
from horae.runtime.waker import Waker
from horae.service.claims import BATCH, claim
from horae.service.context import Context
from horae.store.cells import Cell, Store
from horae.store.listener import Listener

LONGEST_WAIT: Final = 60.0
MOST_WAITING: Final = 2000
"""Of one tenant, in one process."""
SHORTEST, LONGEST = 0.05, 0.5
There = Callable[[], Awaitable[bool]]


async def _always() -> bool:
    return True


class Line:
    """Those who wait at one queue. The lock goes round in the order they came."""

    def __init__(self, tenant: Tenant) -> None:
        self.turn = asyncio.Lock()
        self.waker = Waker()
        self.waiting = 0
        self._shards = frozenset(tenant.shards())

    def hear(self, wake: Wake, seconds: float) -> None:
        """Something may be due in so many seconds, perhaps here."""
        if (wake.shards is None or wake.shards & self._shards) and seconds <= LONGEST:
            asyncio.get_running_loop().call_later(seconds, self.waker.wake)


class Polls:
    """One per process. Its listeners are duties that someone has to run; without them it looks a little later."""

    def __init__(self, store: Store) -> None:
        self.listeners = [Listener(cell, partial(self._woken, cell)) for cell in store.cells]
        self._lines: dict[tuple[UUID, str], Line] = {}
        self._closed = False

    async def poll(
        self,
        ctx: Context,
        queue: str,
        worker_id: str,
        limit: int = BATCH,
        *,
        wait: float = 0.0,
        there: There = _always,
    ) -> list[Claimed]:
        """Claim what is due, or wait up to `wait` seconds for it. Nothing is claimed for someone who is not `there`."""
        if not 0 <= wait <= LONGEST_WAIT:
            raise Invalid(f"one waits 0 to {LONGEST_WAIT:g} seconds, not {wait:g}")
        key, until = (ctx.tenant.id, queue), boottime() + wait
        if sum(line.waiting for of, line in self._lines.items() if of[0] == ctx.tenant.id) >= MOST_WAITING:
            raise RateLimited(f"the tenant has {MOST_WAITING} workers waiting in this process", 1.0)
        if not wait or key not in self._lines:  # else others look already, and are before us
            taken = await claim(ctx, queue, worker_id, limit)
            if taken or until <= boottime():  # a look that took so long is not followed by another
                return taken
        line = self._lines.setdefault(key, Line(ctx.tenant))
        line.waiting += 1
        try:
            return await self._wait(line, until, there, partial(claim, ctx, queue, worker_id, limit))
        finally:
            line.waiting -= 1
            if not line.waiting:
                self._lines.pop(key, None)

    async def close(self) -> None:
        """Send everyone home with nothing, and hang up."""
        self._closed = True
        for line in self._lines.values():
            line.waker.wake()
        for listener in self.listeners:
            await listener.close()

    async def _wait(
        self, line: Line, until: float, there: There, look: Callable[[], Awaitable[list[Claimed]]]
    ) -> list[Claimed]:
        try:
            async with asyncio.timeout(max(0.0, until - boottime())):
                await line.turn.acquire()
        except TimeoutError:
            return []
        try:
            return await self._look(line, until, there, look)
        finally:
            line.turn.release()

    async def _look(
        self, line: Line, until: float, there: There, look: Callable[[], Awaitable[list[Claimed]]]
    ) -> list[Claimed]:
        """Look until something is there or the time is up; a look is never broken off, what it took would be lost."""
        pause = SHORTEST
        while not self._closed and await there():
            if taken := await look():
                return taken
            left = until - boottime()
            if left <= 0:
                break
            began = boottime()
            await line.waker.wait(min(pause, left))
            pause = SHORTEST if boottime() - began < pause * 0.9 else min(pause * 2, LONGEST)
        return []

    def _woken(self, cell: Cell, wake: Wake) -> None:
        seconds = max(0.0, wake.earliest.timestamp() - cell.clock.seconds())
        for line in self._lines.values():
            line.hear(wake, seconds)

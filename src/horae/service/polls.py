"""Workers that wait for something to do: of all that wait at one queue one claims, the others stand in line.

One look for all queues of a tenant (`horae.service.queue_watch`) tells which of them have something. A worker that gets
something makes room for the next, who claims at once: what arrives in a crowd is taken by as many as it needs.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import Context as Variables
from functools import partial
from typing import Final
from uuid import UUID

from horae.domain.errors import Invalid, RateLimited
from horae.domain.wakes import Wake
from horae.domain.workers import Claimed
from horae.runtime.clock import boottime
from horae.runtime.ending import ended
from horae.service.claims import BATCH, claim
from horae.service.context import Context
from horae.service.queue_watch import PollQueue, QueueWatch
from horae.store.cells import Cell, Store
from horae.store.listener import Listener

LONGEST_WAIT: Final = 60.0
MAX_WAITING: Final = 2000
"""Of one tenant, in one process."""
PRESENCE_INTERVAL_S: Final = 5.0
"""Seconds after which the first of a line is asked whether it is still there."""
There = Callable[[], Awaitable[bool]]


async def _always() -> bool:
    return True


class Polls:
    """One per process. Its listeners are duties that someone has to run; without them it looks a little later."""

    def __init__(self, store: Store) -> None:
        self.listeners = [Listener(cell, partial(self._woken, cell)) for cell in store.cells]
        self.watches: dict[UUID, QueueWatch] = {}
        self._watching: set[asyncio.Task[None]] = set()
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
        until, watch = boottime() + wait, self.watches.get(ctx.tenant.id)
        if watch is not None and watch.waiting >= MAX_WAITING:
            raise RateLimited(f"the tenant has {MAX_WAITING} workers waiting in this process", 1.0)
        if not wait or watch is None or queue not in watch.queues:  # else others look already, and are before us
            taken = await claim(ctx, queue, worker_id, limit)
            if taken or until <= boottime():  # a look that took so long is not followed by another
                return taken
        with self._waiting(ctx, queue) as line:
            return await self._wait(line, until, there, partial(claim, ctx, queue, worker_id, limit))

    async def close(self) -> None:
        """Send everyone home with nothing, and hang up."""
        self._closed = True
        for watch in self.watches.values():
            for line in watch.queues.values():
                line.waker.wake()
        await ended(*self._watching)
        for listener in self.listeners:
            await listener.close()

    @contextmanager
    def _waiting(self, ctx: Context, queue: str) -> Iterator[PollQueue]:
        """A place in line. The tenant is watched while somebody has one."""
        watch = self.watches.get(ctx.tenant.id)
        is_new = watch is None
        if watch is None:
            watch = self.watches[ctx.tenant.id] = QueueWatch(ctx)
        line = watch.join(ctx, queue)
        if is_new:
            task = asyncio.create_task(watch.run(), context=Variables())  # nothing of the request that comes first
            self._watching.add(task)
            task.add_done_callback(self._watching.discard)
        try:
            yield line
        finally:
            watch.leave(queue)
            if not watch.queues:
                self.watches.pop(ctx.tenant.id, None)

    async def _wait(
        self, line: PollQueue, until: float, there: There, look: Callable[[], Awaitable[list[Claimed]]]
    ) -> list[Claimed]:
        try:
            async with asyncio.timeout(max(0.0, until - boottime())):
                await line.turn.acquire()
        except TimeoutError:
            return []
        try:
            return await self._claim(line, until, there, look)
        finally:
            line.turn.release()

    async def _claim(
        self, line: PollQueue, until: float, there: There, look: Callable[[], Awaitable[list[Claimed]]]
    ) -> list[Claimed]:
        """Claim until there is something or the time is up; a claim is never broken off, what it took would be lost."""
        is_due = True  # what came before we did is nobody else's to tell
        while not self._closed and await there():
            if is_due and (taken := await look()):
                return taken
            left = until - boottime()
            if left <= 0:
                break
            is_due = await line.waker.wait(min(PRESENCE_INTERVAL_S, left))
        return []

    def _woken(self, cell: Cell, wake: Wake) -> None:
        seconds = max(0.0, wake.earliest.timestamp() - cell.clock.seconds())
        for watch in self.watches.values():
            watch.hear(wake, seconds)

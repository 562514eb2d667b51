"""Long polls of workers: of all workers that wait at one queue, one claims and the others wait in line.

One query for all queues of a tenant (`horae.service.workers.queue_watch`) finds the queues that have due work. A worker
that gets work leaves, and the next in line claims at once, so a burst is taken by as many workers as it needs.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context as Variables
from functools import partial
from typing import Final
from uuid import UUID

from horae.domain.errors import Invalid, RateLimited
from horae.domain.nodes.wakes import Wake
from horae.domain.workers.queue_workers import PollOrigin
from horae.domain.workers.workers import ClaimedAttempt, WorkerDrained, check_worker
from horae.runtime.cancellation import cancel_and_wait
from horae.runtime.clock import boottime
from horae.service.context import Context
from horae.service.workers.claims import BATCH, claim
from horae.service.workers.poll_records import PollRecorder, WorkerPoll
from horae.service.workers.queue_watch import PollQueue, QueueWatch
from horae.store.connections.listener import Listener
from horae.store.protocol import CellProtocol, StoreProtocol

MAX_POLL_WAIT_S: Final = 60
"""Seconds that a worker may wait at most."""
MAX_WAITING: Final = 2000
"""Workers of one tenant that may wait in one process."""
PRESENCE_INTERVAL_S: Final = 5.0
"""Seconds after which the first worker in line is checked for presence."""
UNKNOWN_ORIGIN: Final = PollOrigin()
There = Callable[[], Awaitable[bool]]


async def _always() -> bool:
    return True


class Polls:
    """The long polls of one process.

    The process has to run `listeners` and `recorder` as duties. Without the listeners a wait ends a little later,
    because only the query finds the work. Without the recorder nobody sees who polls.
    """

    def __init__(self, store: StoreProtocol) -> None:
        self.listeners = [Listener(cell, partial(self._woken, cell)) for cell in store.cells]
        self.recorder = PollRecorder(store)
        self.watches: dict[UUID, QueueWatch] = {}
        self._watching: set[asyncio.Task[None]] = set()
        self._drained: Counter[UUID] = Counter()
        self._closed = asyncio.Event()

    async def poll(
        self,
        ctx: Context,
        queue: str,
        worker_id: str,
        limit: int = BATCH,
        *,
        wait: float = 0.0,
        there: There = _always,
        origin: PollOrigin = UNKNOWN_ORIGIN,
    ) -> list[ClaimedAttempt]:
        """Claim due work, or wait up to `wait` seconds for it. `there` says whether the worker is still connected.

        1. Refuse a wait that is too long. Note that the worker polls. Refuse it beyond `MAX_WAITING` of its tenant.
        2. Claim at once if `wait` is 0, or if no other worker of this process waits at the queue. Return if there is
           work or no time is left.
        3. Otherwise wait in line at the queue. While any worker waits, the `QueueWatch` of the tenant queries its
           queues.
        4. Only the first in line claims: at the start, and whenever the watch finds due work. It claims nothing once
           the worker is gone.
        5. When it returns, the next in line takes its turn.

        A claim raises `WorkerDrained` if the worker is drained. It leaves the line, so that it stops nobody, and waits
        as long as it asked to: a client that does not know the word would poll again at once. Then the error is raised.
        """
        if not 0 <= wait <= MAX_POLL_WAIT_S:
            raise Invalid(f"one waits 0 to {MAX_POLL_WAIT_S:g} seconds, not {wait:g}")
        check_worker(worker_id)
        asked = WorkerPoll(ctx.tenant.id, queue, worker_id, limit, origin)
        self.recorder.note(asked, ctx.now())
        until, watch = boottime() + wait, self.watches.get(ctx.tenant.id)
        if (0 if watch is None else watch.waiting) + self._drained[ctx.tenant.id] >= MAX_WAITING:
            raise RateLimited(f"the tenant has {MAX_WAITING} workers waiting in this process", 1.0)
        try:
            if not wait or watch is None or queue not in watch.queues:  # else other workers are first in line
                taken = await claim(ctx, queue, worker_id, limit)
                if taken or until <= boottime():  # the claim itself took all the time
                    return taken
            with self._place_in_line(ctx, queue) as line, self.recorder.waiting(asked, there):
                return await self._wait(line, until, there, partial(claim, ctx, queue, worker_id, limit))
        except WorkerDrained:
            with self.recorder.waiting(asked, there):
                await self._wait_without_work(ctx.tenant.id, until, there)
            raise

    async def close(self) -> None:
        """End all waits without work, and close the listeners."""
        self._closed.set()
        for watch in self.watches.values():
            for line in watch.queues.values():
                line.waker.wake()
        await cancel_and_wait(*self._watching)
        for listener in self.listeners:
            await listener.close()

    @contextmanager
    def _place_in_line(self, ctx: Context, queue: str) -> Iterator[PollQueue]:
        """Yields a place in line. The tenant's queues are watched while a worker waits."""
        watch = self.watches.get(ctx.tenant.id)
        is_new = watch is None
        if watch is None:
            watch = self.watches[ctx.tenant.id] = QueueWatch(ctx)
        line = watch.join(ctx, queue)
        if is_new:
            task = asyncio.create_task(watch.run(), context=Variables())  # not in the context of this request
            self._watching.add(task)
            task.add_done_callback(self._watching.discard)
        try:
            yield line
        finally:
            watch.leave(queue)
            if not watch.queues:
                self.watches.pop(ctx.tenant.id, None)

    async def _wait(
        self, line: PollQueue, until: float, there: There, look: Callable[[], Awaitable[list[ClaimedAttempt]]]
    ) -> list[ClaimedAttempt]:
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
        self, line: PollQueue, until: float, there: There, look: Callable[[], Awaitable[list[ClaimedAttempt]]]
    ) -> list[ClaimedAttempt]:
        """Claim until there is work or the time is over. A claim is never cancelled: its work would be lost."""
        is_due = True  # nothing reports work that arrived before this wait
        while not self._closed.is_set() and await there():
            if is_due and (taken := await look()):
                return taken
            left = until - boottime()
            if left <= 0:
                break
            is_due = await line.waker.wait(min(PRESENCE_INTERVAL_S, left))
        return []

    async def _wait_without_work(self, tenant_id: UUID, until: float, there: There) -> None:
        self._drained[tenant_id] += 1
        try:
            while not self._closed.is_set() and (left := until - boottime()) > 0 and await there():
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(PRESENCE_INTERVAL_S, left)):
                        await self._closed.wait()
        finally:
            self._drained[tenant_id] -= 1
            if not self._drained[tenant_id]:
                del self._drained[tenant_id]

    def _woken(self, cell: CellProtocol, wake: Wake) -> None:
        seconds = max(0.0, wake.earliest.timestamp() - cell.clock.seconds())
        for watch in self.watches.values():
            watch.plan_query(wake, seconds)

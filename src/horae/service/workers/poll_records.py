"""Records who polls: notes every poll in memory, and writes the workers to every cell once in ten seconds.

A worker costs one row in each round, however often it polls. What a crash of the process loses, the next polls tell.
"""

import os
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.workers.queue_workers import PollOrigin, QueueWorker
from horae.store.connections.each_cell import Visits
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.row_level_security import PLATFORM, restrict
from horae.store.workers import queue_workers
from horae.store.workers.queue_workers import MAX_WORKERS_PER_TENANT

MAX_NOTED: Final = 50_000
"""Pairs of a worker and a queue, of all tenants together, that one round writes; each takes about 500 bytes."""
ROWS_PER_STATEMENT: Final = 2000
LONGEST_PROCESS: Final = 200
"""Characters of the name of an API process."""
WorkerPlace = tuple[str, str]
"""Queue and worker id."""


class WorkerPoll(NamedTuple):
    """One poll of a worker. `wanted`: how many attempts it asks for at most."""

    tenant_id: UUID
    queue: str
    worker_id: str
    wanted: int
    origin: PollOrigin


class PollRecorder:
    """A duty of an API process: one round writes the workers that polled since the last one, or that wait now."""

    def __init__(self, store: StoreProtocol) -> None:
        self._store = restrict(store, PLATFORM)
        self._process = f"{socket.gethostname()}/{os.getpid()}"[:LONGEST_PROCESS]
        self._noted: dict[UUID, dict[WorkerPlace, QueueWorker]] = {}
        self._many = 0
        self._waiting: dict[object, tuple[WorkerPoll, Callable[[], Awaitable[bool]]]] = {}
        self._visits = Visits("pollrecorder")

    def note(self, poll: WorkerPoll, now: datetime) -> None:
        """Note that a worker polls. Beyond the bounds a new worker is left out of this round."""
        noted = self._noted.setdefault(poll.tenant_id, {})
        place = (poll.queue, poll.worker_id)
        if place not in noted:
            if len(noted) >= MAX_WORKERS_PER_TENANT or self._many >= MAX_NOTED or not poll.queue.isprintable():
                return
            self._many += 1
        noted[place] = QueueWorker(
            poll.tenant_id, poll.queue, poll.worker_id, now, now, poll.wanted, poll.origin, self._process
        )

    @contextmanager
    def waiting(self, poll: WorkerPoll, there: Callable[[], Awaitable[bool]]) -> Iterator[None]:
        """Count a poll as one that goes on during the block, for as long as the worker is connected."""
        place = object()
        self._waiting[place] = (poll, there)
        try:
            yield
        finally:
            del self._waiting[place]

    async def once(self) -> int:
        """Write who polls into every cell. A failed write is not repeated. Returns 0: the next round can wait."""
        for poll, there in list(self._waiting.values()):
            if await there():
                self.note(poll, self._store.clock.now())
        noted, self._noted, self._many = self._noted, {}, 0
        seen = sorted((one for of_tenant in noted.values() for one in of_tenant.values()), key=_place)
        if seen:
            await self._visits.each(self._store.cells, partial(self._write, seen))
        return 0

    async def _write(self, seen: Sequence[QueueWorker], cell: CellProtocol) -> None:
        for first in range(0, len(seen), ROWS_PER_STATEMENT):
            async with cell.statement() as tx:
                for tenant_id in await queue_workers.write(tx, self._process, seen[first : first + ROWS_PER_STATEMENT]):
                    await queue_workers.trim(tx, tenant_id)


def _place(one: QueueWorker) -> tuple[UUID, str, str]:
    return one.tenant_id, one.queue, one.worker_id

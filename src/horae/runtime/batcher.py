"""Rows go in one by one, batches go out: at once when it is quiet, paced and larger under load."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Generic, TypeVar

from horae.runtime.batch_queues import BatchQueue, FifoQueue
from horae.runtime.pace import Pace
from horae.runtime.telemetry import log

Row = TypeVar("Row")


class Batcher(Generic[Row]):
    """Runs batches of what was added, a few at a time. What a run raises is logged, and its rows are gone.

    `queue` says in which order rows go; without one it is that in which they came.
    """

    def __init__(
        self,
        name: str,
        run: Callable[[list[Row]], Awaitable[None]],
        pace: Pace,
        *,
        most: int = 200,
        at_once: int = 3,
        queue: BatchQueue[Row] | None = None,
    ) -> None:
        self.name = name
        self.run = run
        self.pace = pace
        self.most = most
        self.at_once = at_once
        self._rows: BatchQueue[Row] = FifoQueue() if queue is None else queue
        self._running: set[asyncio.Task[None]] = set()
        self._timer: asyncio.Handle | None = None

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def busy(self) -> bool:
        """Whether rows wait, or a batch is under way."""
        return bool(self._rows or self._running)

    def add(self, row: Row) -> None:
        """One more."""
        self._rows.append(row)
        if self._timer is None:
            self._arrange()

    def extend(self, rows: Iterable[Row]) -> None:
        """Several more."""
        for row in rows:
            self._rows.append(row)
        if self._rows and self._timer is None:
            self._arrange()

    async def drained(self) -> None:
        """Until everything that was added has been run."""
        while self._rows or self._running:
            self._flush()
            await asyncio.wait(self._running)

    def _arrange(self) -> None:
        if len(self._running) >= self.at_once:
            return  # the first to end goes on
        wait = 0.0 if len(self._rows) >= self.most else self.pace.wait_s()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(wait, self._flush) if wait > 0 else loop.call_soon(self._flush)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        loop = asyncio.get_running_loop()
        while len(self._running) < self.at_once and (batch := self._rows.take(self.most)):
            self.pace.spent(len(batch))
            task = loop.create_task(self._guarded(batch))
            self._running.add(task)
            task.add_done_callback(partial(self._ended, batch))

    def _ended(self, batch: list[Row], task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        self._rows.done(batch)
        if self._rows and self._timer is None:
            self._arrange()

    async def _guarded(self, batch: list[Row]) -> None:
        try:
            await self.run(batch)
        except Exception:
            log.exception("batch.failed", batch=self.name, rows=len(batch))

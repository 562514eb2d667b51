"""Collects single rows into batches: small and at once while it is quiet, larger and paced under load."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Generic, TypeVar

from horae.runtime.batch_queues import BatchQueue, FifoQueue
from horae.runtime.pace import BatchPace
from horae.runtime.telemetry import log

Row = TypeVar("Row")


class Batcher(Generic[Row]):
    """Runs batches of added rows, at most `at_once` at a time. If a run raises, it is logged, and its rows are dropped.

    `queue` decides the order of rows; without it rows go in the order in which they were added.
    """

    def __init__(
        self,
        name: str,
        run: Callable[[list[Row]], Awaitable[None]],
        pace: BatchPace,
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
        self._running_rows = 0

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def busy(self) -> bool:
        """Whether rows wait, or a batch is running."""
        return bool(self._rows or self._running)

    @property
    def unfinished(self) -> int:
        """How many rows wait or belong to a batch that is running."""
        return len(self._rows) + self._running_rows

    def add(self, row: Row) -> None:
        """Add a row."""
        self._rows.append(row)
        if self._timer is None:
            self._arrange()

    def extend(self, rows: Iterable[Row]) -> None:
        """Add rows."""
        for row in rows:
            self._rows.append(row)
        if self._rows and self._timer is None:
            self._arrange()

    async def drain(self) -> None:
        """Run everything that was added, without pauses, and wait for its end."""
        while self._rows or self._running:
            self._flush()
            await asyncio.wait(self._running)

    def _arrange(self) -> None:
        if len(self._running) >= self.at_once:
            return  # the first batch that ends arranges the next one
        wait = self._wait_s()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(wait, self._flush) if wait > 0 else loop.call_soon(self._flush)

    def _wait_s(self) -> float:
        """Seconds until the next batch may go; a full batch may go at once."""
        return 0.0 if len(self._rows) >= self.most else self.pace.wait_s()

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        loop = asyncio.get_running_loop()
        while len(self._running) < self.at_once and (batch := self._rows.take(self.most)):
            self.pace.count_batch(len(batch))
            self._running_rows += len(batch)
            task = loop.create_task(self._run_logged(batch))
            self._running.add(task)
            task.add_done_callback(partial(self._finish, batch))

    def _finish(self, batch: list[Row], task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        self._running_rows -= len(batch)
        self._rows.finish(batch)
        if self._rows and self._timer is None:
            if self._wait_s() > 0:
                self._arrange()
            else:
                self._flush()  # a loop under load takes long to come round: the next batch need not wait for that

    async def _run_logged(self, batch: list[Row]) -> None:
        try:
            await self.run(batch)
        except Exception:
            log.exception("batch.failed", batch=self.name, rows=len(batch))

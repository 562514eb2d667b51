"""Daemon threads for handlers that block. They end with the process; a graceful stop waits for them first."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

Work = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]


class Threads:
    """At most `most` threads, started when they are needed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._queue: SimpleQueue[Work] = SimpleQueue()
        self._started = 0
        self._free = 0
        self._lock = threading.Lock()

    async def run(self, work: Callable[..., Any], *args: Any) -> Any:
        """Run `work` in a thread and wait for its result; context variables are copied."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        context = contextvars.copy_context()
        with self._lock:
            start = not self._free and self._started < self._most
            self._started += start
            self._free -= not start
        if start:
            threading.Thread(target=self._live, name="horae-worker", daemon=True).start()
        self._queue.put((loop, future, lambda: context.run(work, *args)))
        return await future

    def _live(self) -> None:
        while True:
            loop, future, work = self._queue.get()
            try:
                result, error = work(), None
            except BaseException as raised:  # the caller waits for any error
                result, error = None, raised
            with self._lock:
                self._free += 1
            try:
                loop.call_soon_threadsafe(_settle, future, result, error)
            except RuntimeError:  # the loop is closed: there is no waiter any more
                return


def _settle(future: "asyncio.Future[Any]", result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(RuntimeError(repr(error)) if isinstance(error, StopIteration) else error)

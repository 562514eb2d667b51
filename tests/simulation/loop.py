"""An event loop whose time is virtual and whose order is fixed: one thread, one queue, nothing waits for anything real.

Tasks and callbacks belong to the process in whose context they were made. What belongs to a process that has crashed
is never run again; what belongs to one that is paused runs when it goes on, late and with the memory it had.
"""

import asyncio
import heapq
from asyncio import events
from collections.abc import Coroutine
from contextlib import suppress
from contextvars import Context, ContextVar, copy_context
from itertools import count
from typing import Any

START = 1000.0
STEP = 5e-6  # nothing is done in no time; who asks again and again would stand still otherwise


class Process:
    """Something that may crash or pause as a whole: a node, an author, a worker."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.alive = True
        self.paused_until = 0.0

    @staticmethod
    def current() -> "Process | None":
        return PROCESS.get()

    def context(self) -> Context:
        made = copy_context()
        made.run(PROCESS.set, self)
        return made


PROCESS: ContextVar[Process | None] = ContextVar("process", default=None)


class VirtualLoop(asyncio.AbstractEventLoop):
    """Runs whatever is due next, and moves time there."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.steps = 0
        self._now = START
        self._queue: list[tuple[float, int, asyncio.Handle]] = []
        self._order = count()
        self._tasks: list[asyncio.Task[Any]] = []
        self._over = False

    def time(self) -> float:
        return self._now

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return not self._over

    def is_closed(self) -> bool:
        return self._over

    def create_future(self) -> "asyncio.Future[Any]":
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, *, name: str | None = None, context: Context | None = None) -> "asyncio.Task[Any]":
        task = asyncio.Task(coro, loop=self, name=name, context=context)
        self._tasks.append(task)  # one of a crashed process must not be collected while the seed runs
        return task

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> asyncio.Handle:
        return self._put(self._now, asyncio.Handle(callback, args, self, context))

    call_soon_threadsafe = call_soon

    def call_later(self, delay: float, callback: Any, *args: Any, context: Context | None = None) -> Any:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(self, when: float, callback: Any, *args: Any, context: Context | None = None) -> Any:
        return self._put(when, asyncio.TimerHandle(when, callback, args, self, context))

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if not self._over:
            self.errors.append(f"{context.get('message')}: {context.get('exception')!r}")

    def run_until_complete(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run until the work is done; everything else stays where it is."""
        before = events._get_running_loop()
        events._set_running_loop(self)
        try:
            main = self.create_task(work)
            while not main.done():
                self._step()
            return main.result()
        finally:
            events._set_running_loop(before)

    def close(self) -> None:
        """End every task where it stands. What their `finally` blocks ask for is not done any more."""
        self._over = True
        self._queue.clear()
        before = events._get_running_loop()
        events._set_running_loop(self)
        try:
            for task in self._tasks:
                if not task.done():
                    task._log_destroy_pending = False  # type: ignore[attr-defined]
                    with suppress(Exception):
                        task.get_coro().close()  # type: ignore[union-attr]
                elif not task.cancelled() and task._log_traceback:  # type: ignore[attr-defined]
                    self.errors.append(f"nobody heard of {task.exception()!r}")
        finally:
            events._set_running_loop(before)
        self._tasks.clear()

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """It is passed over when its time comes."""

    def _put(self, when: float, handle: asyncio.Handle) -> asyncio.Handle:
        if not self._over:
            heapq.heappush(self._queue, (when, next(self._order), handle))
        return handle

    def _step(self) -> None:
        when, order, handle = heapq.heappop(self._queue)
        if handle._cancelled:
            return
        self._now = max(self._now, when)
        process = handle._context.get(PROCESS)
        if process is not None:
            if not process.alive:
                return
            if process.paused_until > self._now:
                heapq.heappush(self._queue, (process.paused_until, order, handle))
                return
        self.steps += 1
        self._now += STEP
        handle._run()

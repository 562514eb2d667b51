"""Tasks of the event loop that run handlers, many each: a handler that never waits needs no task of its own.

A runner takes the next handler for as long as there is one. Before each handler it schedules the next runner, which
starts as soon as this one waits. So as many handlers run concurrently as are waiting for something.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from typing import Final

from horae_client.work.held import Held
from horae_client.work.kinds import Kind

SLICE: Final = 0.01
"""Seconds after which a runner yields to the rest of the event loop."""
Perform = Callable[[Kind, Held], Awaitable[None]]


class Runners:
    """Runs handlers. Each one gets the context variables of the worker's start, and none of another handler."""

    def __init__(self, perform: Perform) -> None:
        self._perform = perform
        self._next: deque[tuple[Kind, Held]] = deque()
        self._called = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._context = copy_context()

    def add(self, kind: Kind, held: Held) -> None:
        """Run this in its turn."""
        self._next.append((kind, held))
        if not self._called:
            self._call()

    def withdraw(self) -> list[tuple[Kind, Held]]:
        """Remove and return everything that has not started."""
        left = list(self._next)
        self._next.clear()
        return left

    def _call(self) -> None:
        """Start a runner if there is something to run."""
        if self._next:
            self._called = True
            task = asyncio.get_running_loop().create_task(self._run(), context=self._context.copy())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _run(self) -> None:
        self._called = False
        task = asyncio.current_task()
        assert task is not None, "this runs in a task"
        until = time.monotonic() + SLICE
        try:
            while self._next and time.monotonic() < until:
                kind, held = self._next.popleft()
                if not self._called:
                    self._call()
                held.task = task
                try:
                    await self._perform(kind, held)
                finally:
                    held.task = None
                while task.cancelling():  # the cancellation was for this handler, not for the next
                    task.uncancel()
                if copy_context() != self._context:  # it changed a context variable: use a new context
                    break
        finally:
            if not self._called:
                self._call()

"""Tasks of the event loop that run handlers, many each: a handler that never waits costs no task of its own.

A runner takes what is next for as long as something is. Before each handler the next runner is called, and begins as
soon as this one waits; so as many handlers run beside each other as wait for something.
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
"""Seconds after which a runner makes room for whatever else the loop has to do."""
Perform = Callable[[Kind, Held], Awaitable[None]]


class Runners:
    """Each handler finds the context variables that were set where the worker began, and nothing of another's."""

    def __init__(self, perform: Perform) -> None:
        self._perform = perform
        self._next: deque[tuple[Kind, Held]] = deque()
        self._called = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._context = copy_context()

    def add(self, kind: Kind, held: Held) -> None:
        """Run this, in its turn."""
        self._next.append((kind, held))
        if not self._called:
            self._call()

    def withdraw(self) -> list[tuple[Kind, Held]]:
        """Everything that was not begun; it will not be."""
        left = list(self._next)
        self._next.clear()
        return left

    def _call(self) -> None:
        """Someone goes on with what is next, if anything is."""
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
                while task.cancelling():  # that was about this handler, not about the next
                    task.uncancel()
                if copy_context() != self._context:  # what it left there is not for another
                    break
        finally:
            if not self._called:
                self._call()

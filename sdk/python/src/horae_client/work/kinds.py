"""The types that a worker serves, with their handlers and limits."""

import inspect
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from horae_client.work.context import Context
from horae_client.work.held import Held

Handler = Callable[[Context], Any | Awaitable[Any]]


class Kind:
    """One type: its handler, its queue, and how many of its handlers run."""

    def __init__(self, name: str, queue: str, handler: Handler, most: int | None) -> None:
        if most is not None and most < 1:
            raise ValueError("max_concurrency is at least 1")
        self.name = name
        self.queue = queue
        self.handler = handler
        self.most = most
        self.running = 0
        self.waiting: deque[Held] = deque()
        self.blocks = not inspect.iscoroutinefunction(inspect.unwrap(handler))

    def room(self, most: int) -> int:
        """How many more may be claimed."""
        return (self.most or most) - self.running - len(self.waiting)

    @property
    def may_run(self) -> bool:
        """Whether one more may run now."""
        return self.most is None or self.running < self.most

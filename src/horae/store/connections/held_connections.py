"""Tracks which asyncio task holds connections.

A task that holds one connection and waits for a second one can wait for tasks that do the same. As soon as there are as
many such tasks as the pool has connections, all of them stand still until they time out, and every other task waits
with them. So no task takes a second connection:

1. What a transaction needs from elsewhere (calendars, keys) is read before it begins, or by its own `Tx`.
2. If a data key turns out to be missing inside a repeatable transaction, the transaction ends with `KeyNotLoaded`.
   `Cell.run` gives the connection back, reads the key and starts the transaction again.
3. The test suite watches every connection that is taken (`watch`) and refuses a second one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

Watcher = Callable[[Sequence[object]], object]
"""Called with the labels of the connections that a task already holds. Returns a label for the new one, or raises."""
_held: Final[dict["asyncio.Task[Any]", list[object]]] = {}
_repeatable: Final[set["asyncio.Task[Any]"]] = set()
_watchers: Final[list[Watcher]] = []


class KeyNotLoaded(Exception):
    """A data key has to be read, but not while a connection is held. `learn` reads it."""

    def __init__(self, learn: Callable[[], Awaitable[object]]) -> None:
        super().__init__("a data key has to be read before the transaction begins")
        self.learn = learn


@contextmanager
def hold_connection() -> Iterator[None]:
    """Record that the task holds a connection, or waits for one, during the block."""
    task = asyncio.current_task()
    if task is None:
        yield
        return
    held = _held.setdefault(task, [])
    held.append(_watchers[-1](held) if _watchers else None)
    try:
        yield
    finally:
        held.pop()
        if not held:
            _held.pop(task, None)


@contextmanager
def repeatable() -> Iterator[None]:
    """Mark the block as a transaction that the task can run again from the start."""
    task = asyncio.current_task()
    if task is None or task in _repeatable:
        yield
        return
    _repeatable.add(task)
    try:
        yield
    finally:
        _repeatable.discard(task)


def in_repeatable() -> bool:
    """Whether the task is inside a transaction that it can run again."""
    task = asyncio.current_task()
    return task in _repeatable and task in _held


@contextmanager
def watch(watcher: Watcher) -> Iterator[None]:
    """Call a watcher for every connection that is taken during the block."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)

"""Which task holds connections.

A task that holds a connection and waits for a second one waits for others of its kind: as many such tasks as a pool has
connections stand still together until each gives up, and everybody else waits with them. So nobody takes a second one:

1. What a transaction needs from elsewhere (calendars, keys) is read before it begins, or by its own `Tx`.
2. A key that turns out to be missing inside a transaction that can be repeated ends it: `KeyNotAtHand`. `Cell.run`
   gives the connection back, learns the key and begins again.
3. The test suite watches every connection that is taken (`watch`) and refuses a second one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

Watcher = Callable[[Sequence[object]], object]
"""Is told what is held when one more is taken, each as it named it itself, and names the new one, or raises."""
_held: Final[dict["asyncio.Task[Any]", list[object]]] = {}
_repeatable: Final[set["asyncio.Task[Any]"]] = set()
_watchers: Final[list[Watcher]] = []


class KeyNotAtHand(Exception):
    """A data key has to be read, and not while a connection is held. `learn` reads it."""

    def __init__(self, learn: Callable[[], Awaitable[object]]) -> None:
        super().__init__("a data key has to be read before the transaction begins")
        self.learn = learn


@contextmanager
def holding() -> Iterator[None]:
    """Note that the task holds a connection, or waits for it, while the block lasts."""
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
    """What the task does in this block is a transaction that it can begin again."""
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
    """Whether the task is inside a transaction that it can begin again."""
    task = asyncio.current_task()
    return task in _repeatable and task in _held


@contextmanager
def watch(watcher: Watcher) -> Iterator[None]:
    """Ask someone about every connection that is taken, while the block lasts."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)

"""Gathers items of concurrent callers and writes them together: many in one transaction cost little more than one.

1. The first item is written at once. Items that come meanwhile wait.
2. At its end those that wait are written together, as soon as they are as many as the last time, or after `GATHER_S`:
   callers that had their answers just now are about to send their next items.
3. A write that takes longer than `BESIDE_S`, because it waits for a lock, keeps the others waiting no longer: the next
   one begins beside it.
4. A group in which nobody waits at the end of a write of one item is over.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from functools import partial
from typing import Final, Generic, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Write = Callable[[Sequence[Item]], Awaitable[Sequence[Answer | Exception]]]

GATHER_S: Final = 0.002
"""Seconds that items wait for as many others as were written together the last time."""
BESIDE_S: Final = 0.01
"""Seconds after which a further write begins beside one that is under way."""
MOST_TOGETHER: Final = 100
"""Items in one write at most: more would hold their row locks for longer than a caller should wait."""
MOST_BESIDE: Final = 8
"""Writes of one group at the same time."""


class Group(Generic[Item, Answer]):
    """Items that may be written together. `write` returns an answer or an error for each item."""

    def __init__(self, write: Write[Item, Answer], forget: Callable[[], object]) -> None:
        self._write, self._forget = write, forget
        self._waiting: list[tuple[Item, asyncio.Future[Answer]]] = []
        self._under_way = 0
        self._expected = 1
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def add(self, item: Item) -> Answer:
        """Returns the answer of an item once it is written, or raises its error."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, answer))
        if not self._under_way and len(self._waiting) >= self._expected:
            self._begin()
        elif self._timer is None:
            self._set_timer(BESIDE_S if self._under_way else GATHER_S)
        return await answer

    def _begin(self) -> None:
        """Begin a write of the items that wait, unless as many as allowed are under way."""
        self._stop_timer()
        if not self._waiting:
            if not self._under_way:
                self._forget()
            return
        if self._under_way >= MOST_BESIDE:
            return  # the next end begins one
        some, self._waiting = self._waiting[:MOST_TOGETHER], self._waiting[MOST_TOGETHER:]
        self._under_way += 1
        self._expected = len(some)
        task = asyncio.create_task(self._run(some))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if self._waiting:
            self._set_timer(BESIDE_S)

    async def _run(self, some: list[tuple[Item, asyncio.Future[Answer]]]) -> None:
        answers: Sequence[Answer | Exception]
        try:
            answers = await self._write([item for item, _ in some])
        except Exception as error:
            answers = [error] * len(some)
        except asyncio.CancelledError:  # the process ends
            for _, waiting in some:
                waiting.cancel()
            raise
        for (_, waiting), answer in zip(some, answers, strict=True):
            if waiting.done():
                continue  # its caller has gone
            if isinstance(answer, Exception):
                waiting.set_exception(answer)
            else:
                waiting.set_result(answer)
        self._end(len(some))

    def _end(self, written: int) -> None:
        """After a write: begin the next one, wait a moment for items, or end the group."""
        self._under_way -= 1
        if len(self._waiting) >= self._expected or (written == 1 and not self._waiting):
            self._begin()
        elif not self._under_way:
            self._stop_timer()
            self._set_timer(GATHER_S)

    def _set_timer(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._begin)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Groups(Generic[Item, Answer]):
    """The groups of one process, by what their items have in common. A group that is over is forgotten."""

    def __init__(self) -> None:
        self._groups: dict[Hashable, Group[Item, Answer]] = {}

    def __len__(self) -> int:
        return len(self._groups)

    def find(self, key: Hashable, write: Callable[[], Write[Item, Answer]]) -> Group[Item, Answer]:
        """Returns the group of a key. A new one writes with what `write` returns."""
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = Group(write(), partial(self._groups.pop, key, None))
        return group

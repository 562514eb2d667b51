"""Bounds how many things run at once in a process, in all and per owner, so that no owner takes all places."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from horae.runtime.cancellation import cancel_and_wait

Owner = TypeVar("Owner", bound=Hashable)


class _Share:
    """The places of one owner, and how many users hold or await one."""

    def __init__(self, most: int) -> None:
        self.places = asyncio.Semaphore(most)
        self.users = 0


class SharedPlaces:
    """At most `most` places at once, and at most `most_of_one` per owner; the others wait in order."""

    def __init__(self, most: int, most_of_one: int) -> None:
        self._places = asyncio.Semaphore(most)
        self._most_of_one = most_of_one
        self._shares: dict[Hashable, _Share] = {}

    def __len__(self) -> int:
        """How many owners hold or await a place."""
        return len(self._shares)

    def users(self, owner: Hashable) -> int:
        """How many users of an owner hold or await a place."""
        share = self._shares.get(owner)
        return 0 if share is None else share.users

    @asynccontextmanager
    async def of(self, owner: Hashable) -> AsyncIterator[None]:
        """Hold a place while the block runs. A user that waits for its owner's bound holds no common place."""
        share = self._shares.setdefault(owner, _Share(self._most_of_one))
        share.users += 1
        try:
            async with share.places, self._places:
                yield
        finally:
            share.users -= 1
            if not share.users:
                del self._shares[owner]


class SharedTasks(Generic[Owner]):
    """Runs tasks in shared places. To start a thing again while it runs or waits for a place does nothing."""

    def __init__(self, most: int, most_of_one: int) -> None:
        self._places = SharedPlaces(most, most_of_one)
        self._tasks: dict[Hashable, asyncio.Task[int]] = {}
        self._owners: dict[Hashable, Owner] = {}
        self._done = 0

    def __len__(self) -> int:
        return len(self._tasks)

    def by_owner(self) -> Counter[Owner]:
        """How many things of each owner run or wait for a place."""
        return Counter(self._owners[thing] for thing, task in self._tasks.items() if not task.done())

    def start(self, owner: Owner, thing: Hashable, work: Callable[[], Awaitable[int]]) -> None:
        """Work on a thing of an owner as soon as there is a place; `work` returns how much it did."""
        if thing not in self._tasks:
            self._owners[thing] = owner
            self._tasks[thing] = asyncio.create_task(self._run(owner, work))

    async def settle(self, seconds: float) -> int:
        """Wait until nothing runs, at most this many seconds; returns how much was done since the last call.

        If a task failed or was cancelled from inside, its error is raised after the results of the others are counted.
        """
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=seconds)
        over = {thing: task for thing, task in self._tasks.items() if task.done()}
        for thing in over:
            del self._tasks[thing], self._owners[thing]
        for task in over.values():
            if not task.cancelled() and task.exception() is None:
                self._done += task.result()
        for task in over.values():
            task.result()
        done, self._done = self._done, 0
        return done

    async def close(self) -> None:
        """Cancel all tasks and wait for their end."""
        tasks, self._tasks, self._owners = self._tasks, {}, {}
        await cancel_and_wait(*tasks.values())

    async def _run(self, owner: Hashable, work: Callable[[], Awaitable[int]]) -> int:
        async with self._places.of(owner):
            return await work()

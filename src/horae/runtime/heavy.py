"""Computations that take seconds, in a process that must answer within milliseconds.

Python runs one thread at a time, so a thread would not help. Such a computation is a generator of small steps. It runs
in slices, and between two slices the event loop does other work.
"""

import asyncio
from collections.abc import AsyncIterator, Generator, Hashable
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Final, TypeVar

from horae.domain.errors import RateLimited
from horae.runtime.sharing import SharedPlaces

Result = TypeVar("Result")
SLICE_S: Final = 0.005
"""Seconds of a slice, and of the pause after it."""
MOST_WAITING: Final = 8
"""Computations of one owner that may wait for their turn; one more is refused."""


async def run_in_slices(steps: Generator[None, None, Result]) -> Result:
    """Run a computation to its end; after each slice the event loop gets as much time for other work."""
    ends = perf_counter() + SLICE_S
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
        if perf_counter() >= ends:
            await asyncio.sleep(SLICE_S)
            ends = perf_counter() + SLICE_S


class HeavyTurns:
    """One per process: one heavy computation at a time. Of each owner at most one competes with other owners."""

    def __init__(self) -> None:
        self._places = SharedPlaces(most=1, most_of_one=1)

    @asynccontextmanager
    async def turn(self, owner: Hashable) -> AsyncIterator[None]:
        """Wait for the owner's turn, and keep it while the block runs."""
        many = self._places.users(owner)
        if many > MOST_WAITING:
            raise RateLimited(f"{many} such computations of the tenant are under way already", 1.0)
        async with self._places.of(owner):
            yield

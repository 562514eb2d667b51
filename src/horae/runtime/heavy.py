"""Computations of seconds in a process that answers others within milliseconds.

Python runs one thread at a time, so a thread would not help: such a computation is cut into steps, and the event loop
does as much else as it likes between two slices of them.
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
"""How long steps are run one after the other, and how long the loop then has for others."""
MOST_WAITING: Final = 8
"""Computations of one owner that wait for their turn; one more is refused."""


async def run_in_slices(steps: Generator[None, None, Result]) -> Result:
    """Run a computation to its end; after each slice the loop has as much time for others."""
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
    """One per process: a heavy computation at a time, and of each owner at most one that waits for the others'."""

    def __init__(self) -> None:
        self._places = SharedPlaces(most=1, most_of_one=1)

    @asynccontextmanager
    async def turn(self, owner: Hashable) -> AsyncIterator[None]:
        """The owner's turn, while the block lasts."""
        many = self._places.users(owner)
        if many > MOST_WAITING:
            raise RateLimited(f"{many} such computations of the tenant are under way already", 1.0)
        async with self._places.of(owner):
            yield

"""Long computations that let the other tasks of the event loop have their turns."""

import asyncio
from time import perf_counter
from typing import Final

LONGEST_TURN_S: Final = 0.005
"""Seconds that a computation uses before other tasks get a turn."""


class LoopTurns:
    """The turns of one computation. It calls `yield_if_long` between its steps."""

    def __init__(self) -> None:
        self._began = perf_counter()

    async def yield_if_long(self) -> None:
        """Let other tasks run if this turn has been long enough."""
        if perf_counter() - self._began > LONGEST_TURN_S:
            await asyncio.sleep(0)
            self._began = perf_counter()

"""Wake-ups that merge: twenty calls between two waits cause one round (seed 004)."""

import asyncio
from contextlib import suppress


class Waker:
    """A hint that something changed. A lost hint costs delay, never a fire."""

    def __init__(self) -> None:
        self._flag = asyncio.Event()

    def wake(self) -> None:
        """End the present wait, or the next one."""
        self._flag.set()

    async def wait(self, seconds: float) -> bool:
        """Wait until woken, at most this many seconds; returns whether it was woken."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._flag.wait()
        woken = self._flag.is_set()
        self._flag.clear()  # before the round, so that a wake during it is kept
        return woken

"""Wake-ups that merge: twenty calls between two waits cost one look (seed 004)."""

import asyncio
from contextlib import suppress


class Waker:
    """A hint that something changed. A lost one costs delay, never a fire."""

    def __init__(self) -> None:
        self._flag = asyncio.Event()

    def wake(self) -> None:
        """Ask for a look, soon."""
        self._flag.set()

    async def wait(self, seconds: float) -> bool:
        """Until woken, or for so many seconds; returns whether it was woken."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._flag.wait()
        woken = self._flag.is_set()
        self._flag.clear()  # before the look, so a wake during it is kept
        return woken

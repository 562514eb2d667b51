"""Whether this process can serve, and how it stands with each cell."""

import asyncio
from collections.abc import Callable
from typing import Final, NamedTuple

from horae.runtime.clock import boottime
from horae.store.cells import Cell, Store

PATIENCE_S: Final = 1.0
REMEMBERED_S: Final = 1.0
"""Seconds for which an answer is good: whoever asks needs no key, so asking often must cost no cell anything."""


class CellReadiness(NamedTuple):
    """One cell as this process sees it."""

    name: str
    reachable: bool
    clock_age_seconds: float | None
    clock_trusted: bool
    shards: int


class Readiness:
    """Asks the cells at most once a second, however many want to know."""

    def __init__(self, store: Store, now: Callable[[], float] = boottime) -> None:
        self._store = store
        self._now = now
        self._found: list[CellReadiness] = []
        self._good_until = float("-inf")
        self._looking: asyncio.Task[list[CellReadiness]] | None = None

    async def look(self) -> list[CellReadiness]:
        """How it stands with every cell, as of the last second."""
        if self._now() < self._good_until:
            return self._found
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        return await asyncio.shield(self._looking)

    async def _look(self) -> list[CellReadiness]:
        self._found = await look(self._store)
        self._good_until = self._now() + REMEMBERED_S
        return self._found


async def look(store: Store) -> list[CellReadiness]:
    """Ask every cell for its time, at once and not for long."""
    return list(await asyncio.gather(*(_look(store, cell) for cell in store.cells)))


async def _look(store: Store, cell: Cell) -> CellReadiness:
    try:
        async with asyncio.timeout(PATIENCE_S):
            await cell.sync_clock()
        reachable = True
    except Exception:
        reachable = False
    age = cell.clock.age() if cell.clock.was_read else None
    return CellReadiness(cell.name, reachable, age, cell.clock.trusted, len(store.shards_of(cell)))

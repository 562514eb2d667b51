"""Readiness: whether this process can serve, and the state of each cell."""

import asyncio
from collections.abc import Callable
from typing import Final, NamedTuple

from horae.runtime.clock import boottime
from horae.store.protocol import CellProtocol, StoreProtocol

ANSWER_TIMEOUT_S: Final = 1.0
"""Seconds that a cell has to answer."""
ANSWER_REMEMBERED_S: Final = 1.0
"""Seconds for which an answer is reused. A caller needs no API key, so frequent calls must cost the cells nothing."""


class CellReadiness(NamedTuple):
    """The state of one cell, as this process sees it."""

    name: str
    reachable: bool
    clock_age_seconds: float | None
    clock_trusted: bool
    shards: int


class Readiness:
    """Asks the cells at most once a second, for any number of callers."""

    def __init__(self, store: StoreProtocol, now: Callable[[], float] = boottime) -> None:
        self._store = store
        self._now = now
        self._found: list[CellReadiness] = []
        self._good_until = float("-inf")
        self._looking: asyncio.Task[list[CellReadiness]] | None = None

    async def look(self) -> list[CellReadiness]:
        """Returns the state of every cell, at most a second old."""
        if self._now() < self._good_until:
            return self._found
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        return await asyncio.shield(self._looking)

    async def _look(self) -> list[CellReadiness]:
        self._found = await look(self._store)
        self._good_until = self._now() + ANSWER_REMEMBERED_S
        return self._found


async def look(store: StoreProtocol) -> list[CellReadiness]:
    """Ask every cell for its time, all at once, for at most `ANSWER_TIMEOUT_S`."""
    return list(await asyncio.gather(*(_look(store, cell) for cell in store.cells)))


async def _look(store: StoreProtocol, cell: CellProtocol) -> CellReadiness:
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            await cell.sync_clock()
        reachable = True
    except Exception:
        reachable = False
    age = cell.clock.age() if cell.clock.was_read else None
    return CellReadiness(cell.name, reachable, age, cell.clock.trusted, len(store.shards_of(cell)))

"""Whether this process can serve, and how it stands with each cell."""

import asyncio
from typing import Final, NamedTuple

from horae.store.cells import Cell, Store

PATIENCE: Final = 1.0


class CellReadiness(NamedTuple):
    """One cell as this process sees it."""

    name: str
    reachable: bool
    clock_age_seconds: float
    clock_trusted: bool
    shards: int


async def look(store: Store) -> list[CellReadiness]:
    """Ask every cell for its time, at once and not for long."""
    return list(await asyncio.gather(*(_look(store, cell) for cell in store.cells)))


async def _look(store: Store, cell: Cell) -> CellReadiness:
    try:
        async with asyncio.timeout(PATIENCE):
            await cell.sync_clock()
        reachable = True
    except Exception:
        reachable = False
    return CellReadiness(cell.name, reachable, cell.clock.age(), cell.clock.trusted, len(store.shards_of(cell)))

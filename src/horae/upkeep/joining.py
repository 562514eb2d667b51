"""Opens the cells that did not answer when this process began."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from horae.domain.errors import Unfit
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.connections.each_cell import UNSERVED, CellPart, Visits
from horae.store.store import Store
from horae.store.tx import UNMIGRATED, UNREACHABLE


class CellJoiner:
    """A duty: try to open the cells that are not open. `check` refuses unfit cells; `joined` is called after success.

    A process may reach the same cells by several roles, each with a store of its own.
    """

    def __init__(
        self,
        stores: Sequence[Store],
        check: Callable[[Cell], Awaitable[None]],
        joined: Callable[[Cell], None] = lambda _cell: None,
    ) -> None:
        self._stores = stores
        self._check = check
        self._joined = joined
        self._visits = Visits("celljoiner", (*UNSERVED, *UNREACHABLE, *UNMIGRATED, Unfit))

    async def once(self) -> int:
        """Try every cell that is not open. Returns 0: the next round can wait."""
        closed = [(store, cell) for store in self._stores for cell in store.cells if not cell.is_open]
        names = {f"{cell.name} of store {self._stores.index(store)}": (store, cell) for store, cell in closed}
        parts = {name: CellPart([cell], partial(self._join, store, cell)) for name, (store, cell) in names.items()}
        return await self._visits.round(parts)

    async def _join(self, store: Store, cell: Cell) -> None:
        await self._check(cell)
        await store.join(cell)
        log.info("cell.joined", cell=cell.name, shards=len(store.shards_of(cell)))
        self._joined(cell)

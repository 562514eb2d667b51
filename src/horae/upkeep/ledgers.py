"""Deletes the ledgers of business keys that are over the term of their type (`key_retention_days`).

A walk goes over all keys of such a type in pages, a few pages in each round. Besides, it deletes the versions of
subjects that messages removed long ago.
"""

from collections import deque
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from horae.runtime.telemetry import log
from horae.store.connections.each_cell import Visits
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.rolling import versions
from horae.store.tasks import ledgers
from horae.store.tasks.ledgers import KeyTerm

PAGE: Final = 2000
"""Keys that one statement goes over."""
PAGES: Final = 10
"""Pages of a cell in one round."""
REMOVED_SUBJECTS_KEPT: Final = timedelta(days=30)
"""How long the version of a removed subject is kept: a message that is later than this may bring the subject back."""


class KeyWalk:
    """The progress of a walk in one cell: the shards that are left, and the last key that was read of the first."""

    def __init__(self) -> None:
        self.left: deque[tuple[KeyTerm, int]] = deque()
        self.after = ""


class KeyForgetter:
    """A duty, for the cells that this process is responsible for. `dead_kept` is how long dead letters are kept."""

    def __init__(
        self, store: StoreProtocol, dead_kept: timedelta, mine: Callable[[CellProtocol], bool] = lambda _: True
    ) -> None:
        self.store, self.dead_kept, self._mine = store, dead_kept, mine
        self._walks: dict[str, KeyWalk] = {}
        self._visits = Visits("keyforgetter")

    async def once(self) -> int:
        """Walk some pages in each cell. Returns more than 0 where a walk goes on."""
        return await self._visits.each(filter(self._mine, self.store.cells), self._walk)

    async def _walk(self, cell: CellProtocol) -> int:
        walk = self._walks.setdefault(cell.name, KeyWalk())
        if not walk.left:
            async with cell.statement() as tx:
                for term in await ledgers.terms(tx):
                    walk.left += [(term, shard) for shard in await ledgers.shards(tx, term.job_id)]
        gone = await self._forget_subjects(cell)
        for _ in range(PAGES):
            if walk.left:
                gone += await self._page(cell, walk)
        if gone:
            log.info("keys.deleted", cell=cell.name, keys=gone)
        return gone + len(walk.left)

    async def _forget_subjects(self, cell: CellProtocol) -> int:
        async with cell.statement() as tx:
            return await versions.forget_removed(tx, tx.now - REMOVED_SUBJECTS_KEPT, PAGE)

    async def _page(self, cell: CellProtocol, walk: KeyWalk) -> int:
        """Read one page of the walk, and go on behind it."""
        term, shard = walk.left[0]
        async with cell.statement() as tx:
            before = tx.now - timedelta(days=term.days)
            dead_before = min(before, tx.now - self.dead_kept)
            page = await ledgers.forget(tx, shard, term, walk.after, before, dead_before, PAGE)
        walk.after = page.last or ""
        if page.seen < PAGE:
            walk.left.popleft()
            walk.after = ""
        return page.gone

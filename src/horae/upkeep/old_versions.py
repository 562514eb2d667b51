"""Deletes versions of jobs that were replaced long ago and that nothing refers to any more.

A walk goes over all versions of a cell in pages, a few pages in each round. The last versions of a job always stay, so
that somebody can compare with them and go back.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Final

from horae.runtime.telemetry import log
from horae.store.connections.each_cell import CellPart, Visits
from horae.store.jobs import old_versions
from horae.store.jobs.old_versions import FIRST, VersionId
from horae.store.protocol import CellProtocol, StoreProtocol

LAST_VERSIONS_KEPT: Final = 10
"""Versions of a job that stay, however old they are."""
PAGE: Final = 1000
"""Versions that one statement goes over."""
PAGES: Final = 10
"""Pages of a cell in one round."""


class VersionForgetter:
    """A duty, for the cells that this process is responsible for. It needs all cells: a silent one may have tasks."""

    def __init__(
        self, store: StoreProtocol, kept: timedelta, mine: Callable[[CellProtocol], bool] = lambda _: True
    ) -> None:
        self.store, self.kept, self._mine = store, kept, mine
        self._after: dict[str, VersionId] = {}
        self._visits = Visits("versionforgetter")

    async def once(self) -> int:
        """Walk some pages in each cell, if all cells answer. Returns more than 0 where a walk goes on."""
        homes, cells = filter(self._mine, self.store.cells), self.store.cells
        return await self._visits.round({home.name: CellPart(cells, partial(self._walk, home)) for home in homes})

    async def _walk(self, home: CellProtocol) -> int:
        gone, ended = 0, False
        for _ in range(PAGES):
            async with home.statement() as tx:
                after = self._after.get(home.name, FIRST)
                page = await old_versions.page(tx, after, tx.now - self.kept, LAST_VERSIONS_KEPT, PAGE)
            gone += await self._forget(home, page.unused)
            ended = page.seen < PAGE
            self._after[home.name] = FIRST if ended else page.last
            if ended:
                break
        if gone:
            log.info("versions.deleted", cell=home.name, versions=gone)
        return 0 if ended else 1

    async def _forget(self, home: CellProtocol, unused: list[VersionId]) -> int:
        for cell in self.store.cells if unused else ():
            async with cell.statement() as tx:
                used = await old_versions.used(tx, unused)
            unused = [one for one in unused if one not in used]
        if not unused:
            return 0
        async with home.statement() as tx:
            return await old_versions.forget(tx, unused)

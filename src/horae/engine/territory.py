"""The shards a node holds in one cell, and the scans over them: one statement per run of neighbours."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from horae.domain.instances import Instance, Priority
from horae.domain.placement import Run, runs_of
from horae.store import cursors, instances
from horae.store.cursors import Cursor
from horae.store.instances import Claim
from horae.store.tx import Tx


class DueLook(NamedTuple):
    """What a look at the cursors found. `drained`: there was no more, so the front may move."""

    found: list[Cursor]
    drained: bool


class ClaimLook(NamedTuple):
    """What a claim took. `drained`: there was no more."""

    taken: list[Instance]
    drained: bool


class Territory:
    """Shards as scans want them. Leases are dealt in neighbouring shards, so the runs are few."""

    def __init__(self, shards: Iterable[int] = ()) -> None:
        self.hold(shards)

    def hold(self, shards: Iterable[int]) -> None:
        """From now on, these."""
        self.shards = frozenset(shards)
        self.wide, self.narrow = runs_of(self.shards)

    @property
    def runs(self) -> list[Run]:
        """Everything as runs, narrow ones too."""
        return self.wide + [Run(shard, shard) for shard in self.narrow]

    async def due(self, tx: Tx, priority: Priority, low: datetime, limit: int) -> DueLook:
        """Due cursors of one priority."""
        pages = [await cursors.due(tx, run, priority, low, tx.now, limit) for run in self.wide]
        if self.narrow:
            pages.append(await cursors.due_narrow(tx, self.narrow, priority, low, tx.now, limit))
        return DueLook([cursor for page in pages for cursor in page], all(len(page) < limit for page in pages))

    async def claim(self, tx: Tx, ask: Claim) -> ClaimLook:
        """Due instances of one class, taken."""
        pages = [await instances.claim(tx, run, ask) for run in self.wide]
        if self.narrow:
            pages.append(await instances.claim_narrow(tx, self.narrow, ask))
        return ClaimLook([taken for page in pages for taken in page], all(len(page) < ask.limit for page in pages))

"""Makes RUNNING instances due again whose owner is gone, or whose deadline has passed.

1. Every node does this for its own shards. It reads pages in the order of deadlines, so that a row that cannot be
   rescued does not hide others.
2. The write compares attempt, token and the deadline that was read. So a heartbeat or an answer in between wins.
"""

from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from horae.domain.instances.outcomes import LostAttempt
from horae.domain.placement import Run
from horae.engine.territory import Territory
from horae.repositories.definitions import Definitions
from horae.repositories.settle import AttemptOutcome, Settler
from horae.runtime.clock import boottime
from horae.store.cells import Cell
from horae.store.instances import instances
from horae.store.nodes.scans import BEGINNING

PAGE: Final = 500
FULL_ROUND_INTERVAL_S: Final = 10.0
"""Seconds between two rounds that also look for owners that are gone."""
END: Final = datetime(9999, 1, 1, tzinfo=UTC)


class Rescuer:
    """Settles abandoned attempts as lost."""

    def __init__(self, cell: Cell, territory: Territory, definitions: Definitions, settler: Settler) -> None:
        self.cell = cell
        self.territory = territory
        self.definitions = definitions
        self.settler = settler
        self._whole_at = -FULL_ROUND_INTERVAL_S

    async def once(self) -> int:
        """Rescue instances past their deadline; every 10 s and after a takeover also those of dead owners."""
        if not self.cell.clock.trusted:
            return 0  # terms of nodes have the database's time, which must not be compared with ours now
        now = boottime()
        whole = now - self._whole_at >= FULL_ROUND_INTERVAL_S
        if whole:
            self._whole_at = now
        return sum([await self._rescue(run, whole=whole) for run in self.territory.runs])

    def request_full_scan(self) -> None:
        """Look for dead owners in the next round, before the deadlines of their calls: shards were taken over."""
        self._whole_at = -FULL_ROUND_INTERVAL_S

    async def _rescue(self, run: Run, *, whole: bool) -> int:
        rescued = 0
        after = (BEGINNING, UUID(int=0))
        while True:
            async with self.cell.statement() as tx:
                lost = await instances.abandoned(tx, run, END if whole else tx.now, after, PAGE)
            if not lost:
                return rescued
            wanted = {(ran.shard, ran.job_id, ran.job_version) for ran in lost}
            known = await self.definitions.load_from(self.cell, wanted)
            results = [
                AttemptOutcome(
                    ran, known.get((ran.job_id, ran.job_version)), LostAttempt(ours=ran.worker_id is None), rescued=True
                )
                for ran in lost
            ]
            rescued += (await self.settler.settle(results)).written
            last = lost[-1]
            assert last.deadline is not None
            after = (last.deadline, last.id)

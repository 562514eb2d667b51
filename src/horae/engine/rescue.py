"""Instances whose owner is gone, or that stayed RUNNING past their deadline, become due again.

Runs on every node, is not itself a job, and goes by pages in the order of deadlines, so that rows it cannot rescue
hide no others. The write is guarded by token, attempt and the deadline that was seen: a heartbeat or an answer in
between wins.
"""

from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from horae.domain.outcomes import Lost
from horae.domain.placement import Run
from horae.engine.territory import Territory
from horae.runtime.clock import boottime
from horae.store import instances
from horae.store.cells import Cell
from horae.store.definitions import Definitions
from horae.store.looks import BEGINNING
from horae.store.settle import Result, Settler

PAGE: Final = 500
WHOLE: Final = 10.0
END: Final = datetime(9999, 1, 1, tzinfo=UTC)


class Rescuer:
    """Settles as lost what nobody answers for any more."""

    def __init__(self, cell: Cell, territory: Territory, definitions: Definitions, settler: Settler) -> None:
        self.cell = cell
        self.territory = territory
        self.definitions = definitions
        self.settler = settler
        self._whole_at = -WHOLE

    async def once(self) -> int:
        """Everything past its deadline; now and then, and after a takeover, also what vanished owners ran."""
        if not self.cell.clock.trusted:
            return 0  # terms are dated by the database, and would be compared with a time it does not share
        now = boottime()
        whole = now - self._whole_at >= WHOLE
        if whole:
            self._whole_at = now
        return sum([await self._rescue(run, whole=whole) for run in self.territory.runs])

    def look_at_all(self) -> None:
        """Shards were taken over: what their owner ran is lost before its deadline."""
        self._whole_at = -WHOLE

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
                Result(ran, known.get((ran.job_id, ran.job_version)), Lost(ours=ran.worker_id is None), rescued=True)
                for ran in lost
            ]
            rescued += (await self.settler.settle(results)).written
            last = lost[-1]
            assert last.deadline is not None
            after = (last.deadline, last.id)

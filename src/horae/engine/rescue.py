"""Instances whose owner is gone, or that stayed RUNNING past their deadline, become due again.

Runs on every node, is not itself a job, and goes by pages over ids, so that rows it cannot rescue hide no others.
The write is guarded by token, attempt and the deadline that was seen: a heartbeat or an answer in between wins.
"""

from typing import Final
from uuid import UUID

from horae.domain.outcomes import Lost
from horae.domain.placement import Run
from horae.engine.territory import Territory
from horae.store import instances
from horae.store.cells import Cell
from horae.store.definitions import Definitions
from horae.store.settle import Result, Settler

PAGE: Final = 500


class Rescuer:
    """Settles as lost what nobody answers for any more."""

    def __init__(self, cell: Cell, territory: Territory, definitions: Definitions, settler: Settler) -> None:
        self.cell = cell
        self.territory = territory
        self.definitions = definitions
        self.settler = settler

    async def once(self) -> int:
        """Every page once; returns how many were rescued."""
        return sum([await self._rescue(run) for run in self.territory.runs])

    async def _rescue(self, run: Run) -> int:
        rescued, after = 0, UUID(int=0)
        while True:
            async with self.cell.statement() as tx:
                lost = await instances.abandoned(tx, run, after, PAGE)
                known = await self.definitions.load(tx, {(ran.shard, ran.job_id, ran.job_version) for ran in lost})
            if not lost:
                return rescued
            results = [
                Result(ran, known.get((ran.job_id, ran.job_version)), Lost(ours=ran.worker_id is None), rescued=True)
                for ran in lost
            ]
            rescued += (await self.settler.settle(results)).written
            after = lost[-1].id

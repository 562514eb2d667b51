"""The jobs behind instances and cursors, by version: a version never changes, so it is remembered."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from horae.domain.jobs import Job
from horae.domain.timers import Timer
from horae.store import jobs
from horae.store.cells import Cell
from horae.store.tx import Tx

MOST: Final = 100_000


class Definitions:
    """A bounded memory of job versions. A job's status is not part of a version: ask for it anew."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[UUID, int], Job] = OrderedDict()

    async def of(self, cell: Cell, timers: Sequence[Timer]) -> Mapping[tuple[UUID, int], Job]:
        """The jobs behind timers; asks the cell only for what is not remembered."""
        known = self._known
        if all((timer.job_id, timer.version) in known for timer in timers):
            return known
        async with cell.statement() as tx:
            return await self.load(tx, {(timer.shard, timer.job_id, timer.version) for timer in timers})

    async def load(self, tx: Tx, wanted: Iterable[tuple[int, UUID, int]]) -> dict[tuple[UUID, int], Job]:
        """The jobs behind (shard, job, version); what cannot be found is missing from the answer."""
        asked = set(wanted)
        missing = [item for item in asked if item[1:] not in self._known]
        if missing:
            self._known.update(await jobs.definitions(tx, missing))
        wanted_keys = {(job_id, version) for _, job_id, version in asked}
        found = {key: self._known[key] for key in wanted_keys if key in self._known}
        while len(self._known) > MOST:
            self._known.popitem(last=False)
        return found

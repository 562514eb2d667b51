"""The jobs behind instances and cursors, by version: a version never changes, so it is remembered."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from horae.domain.jobs import Job
from horae.domain.timers import Timer
from horae.store import jobs
from horae.store.cells import Cell
from horae.store.tx import Tx

MOST: Final = 200_000
Version = tuple[UUID, int]


class Definitions:
    """A bounded memory of job versions. A job's status is not part of a version: ask for it anew."""

    def __init__(self) -> None:
        self._known: dict[Version, Job] = {}

    async def of(self, cell: Cell, timers: Sequence[Timer]) -> Mapping[Version, Job]:
        """The jobs behind timers; asks the cell only for what is not remembered."""
        known = self._known
        missing = {
            (timer.shard, timer.job_id, timer.version) for timer in timers if (timer.job_id, timer.version) not in known
        }
        if missing:
            async with cell.statement() as tx:
                await self._learn(tx, missing)
        return known

    async def load(self, tx: Tx, wanted: Iterable[tuple[int, UUID, int]]) -> dict[Version, Job]:
        """The jobs behind (shard, job, version); what cannot be found is missing from the answer."""
        known, asked = self._known, set(wanted)
        missing = {item for item in asked if item[1:] not in known}
        if missing:
            await self._learn(tx, missing)
        return {(id_, version): known[id_, version] for _, id_, version in asked if (id_, version) in known}

    async def _learn(self, tx: Tx, missing: Iterable[tuple[int, UUID, int]]) -> None:
        asked = list(missing)
        for _ in range(len(self._known) + len(asked) - MOST):
            del self._known[next(iter(self._known))]
        found = await jobs.definitions(tx, asked)
        elsewhere = [(id_, version) for _, id_, version in asked if (id_, version) not in found]
        if elsewhere:
            found |= await jobs.copied(tx, elsewhere)
        self._known |= found

"""The jobs behind instances and cursors, by version: a version never changes, so it is remembered.

They are remembered opened: whoever asks is about to send them. One that cannot be opened now is told as it is, with
its `sealed` part, and asked for again.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from msgspec.structs import replace

from horae.domain import confidential
from horae.domain.errors import KeysUnavailable, Unopenable
from horae.domain.instances import Instance
from horae.domain.jobs import Job
from horae.domain.sealed import definition_of
from horae.domain.timers import Timer
from horae.runtime.telemetry import log
from horae.security.sealing import Sealing
from horae.store import jobs
from horae.store.cells import Cell
from horae.store.tx import Tx

MOST: Final = 200_000
Version = tuple[UUID, int]


class Definitions:
    """A bounded memory of job versions. A job's status is not part of a version: ask for it anew."""

    def __init__(self, sealing: Sealing | None = None) -> None:
        self._sealing = sealing or Sealing()
        self._known: dict[Version, Job] = {}
        self._closed: set[Version] = set()

    async def of(self, cell: Cell, timers: Sequence[Timer]) -> Mapping[Version, Job]:
        """The jobs behind timers; asks the cell only for what is not remembered."""
        known = self._known
        self._ask_again()
        missing = [timer for timer in timers if (timer.job_id, timer.version) not in known]
        if missing:
            async with cell.statement() as tx:
                await self._learn(tx, {(timer.shard, timer.job_id, timer.version) for timer in missing})
        return known

    async def load(self, tx: Tx, wanted: Iterable[tuple[int, UUID, int]]) -> dict[Version, Job]:
        """The jobs behind (shard, job, version); what cannot be found is missing from the answer."""
        known, asked = self._known, set(wanted)
        self._ask_again()
        missing = {item for item in asked if item[1:] not in known}
        if missing:
            await self._learn(tx, missing)
        return {(id_, version): known[id_, version] for _, id_, version in asked if (id_, version) in known}

    async def behind(self, tx: Tx, rows: Sequence[Instance]) -> dict[Version, Job]:
        """The jobs behind instances; what cannot be found is missing from the answer."""
        known, asked = self._known, {(ran.job_id, ran.job_version) for ran in rows}
        self._ask_again()
        missing = asked - known.keys()
        if missing:
            await self._learn(
                tx, {(ran.shard, *version) for ran in rows if (version := (ran.job_id, ran.job_version)) in missing}
            )
        return {version: known[version] for version in asked if version in known}

    async def _learn(self, tx: Tx, missing: Iterable[tuple[int, UUID, int]]) -> None:
        asked = list(missing)
        for _ in range(len(self._known) + len(asked) - MOST):
            del self._known[next(iter(self._known))]
        found = await jobs.definitions(tx, asked)
        elsewhere = [(id_, version) for _, id_, version in asked if (id_, version) not in found]
        if elsewhere:
            found |= await jobs.copied(tx, elsewhere)
        self._known |= {version: await self._opened(version, job) for version, job in found.items()}

    async def _opened(self, version: Version, job: Job) -> Job:
        sealed = job.definition.sealed
        if sealed is None:
            return job
        try:
            told = await self._sealing.open(job.tenant_id, definition_of(job.id), sealed)
        except (KeysUnavailable, Unopenable) as error:
            log.warning("definition.closed", job=str(job.id), version=job.version, reason=str(error))
            self._closed.add(version)
            return job
        definition = confidential.whole(job.definition, told)
        return replace(job, definition=replace(definition, target=jobs.shared(definition.target)))

    def _ask_again(self) -> None:
        """What could not be opened is not remembered."""
        while self._closed:
            self._known.pop(self._closed.pop(), None)

"""The jobs behind instances and cursors, by version: a version never changes, so it is remembered.

They are remembered opened: whoever asks is about to send them. One that cannot be opened now is told as it is, with
its `sealed` part, and asked for again the next time. One that this release cannot read, or whose row is not there, is
missing from the answer; that says nothing about its schedule, which waits.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
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
    """A bounded memory of job versions: who was not asked for longest is forgotten first.

    A job's status is not part of a version: ask for it anew.
    """

    def __init__(self, sealing: Sealing | None = None) -> None:
        self._sealing = sealing or Sealing()
        self._known: OrderedDict[Version, Job] = OrderedDict()

    async def of(self, cell: Cell, timers: Sequence[Timer]) -> list[Job | None]:
        """The job behind each timer; asks the cell only for what is not remembered."""
        versions = [(timer.job_id, timer.version) for timer in timers]
        found = list(map(self._known.get, versions))
        self._touch(versions)
        if None not in found:
            return found
        missing = {
            (timer.shard, timer.job_id, timer.version) for timer, job in zip(timers, found, strict=True) if job is None
        }
        async with cell.statement() as tx:
            learnt = await self._learn(tx, missing)
        return [job or learnt.get(version) for version, job in zip(versions, found, strict=True)]

    async def load(self, tx: Tx, wanted: Iterable[tuple[int, UUID, int]]) -> dict[Version, Job]:
        """The jobs behind (shard, job, version); what cannot be found is missing from the answer."""
        asked = set(wanted)
        versions = {(id_, version) for _, id_, version in asked}
        found = {version: job for version in versions if (job := self._known.get(version)) is not None}
        self._touch(versions)
        missing = [(shard, id_, version) for shard, id_, version in asked if (id_, version) not in found]
        return found | await self._learn(tx, missing) if missing else found

    async def behind(self, tx: Tx, rows: Sequence[Instance]) -> dict[Version, Job]:
        """The jobs behind instances; what cannot be found is missing from the answer."""
        return await self.load(tx, {(ran.shard, ran.job_id, ran.job_version) for ran in rows})

    def _touch(self, versions: Iterable[Version]) -> None:
        """They were asked for just now. Nobody is forgotten while half of the memory is free."""
        known = self._known
        if len(known) <= MOST // 2:
            return
        for version in versions:
            if version in known:
                known.move_to_end(version)

    async def _learn(self, tx: Tx, missing: Iterable[tuple[int, UUID, int]]) -> dict[Version, Job]:
        asked = list(missing)
        found = await jobs.definitions(tx, asked)
        elsewhere = [(id_, version) for _, id_, version in asked if (id_, version) not in found]
        if elsewhere:
            found |= await jobs.copied(tx, elsewhere)
        learnt = {version: await self._opened(job) for version, job in found.items() if job is not None}
        self._known |= {version: job for version, job in learnt.items() if job.definition.sealed is None}
        while len(self._known) > MOST:
            self._known.popitem(last=False)
        return learnt

    async def _opened(self, job: Job) -> Job:
        """With its parts where they belong; as it is where the keys are not to be had now."""
        sealed = job.definition.sealed
        if sealed is None:
            return job
        try:
            told = await self._sealing.open(job.tenant_id, definition_of(job.id), sealed)
        except (KeysUnavailable, Unopenable) as error:
            log.warning("definition.closed", job=str(job.id), version=job.version, reason=str(error))
            return job
        definition = confidential.whole(job.definition, told)
        return replace(job, definition=replace(definition, target=jobs.shared(definition.target)))

"""The jobs behind instances and cursors, by version: a version never changes, so it is remembered.

They are remembered opened: whoever asks is about to send them. One that cannot be opened now is told as it is, with
its `sealed` part, and asked for again the next time. One that this release cannot read, or whose row is not there, is
missing from the answer; that says nothing about its schedule, which waits.

A type's versions are in its own cell; every other cell has a copy of the newest one. Work of an older version goes by
that copy, which is remembered as what it is; that it stands for another version is remembered for a moment only. A copy
that is older than what is asked for has not arrived: it stands for nothing.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

import msgspec
from msgspec.structs import replace

from horae.domain import confidential
from horae.domain.errors import KeysUnavailable, Unopenable
from horae.domain.instances import Instance
from horae.domain.jobs import Job
from horae.domain.sealed import definition_of
from horae.domain.timers import Timer
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.security.sealing import Sealing
from horae.store import jobs
from horae.store.cells import Cell
from horae.store.tx import Tx

MOST: Final = 200_000
MAX_NEWER: Final = 10_000
NEWER_REMEMBERED_S: Final = 2.0
"""As long as a change of a type takes to reach another cell."""
Version = tuple[UUID, int]
Place = tuple[int, UUID, int]
"""A shard, a job that lies there, and a version of it."""
_encode = msgspec.json.Encoder().encode


class KnownVersions(OrderedDict[Version, Job]):
    """Job versions in memory, bounded in number and, where it is said, in bytes: the oldest are forgotten first."""

    def __init__(self, most: int | None = None, most_bytes: int | None = None) -> None:
        super().__init__()
        self.most = most or MOST
        self._most_bytes = most_bytes
        self._sizes: dict[Version, int] = {}
        self._newer: dict[Version, tuple[int, float]] = {}
        self.bytes = 0

    def learn(self, found: Mapping[Version, Job]) -> None:
        """Remember these by the version that each has, and forget what is too much."""
        learnt = {(job.id, job.version): job for job in found.values()}
        self.update(learnt)
        self._learn_newer({version: job for version, job in found.items() if job.version != version[1]})
        if self._most_bytes is not None:
            sizes = {version: len(_encode(job.definition)) for version, job in learnt.items()}
            self.bytes += sum(size - self._sizes.get(version, 0) for version, size in sizes.items())
            self._sizes |= sizes
        while self and (len(self) > self.most or (self._most_bytes is not None and self.bytes > self._most_bytes)):
            forgotten, _ = self.popitem(last=False)
            self.bytes -= self._sizes.pop(forgotten, 0)

    def newer(self, version: Version) -> Job | None:
        """The later version that stood for this one a moment ago."""
        number, until = self._newer.get(version, (0, 0.0))
        return self.get((version[0], number)) if boottime() < until else None

    def _learn_newer(self, found: Mapping[Version, Job]) -> None:
        if len(self._newer) > MAX_NEWER:
            self._newer.clear()
        until = boottime() + NEWER_REMEMBERED_S
        self._newer |= {version: (job.version, until) for version, job in found.items()}


class Definitions:
    """A bounded memory of job versions: who was not asked for longest is forgotten first.

    A job's status is not part of a version: ask for it anew. `known`: a memory that is shared with other tenants; only
    what is `tenant_id`'s is told of it.
    """

    def __init__(
        self, sealing: Sealing | None = None, known: KnownVersions | None = None, tenant_id: UUID | None = None
    ) -> None:
        self._sealing = sealing or Sealing()
        self._known = KnownVersions() if known is None else known
        self._tenant_id = tenant_id

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
        learnt = await self.load_from(cell, missing)
        return [job or learnt.get(version) for version, job in zip(versions, found, strict=True)]

    async def load_from(self, cell: Cell, wanted: Iterable[Place]) -> dict[Version, Job]:
        """The jobs behind (shard, job, version); what cannot be found is missing from the answer."""
        found, missing = self._recalled(wanted)
        if not missing:
            return found
        async with cell.statement() as tx:
            rows = await _read(tx, missing)
        return found | await self._learn(rows)

    async def load(self, tx: Tx, wanted: Iterable[Place]) -> dict[Version, Job]:
        """The same inside a transaction of `Cell.run`: where a key is missing to open one, that begins again."""
        found, missing = self._recalled(wanted)
        return found | await self._learn(await _read(tx, missing)) if missing else found

    async def behind(self, tx: Tx, rows: Sequence[Instance]) -> dict[Version, Job]:
        """The jobs behind instances; what cannot be found is missing from the answer."""
        return await self.load(tx, {(ran.shard, ran.job_id, ran.job_version) for ran in rows})

    def _recalled(self, wanted: Iterable[Place]) -> tuple[dict[Version, Job], list[Place]]:
        """What is remembered, and what has to be asked for."""
        asked = set(wanted)
        versions = {(id_, version) for _, id_, version in asked}
        found = {version: job for version in versions if (job := self._recall(version)) is not None}
        self._touch(versions)
        return found, [(shard, id_, version) for shard, id_, version in asked if (id_, version) not in found]

    def _recall(self, version: Version) -> Job | None:
        job = self._known.get(version) or self._known.newer(version)
        return job if job is None or self._tenant_id in {None, job.tenant_id} else None

    def _touch(self, versions: Iterable[Version]) -> None:
        """They were asked for just now. Nobody is forgotten while half of the memory is free."""
        known = self._known
        if len(known) <= known.most // 2:
            return
        for version in versions:
            if version in known:
                known.move_to_end(version)

    async def _learn(self, found: Mapping[Version, Job | None]) -> dict[Version, Job]:
        learnt = {version: await self._opened(job) for version, job in found.items() if job is not None}
        self._known.learn({version: job for version, job in learnt.items() if job.definition.sealed is None})
        return learnt

    async def _opened(self, job: Job) -> Job:
        """With its parts where they belong; as it is where the keys are not to be had now, or a part is unreadable.

        One that this release refuses, because a newer one wrote it, says nothing about the others of its batch.
        """
        sealed = job.definition.sealed
        if sealed is None:
            return job
        try:
            told = await self._sealing.open(job.tenant_id, definition_of(job.id), sealed)
        except (KeysUnavailable, Unopenable) as error:
            log.warning("definition.closed", job=str(job.id), version=job.version, reason=str(error))
            return job
        try:
            definition = confidential.whole(job.definition, told)
            return replace(job, definition=replace(definition, target=jobs.shared(definition.target)))
        except jobs.UNREADABLE as error:
            log.error("definition.unreadable", job=str(job.id), version=job.version, reason=str(error))
            return job


async def _read(tx: Tx, missing: Iterable[Place]) -> dict[Version, Job | None]:
    """The rows of some versions, or the copies of types that live in another cell."""
    asked = list(missing)
    found = await jobs.definitions(tx, asked)
    elsewhere = [(id_, version) for _, id_, version in asked if (id_, version) not in found]
    return found | await jobs.copied(tx, elsewhere) if elsewhere else found

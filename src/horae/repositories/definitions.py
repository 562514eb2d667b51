"""The jobs behind instances and cursors, by version. A version never changes, so it is kept in memory.

Definitions are kept decrypted, because the caller is about to send them. A definition that cannot be decrypted now is
returned with its `sealed` part and requested again the next time. A definition that this release cannot read, or whose
row is missing, is missing from the result. That says nothing about its schedule, which waits.

The versions of a type are in its home cell; every other cell has a copy of the newest version. An instance of an older
version uses that copy. The copy is remembered under its own version; that it stands for an older version is remembered
only for a moment. A copy that is older than the requested version has not arrived yet and is not used.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final
from uuid import UUID

import msgspec
from msgspec.structs import replace

from horae.domain.encryption import confidential
from horae.domain.encryption.encrypted_values import definition_of
from horae.domain.errors import KeysUnavailable, Unopenable
from horae.domain.instances.instances import Instance
from horae.domain.jobs.jobs import Job
from horae.domain.schedules.timers import Timer
from horae.runtime.clock import boottime
from horae.runtime.telemetry import log
from horae.security.envelopes import version_of
from horae.security.payload_cipher import PayloadCipher
from horae.store.jobs import jobs
from horae.store.protocol import CellProtocol
from horae.store.tx import Tx

MOST: Final = 200_000
MAX_NEWER: Final = 10_000
NEWER_REMEMBERED_S: Final = 2.0
"""As long as a change of a type takes to reach another cell."""
Version = tuple[UUID, int]
Place = tuple[int, UUID, int]
"""A shard, a job in it, and a version of that job."""
_encode = msgspec.json.Encoder().encode


class KnownVersions(OrderedDict[Version, Job]):
    """Job versions in memory, limited in number and optionally in bytes; the oldest are dropped first."""

    def __init__(self, most: int | None = None, most_bytes: int | None = None) -> None:
        super().__init__()
        self.most = most or MOST
        self._most_bytes = most_bytes
        self._sizes: dict[Version, int] = {}
        self._newer: dict[Version, tuple[int, float]] = {}
        self.bytes = 0

    def learn(self, found: Mapping[Version, Job]) -> None:
        """Remember each job under its own version, and drop the oldest ones above the limit."""
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
    """A bounded cache of job versions: the least recently used ones are dropped first.

    The status of a job is not part of a version: read it each time. `known`: a cache that is shared with other tenants;
    then only jobs of `tenant_id` are returned. `read` counts the versions that were not cached.
    """

    def __init__(
        self, cipher: PayloadCipher | None = None, known: KnownVersions | None = None, tenant_id: UUID | None = None
    ) -> None:
        self.cipher = cipher or PayloadCipher()
        self._known = KnownVersions() if known is None else known
        self._tenant_id = tenant_id
        self.read = 0

    async def of(self, cell: CellProtocol, timers: Sequence[Timer]) -> list[Job | None]:
        """The job behind each timer; asks the cell only for versions that are not cached."""
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

    async def load_from(self, cell: CellProtocol, wanted: Iterable[Place]) -> dict[Version, Job]:
        """The jobs behind (shard, job, version); a job that cannot be found is missing from the result."""
        found, missing = self._split_known(wanted)
        if not missing:
            return found
        self.read += len({place[1:] for place in missing})
        async with cell.statement() as tx:
            rows = await _read(tx, missing)
        await self.cipher.learn_all(_needed_keys(rows.values()))
        return found | await self._learn(rows)

    async def load(self, tx: Tx, wanted: Iterable[Place]) -> dict[Version, Job]:
        """Like `load_from`, inside a transaction of `Cell.run`, which starts again if a data key is missing."""
        found, missing = self._split_known(wanted)
        return found | await self._learn(await _read(tx, missing)) if missing else found

    async def jobs_of(self, tx: Tx, rows: Sequence[Instance]) -> dict[Version, Job]:
        """The jobs behind instances; a job that cannot be found is missing from the result."""
        return await self.load(tx, {(ran.shard, ran.job_id, ran.job_version) for ran in rows})

    def _split_known(self, wanted: Iterable[Place]) -> tuple[dict[Version, Job], list[Place]]:
        """The cached jobs, and the places that have to be read."""
        asked = set(wanted)
        versions = {(id_, version) for _, id_, version in asked}
        found = {version: job for version in versions if (job := self._recall(version)) is not None}
        self._touch(versions)
        return found, [(shard, id_, version) for shard, id_, version in asked if (id_, version) not in found]

    def _recall(self, version: Version) -> Job | None:
        job = self._known.get(version) or self._known.newer(version)
        return job if job is None or self._tenant_id in {None, job.tenant_id} else None

    def _touch(self, versions: Iterable[Version]) -> None:
        """Mark versions as recently used. While half of the cache is free, this is not needed."""
        known = self._known
        if len(known) <= known.most // 2:
            return
        for version in versions:
            if version in known:
                known.move_to_end(version)

    async def _learn(self, found: Mapping[Version, Job | None]) -> dict[Version, Job]:
        learnt = {version: await self._decrypt(job) for version, job in found.items() if job is not None}
        self._known.learn({version: job for version, job in learnt.items() if job.definition.sealed is None})
        return learnt

    async def _decrypt(self, job: Job) -> Job:
        """The job with its parts decrypted; unchanged if the keys are unavailable now, or a part is unreadable.

        A part that this release cannot read, because a newer one wrote it, does not affect the rest of the batch.
        """
        encrypted = job.definition.sealed
        if encrypted is None:
            return job
        try:
            private = await self.cipher.decrypt(job.tenant_id, definition_of(job.id), encrypted)
        except (KeysUnavailable, Unopenable) as error:
            log.warning("definition.undecryptable", job=job.id, version=job.version, reason=str(error))
            return job
        try:
            definition = confidential.with_private_parts(job.definition, private)
            return replace(job, definition=replace(definition, target=jobs.shared(definition.target)))
        except jobs.UNREADABLE as error:
            log.error("definition.unreadable", job=job.id, version=job.version, reason=str(error))
            return job


def _needed_keys(found: Iterable[Job | None]) -> set[tuple[UUID, int]]:
    """The tenants and versions of the data keys that definitions need. One that names no key fails by itself later."""
    needed = set()
    for job in found:
        if job is not None and job.definition.sealed is not None:
            with suppress(Unopenable):
                needed.add((job.tenant_id, version_of(job.definition.sealed)))
    return needed


async def _read(tx: Tx, missing: Iterable[Place]) -> dict[Version, Job | None]:
    """The rows of some versions, or the copies of types whose home is another cell."""
    asked = list(missing)
    found = await jobs.definitions(tx, asked)
    elsewhere = [(id_, version) for _, id_, version in asked if (id_, version) not in found]
    return found | await jobs.find_copies(tx, elsewhere) if elsewhere else found

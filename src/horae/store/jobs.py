"""Jobs and their versions. What moves at each fire is in `cursors`."""

from collections import OrderedDict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import asyncpg
import msgspec

from horae.domain.errors import HoraeError, NameTaken
from horae.domain.foreign import FAILURES
from horae.domain.ids import shard_in
from horae.domain.jobs import Definition, Job, Status, Wanted
from horae.domain.targets import Target
from horae.runtime.telemetry import log
from horae.store.reading import read_rows
from horae.store.statements import sql
from horae.store.tx import Tx

_decode = msgspec.json.Decoder(Definition).decode
_encode = msgspec.json.Encoder().encode
_targets: OrderedDict[bytes, Target] = OrderedDict()
MOST_TARGETS: Final = 10_000
UNREADABLE: Final[tuple[type[Exception], ...]] = (HoraeError, *FAILURES)
"""What reading a definition of another release may fail with."""


async def create(tx: Tx, job: Job, actor: str, widenings: int) -> bool:
    """Write a new job and its first version; False: its shard is closed, or there were more widenings of its tenant."""
    args = (job.shard, job.id, job.tenant_id, job.name, job.status, job.definition, tx.now, actor, widenings)
    try:
        return await tx.value(sql("jobs/create"), *args) is not None
    except asyncpg.UniqueViolationError as error:
        raise NameTaken(f"a job {job.name!r} exists already") from error


async def find(tx: Tx, shard: int, tenant_id: UUID, name: str) -> Job | None:
    """The living job of that name."""
    row = await tx.row(sql("jobs/find"), shard, tenant_id, name)
    return None if row is None else job_from(row)


async def listing(tx: Tx, tenant_id: UUID) -> list[Job]:
    """The living jobs of a tenant in this cell, by name."""
    return [job_from(row) for row in await tx.rows(sql("jobs/listing"), tenant_id)]


async def page(tx: Tx, tenant_id: UUID, wanted: Wanted, after: str, limit: int) -> list[Job]:
    """Those of the wanted ones whose name comes after another, by name."""
    args = (tenant_id, after, wanted.prefix, wanted.status, wanted.labels, wanted.with_labels, limit, wanted.kind)
    return [job_from(row) for row in await tx.rows(sql("jobs/page"), *args)]


async def by_id(tx: Tx, tenant_id: UUID, id_: UUID) -> Job | None:
    """The tenant's job of that id, even when it is removed."""
    row = await tx.row(sql("jobs/by_id"), shard_in(id_), id_, tenant_id)
    return None if row is None else job_from(row)


async def named(tx: Tx, tenant_id: UUID, shards: Sequence[int], names: Sequence[str]) -> list[Job]:
    """The living jobs of these names, each in its shard; what is not there is missing from the answer."""
    return [job_from(row) for row in await tx.rows(sql("jobs/named"), tenant_id, shards, names)]


async def lock(tx: Tx, job: Job) -> bool:
    """Keep others from changing a job until the end of the transaction; False when it is gone."""
    return await tx.value(sql("jobs/lock"), job.shard, job.id) is not None


async def definitions(tx: Tx, wanted: Sequence[tuple[int, UUID, int]]) -> dict[tuple[UUID, int], Job | None]:
    """The jobs behind (shard, job, version), as that version had them; None for one that this release cannot read.

    A status is not part of a version.
    """
    rows = await tx.rows(sql("jobs/definitions"), *zip(*wanted, strict=True))
    return {(row[1], row[4]): _versioned(row) for row in rows}


async def copied(tx: Tx, wanted: Sequence[tuple[UUID, int]]) -> dict[tuple[UUID, int], Job | None]:
    """The types behind (job, version), as their copies in this cell have them; None likewise.

    A copy has the newest version alone: the job that is returned may be of a later version than was asked for.
    """
    rows = await tx.rows(sql("jobs/copied"), *zip(*wanted, strict=True))
    return {(row[1], row[6]): _versioned(row) for row in rows}


async def current(tx: Tx, tenant_id: UUID, ids: Collection[UUID]) -> dict[UUID, Job]:
    """The jobs behind ids as they are now, removed ones too; types come from their copies.

    One that this release cannot read is missing from the answer: it says nothing about the others.
    """
    rows = await tx.rows(sql("jobs/current"), tenant_id, [shard_in(id_) for id_ in ids], list(ids))
    return {job.id: job for row in rows if (job := _readable(row)) is not None}


async def names(tx: Tx, tenant_id: UUID, ids: Collection[UUID]) -> dict[UUID, str]:
    """The names of the jobs behind ids, removed ones too, whatever release wrote them."""
    rows = await tx.rows(sql("jobs/names"), tenant_id, [shard_in(id_) for id_ in ids], list(ids))
    return {row["id"]: row["name"] for row in rows}


async def set_status(tx: Tx, job: Job, status: Status, *, held_from: datetime | None = None) -> bool:
    """Move a job from the status it was read in to another; False when that, or its version, is another one by now."""
    args = (job.shard, job.id, job.status, status, held_from, tx.now, job.version)
    return await tx.value(sql("jobs/set_status"), *args) is not None


async def revise(tx: Tx, job: Job, definition: Definition, actor: str) -> int | None:
    """Write the next version of a job; None when it is no longer at the version it was read in."""
    args = (job.shard, job.id, job.version, definition, tx.now, actor)
    version = await tx.value(sql("jobs/revise"), *args)
    return version if isinstance(version, int) else None


async def with_calendar(tx: Tx, tenant_id: UUID, calendar: str, after: UUID, limit: int) -> list[Job]:
    """The active recurring jobs in this cell that name a calendar, page by page."""
    return [job_from(row) for row in await tx.rows(sql("jobs/with_calendar"), tenant_id, calendar, after, limit)]


async def complete(tx: Tx, shards: Sequence[int], ids: Sequence[UUID]) -> list[UUID]:
    """Close active jobs that have no fire left."""
    return [row["id"] for row in await tx.rows(sql("jobs/complete"), shards, ids, tx.now)]


async def held_from(tx: Tx, job: Job) -> datetime | None:
    """The first fire a paused job did not run."""
    value = await tx.value(sql("jobs/held_from"), job.shard, job.id)
    return value if isinstance(value, datetime) else None


async def paused(tx: Tx, of_tenants: Collection[tuple[UUID, UUID]]) -> set[UUID]:
    """Those of the given jobs (tenant and id) whose instances are not claimed now, as this cell knows it."""
    return {row["id"] for row in await tx.rows(sql("jobs/paused"), *zip(*of_tenants, strict=True))}


async def rolling(tx: Tx) -> list[Job]:
    """The active rolling jobs, as this cell knows them; their definitions as they are stored."""
    rows = await tx.rows(sql("jobs/rolling"))
    return [
        Job(
            shard=row["home_shard"],
            id=row["id"],
            tenant_id=row["tenant_id"],
            name=row["name"],
            version=row["version"],
            status=Status.ACTIVE,
            definition=definition,
        )
        for row, definition in read_rows("job", rows, lambda row: definition_from(row["definition"]))
    ]


async def removed(tx: Tx, ids: Collection[UUID]) -> set[UUID]:
    """Those of the given jobs that are removed; of types, as this cell's copies say."""
    return {row["id"] for row in await tx.rows(sql("jobs/removed"), [shard_in(id_) for id_ in ids], list(ids))}


def decode(text: str) -> Definition:
    """A definition out of its text. Targets that say the same are one object: what is made of them is made once."""
    definition = _decode(text)
    msgspec.structs.force_setattr(definition, "target", shared(definition.target))
    return definition


def shared(target: Target) -> Target:
    """The one object for all targets that say the same."""
    kept = _targets.setdefault(_encode(target), target)
    if len(_targets) > MOST_TARGETS:
        _targets.popitem(last=False)
    return kept


def definition_from(value: Any) -> Definition:
    """A definition out of its stored form."""
    return msgspec.convert(value, Definition)


def _versioned(row: asyncpg.Record) -> Job | None:
    """One row that a newer release wrote says nothing about the others of its batch."""
    shard, id_, tenant_id, name, version, text = row[:6]
    try:
        definition = decode(text)
    except UNREADABLE as error:
        log.error("definition.unreadable", job=str(id_), version=version, reason=str(error))
        return None
    return Job(
        shard=shard,
        id=id_,
        tenant_id=tenant_id,
        name=name,
        version=version,
        status=Status.ACTIVE,
        definition=definition,
    )


def _readable(row: asyncpg.Record) -> Job | None:
    try:
        return job_from(row)
    except UNREADABLE as error:
        log.error("definition.unreadable", job=str(row["id"]), version=row["version"], reason=str(error))
        return None


def job_from(row: asyncpg.Record) -> Job:
    """A job out of a row."""
    return Job(
        shard=row["shard_id"],
        id=row["id"],
        tenant_id=row["tenant_id"],
        name=row["name"],
        version=row["version"],
        status=Status(row["status"]),
        definition=definition_from(row["definition"]),
        next_fire_at=row["next_fire_at"],
    )

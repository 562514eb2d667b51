"""Jobs and their versions. The state that changes with each fire is in `cursors`."""

from collections import OrderedDict
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import asyncpg
import msgspec

from horae.domain.encryption.encrypted_values import UndecryptableValue
from horae.domain.errors import HoraeError, NameTaken, NewerRelease
from horae.domain.foreign import FAILURES
from horae.domain.ids import shard_in
from horae.domain.jobs.jobs import Definition, Job, JobFilter, Status, own_queue
from horae.domain.schedules.triggers import ManualTrigger
from horae.domain.targets.targets import Target, parts_naming
from horae.runtime.telemetry import log
from horae.store.reading import read_rows
from horae.store.statements import sql
from horae.store.tx import Tx

_decode = msgspec.json.Decoder(Definition).decode
_encode = msgspec.json.Encoder().encode
_targets: OrderedDict[bytes, Target] = OrderedDict()
MOST_TARGETS: Final = 10_000
UNREADABLE: Final[tuple[type[Exception], ...]] = (HoraeError, *FAILURES)
"""Errors that a definition written by another release may raise when it is read."""


async def create(tx: Tx, job: Job, actor: str, widenings: int) -> bool:
    """Insert a new job and its first version; False: its shard is closed, or its tenant has been widened since."""
    args = (job.shard, job.id, job.tenant_id, job.name, job.status, job.definition, tx.now, actor, widenings)
    try:
        return await tx.value(sql("jobs/jobs/create"), *args) is not None
    except asyncpg.UniqueViolationError as error:
        raise NameTaken(f"a job {job.name!r} exists already") from error


async def find(tx: Tx, shard: int, tenant_id: UUID, name: str, *, unreadable: bool = False) -> Job | None:
    """The job with that name, unless it is removed.

    `unreadable`: a job that this release cannot read is returned with placeholders. Otherwise it raises.
    """
    row = await tx.row(sql("jobs/jobs/find"), shard, tenant_id, name)
    return None if row is None else job_from(row, unreadable=unreadable)


async def listing(tx: Tx, tenant_id: UUID, *, unreadable: bool = False) -> list[Job]:
    """The tenant's jobs in this cell that are not removed, by name. `unreadable` as in `find`."""
    return [job_from(row, unreadable=unreadable) for row in await tx.rows(sql("jobs/jobs/listing"), tenant_id)]


async def page(
    tx: Tx, tenant_id: UUID, wanted: JobFilter, after: str, limit: int, *, unreadable: bool = False
) -> list[Job]:
    """A page of the tenant's jobs that match the filter, by name, after a name. `unreadable` as in `find`."""
    args = filter_args(tenant_id, wanted, after, limit)
    return [job_from(row, unreadable=unreadable) for row in await tx.rows(sql("jobs/jobs/page"), *args)]


async def page_of_owner(
    tx: Tx, tenant_id: UUID, owner: str, wanted: JobFilter, after: str, limit: int, *, unreadable: bool = False
) -> list[Job]:
    """Like `page`, for the jobs of one owner, who may have few of very many."""
    args = (*filter_args(tenant_id, wanted, after, limit), owner)
    return [job_from(row, unreadable=unreadable) for row in await tx.rows(sql("jobs/jobs/page_of_owner"), *args)]


async def page_of_calendar(
    tx: Tx, tenant_id: UUID, calendar: str, wanted: JobFilter, after: str, limit: int, *, unreadable: bool = False
) -> list[Job]:
    """Like `page`, for the active and paused jobs that name a calendar; few of very many may name it."""
    args = (*filter_args(tenant_id, wanted, after, limit), wanted.owner, calendar)
    return [job_from(row, unreadable=unreadable) for row in await tx.rows(sql("jobs/jobs/page_of_calendar"), *args)]


def filter_args(tenant_id: UUID, wanted: JobFilter, after: str, limit: int) -> tuple[object, ...]:
    """The arguments of statements with `job_filter`."""
    labels = (wanted.labels, wanted.with_labels)
    names = (wanted.contains, wanted.names)
    targets = [] if wanted.secret is None else parts_naming(wanted.secret)
    return (tenant_id, after, wanted.prefix, wanted.status, *labels, limit, wanted.kind, *names, targets)


async def by_id(tx: Tx, tenant_id: UUID, id_: UUID, *, unreadable: bool = False) -> Job | None:
    """The tenant's job with that id, even when it is removed. `unreadable` as in `find`."""
    row = await tx.row(sql("jobs/jobs/by_id"), shard_in(id_), id_, tenant_id)
    return None if row is None else job_from(row, unreadable=unreadable)


async def named(tx: Tx, tenant_id: UUID, shards: Sequence[int], names: Sequence[str]) -> list[Job]:
    """The jobs with these names, each looked up in its shard. Names without a job are missing."""
    return [job_from(row) for row in await tx.rows(sql("jobs/jobs/named"), tenant_id, shards, names)]


async def lock(tx: Tx, job: Job) -> bool:
    """Lock a job until the transaction ends; False when it is removed."""
    return await tx.value(sql("jobs/jobs/lock"), job.shard, job.id) is not None


async def definitions(tx: Tx, wanted: Sequence[tuple[int, UUID, int]]) -> dict[tuple[UUID, int], Job | None]:
    """The jobs behind (shard, job, version), with the definition of that version; None if this release cannot read it.

    The status is not part of a version.
    """
    rows = await tx.rows(sql("jobs/jobs/definitions"), *zip(*wanted, strict=True))
    return {(row[1], row[4]): _versioned(row) for row in rows}


async def find_copies(tx: Tx, wanted: Sequence[tuple[UUID, int]]) -> dict[tuple[UUID, int], Job | None]:
    """The types behind (job, version), from the copies in this cell; None if this release cannot read it.

    A copy holds only the newest version, so the returned job may have a later version than the requested one.
    """
    rows = await tx.rows(sql("jobs/jobs/find_copies"), *zip(*wanted, strict=True))
    return {(row[1], row[6]): _versioned(row) for row in rows}


async def current(tx: Tx, tenant_id: UUID, ids: Collection[UUID]) -> dict[UUID, Job]:
    """The current jobs behind ids, including removed ones; types are read from their copies.

    A job that this release cannot read is missing from the result and does not affect the others.
    """
    rows = await tx.rows(sql("jobs/jobs/current"), tenant_id, [shard_in(id_) for id_ in ids], list(ids))
    return {job.id: job for row in rows if (job := _readable(row)) is not None}


async def names(tx: Tx, tenant_id: UUID, ids: Collection[UUID]) -> dict[UUID, str]:
    """The names of the jobs behind ids, including removed jobs and jobs that this release cannot read."""
    rows = await tx.rows(sql("jobs/jobs/names"), tenant_id, [shard_in(id_) for id_ in ids], list(ids))
    return {row["id"]: row["name"] for row in rows}


async def set_status(tx: Tx, job: Job, status: Status, *, held_from: datetime | None = None) -> bool:
    """Change the status of a job; False when its status or version has changed since it was read."""
    args = (job.shard, job.id, job.status, status, held_from, tx.now, job.version)
    return await tx.value(sql("jobs/jobs/set_status"), *args) is not None


async def revise(tx: Tx, job: Job, definition: Definition, actor: str) -> int | None:
    """Write the next version of a job; None when its version has changed since it was read."""
    args = (job.shard, job.id, job.version, definition, tx.now, actor)
    version = await tx.value(sql("jobs/jobs/revise"), *args)
    return version if isinstance(version, int) else None


async def with_calendar(tx: Tx, tenant_id: UUID, calendar: str, after: UUID, limit: int) -> list[Job]:
    """The active recurring jobs in this cell that name a calendar, page by page."""
    return [job_from(row) for row in await tx.rows(sql("jobs/jobs/with_calendar"), tenant_id, calendar, after, limit)]


async def complete(tx: Tx, shards: Sequence[int], ids: Sequence[UUID]) -> list[UUID]:
    """Complete active jobs that have no fire left; returns their ids."""
    return [row["id"] for row in await tx.rows(sql("jobs/jobs/complete"), shards, ids, tx.now)]


async def held_from(tx: Tx, job: Job) -> datetime | None:
    """The first fire that a paused job did not run."""
    value = await tx.value(sql("jobs/jobs/held_from"), job.shard, job.id)
    return value if isinstance(value, datetime) else None


async def paused(tx: Tx, of_tenants: Collection[tuple[UUID, UUID]]) -> set[UUID]:
    """The given jobs (tenant and id) that are paused, as this cell knows it."""
    return {row["id"] for row in await tx.rows(sql("jobs/jobs/paused"), *zip(*of_tenants, strict=True))}


async def rolling(tx: Tx) -> list[Job]:
    """The active rolling jobs that this cell knows. Encrypted parts of their definitions are not decrypted."""
    rows = await tx.rows(sql("jobs/jobs/rolling"))
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
    """The given jobs that are removed; for types, as the copies in this cell say."""
    return {row["id"] for row in await tx.rows(sql("jobs/jobs/removed"), [shard_in(id_) for id_ in ids], list(ids))}


def decode(text: str) -> Definition:
    """Decode a definition. Equal targets share one object, so that what is derived from a target is computed once."""
    definition = _decode(text)
    msgspec.structs.force_setattr(definition, "target", shared(definition.target))
    return definition


def shared(target: Target) -> Target:
    """The shared object for all equal targets."""
    kept = _targets.setdefault(_encode(target), target)
    if len(_targets) > MOST_TARGETS:
        _targets.popitem(last=False)
    return kept


def definition_from(value: Any) -> Definition:
    """Convert a stored definition."""
    return msgspec.convert(value, Definition)


def _versioned(row: asyncpg.Record) -> Job | None:
    """Convert a row; None if this release cannot read it. One unreadable row does not affect the rest of the batch."""
    shard, id_, tenant_id, name, version, text = row[:6]
    try:
        definition = decode(text)
    except UNREADABLE as error:
        log.error("definition.unreadable", job=id_, version=version, reason=str(error))
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
        log.error("definition.unreadable", job=row["id"], version=row["version"], reason=str(error))
        return None


def _salvaged(name: str, value: Any) -> Definition:
    """A definition for display: the fields that this release can read, placeholders for the others, and a mark."""
    kept: dict[str, Any] = {}
    for field in msgspec.structs.fields(Definition):
        if isinstance(value, dict) and field.name in value:
            with suppress(*UNREADABLE):
                kept[field.name] = msgspec.convert(value[field.name], field.type)
    kept["sealed"] = UndecryptableValue("", NewerRelease.code)
    placeholders: dict[str, Any] = {"trigger": ManualTrigger(), "target": own_queue(name)}
    try:
        return Definition(**(placeholders | kept))
    except UNREADABLE:  # each field is readable, and together they are refused
        return Definition(**placeholders, sealed=kept["sealed"])


def _definition_in(row: asyncpg.Record, *, unreadable: bool) -> Definition:
    try:
        return definition_from(row["definition"])
    except UNREADABLE as error:
        if unreadable:
            return _salvaged(row["name"], row["definition"])
        raise NewerRelease(f"job {row['name']!r} was written by a newer release; this one cannot read it") from error


def job_from(row: asyncpg.Record, *, unreadable: bool = False) -> Job:
    """Convert a row to a job.

    A definition that this release cannot read raises `NewerRelease`, or has placeholders where `unreadable` is set.
    """
    return Job(
        shard=row["shard_id"],
        id=row["id"],
        tenant_id=row["tenant_id"],
        name=row["name"],
        version=row["version"],
        status=Status(row["status"]),
        definition=_definition_in(row, unreadable=unreadable),
        next_fire_at=row["next_fire_at"],
        changed_at=row.get("changed_at"),
    )


async def forget(tx: Tx, before: datetime, limit: int) -> int:
    """Delete jobs that ended before a time with their versions, at most `limit`; returns how many."""
    return len(await tx.rows(sql("jobs/jobs/forget"), before, limit))

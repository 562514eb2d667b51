"""Backfills. The cursor of each authorises the births of its fires, in the transaction that moves it."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.backfills import Backfill, Progress
from horae.domain.ids import letters, shard_in
from horae.domain.jobs import Job
from horae.domain.targets import queue_of, slot_ms
from horae.store.statements import sql
from horae.store.tx import Tx


class Birth(NamedTuple):
    """One fire to be born."""

    id: UUID
    idem_key: str
    fire_time: datetime


async def create(tx: Tx, made: Backfill) -> bool:
    """Write a new one; False when another one that runs has a part of its range, or the shard is closed."""
    who = (made.shard, made.id, made.tenant_id, made.job_id, made.since, made.until)
    args = (*who, made.cap, made.planned, made.rerun, tx.now, made.created_by)
    return await tx.value(sql("backfills/create"), *args) is not None


async def find(tx: Tx, tenant_id: UUID, id_: UUID) -> Backfill | None:
    """The tenant's backfill of that id."""
    row = await tx.row(sql("backfills/find"), shard_in(id_), id_, tenant_id)
    return None if row is None else _backfill(row)


async def of_job(tx: Tx, tenant_id: UUID, job_id: UUID, before: UUID, limit: int) -> list[Backfill]:
    """A job's backfills, newest first, before an id."""
    return [_backfill(row) for row in await tx.rows(sql("backfills/of_job"), tenant_id, job_id, before, limit)]


async def running(
    tx: Tx, after: UUID, shards: Collection[int], without: Collection[UUID], limit: int
) -> list[Backfill]:
    """Those in some shards that are not done and whose job goes on, behind an id; `without` these tenants."""
    rows = await tx.rows(sql("backfills/running"), after, list(shards), list(without), limit)
    return [_backfill(row) for row in rows]


async def count_running(tx: Tx, tenant_id: UUID, most: int) -> int:
    """How many of a tenant's are not done in this cell; counted no further than `most`."""
    return int(await tx.value(sql("backfills/count_running"), tenant_id, most))


async def waiting(tx: Tx, of: Backfill, most: int) -> int:
    """How many of its instances live; counted no further than `most`."""
    count = await tx.value(sql("backfills/waiting"), of.shard, of.job_id, of.since, of.until, most, _ending(of))
    assert isinstance(count, int)
    return count


async def advance(tx: Tx, of: Backfill, cursor: datetime) -> Progress | None:
    """Move its cursor on; None when it does not stand where it was read, and nothing may be born."""
    status = await tx.value(sql("backfills/advance"), of.shard, of.id, of.cursor, cursor, tx.now)
    return None if status is None else Progress(status)


async def birth(tx: Tx, of: Backfill, job: Job, births: Sequence[Birth]) -> set[UUID]:
    """Give birth to fires of a portion whose cursor was just moved; returns the ids born."""
    target, who = job.definition.target, (of.shard, of.tenant_id, of.job_id, job.version, tx.now)
    args = (*who, job.definition.priority, slot_ms(target), queue_of(target), *zip(*births, strict=True), of.rerun)
    return {row["id"] for row in await tx.rows(sql("backfills/birth"), *args)}


async def count(tx: Tx, of: Backfill, born: int, already: int) -> None:
    """Remember how many of a portion were born, and how many were not needed."""
    await tx.run(sql("backfills/count"), of.shard, of.id, born, already)


async def cancel(tx: Tx, of: Backfill) -> bool:
    """End it before its time; False when it does not run any more."""
    return await tx.value(sql("backfills/cancel"), of.shard, of.id, of.tenant_id, tx.now) is not None


async def withdraw(tx: Tx, of: Backfill) -> int:
    """Cancel what it has waiting; returns how many."""
    return len(await tx.rows(sql("backfills/withdraw"), of.shard, of.job_id, of.since, of.until, tx.now, _ending(of)))


def _ending(of: Backfill) -> str:
    """How the keys of its instances end: with its letters where it sends again what was sent before."""
    return letters(of.id) if of.rerun else ""


def _backfill(row: asyncpg.Record) -> Backfill:
    return Backfill(
        shard=row["shard_id"],
        id=row["id"],
        tenant_id=row["tenant_id"],
        job_id=row["job_id"],
        since=row["range_from"],
        until=row["range_to"],
        cursor=row["cursor"],
        cap=row["cap"],
        planned=row["planned"],
        rerun=row["rerun"],
        created_at=row["created_at"],
        created_by=row["created_by"],
        status=Progress(row["status"]),
        born=row["born"],
        already=row["already"],
        ended_at=row["ended_at"],
    )

"""Backfills. A backfill's cursor moves in the same transaction that inserts its fires, and authorises them."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.ids import encode_id, shard_in
from horae.domain.jobs.jobs import Job
from horae.domain.placement import Run
from horae.domain.schedules.backfills import Backfill, BackfillStatus
from horae.domain.targets.targets import queue_of, slot_ms
from horae.store.statements import sql
from horae.store.tx import Tx


class BackfillFireRow(NamedTuple):
    """One fire to insert."""

    id: UUID
    idem_key: str
    fire_time: datetime


async def create(tx: Tx, made: Backfill) -> bool:
    """Insert a backfill; False when a running one overlaps its range, or the shard is closed."""
    who = (made.shard, made.id, made.tenant_id, made.job_id, made.since, made.until)
    args = (*who, made.cap, made.planned, made.rerun, tx.now, made.created_by)
    return await tx.value(sql("schedules/backfills/create"), *args) is not None


async def find(tx: Tx, tenant_id: UUID, id_: UUID) -> Backfill | None:
    """The tenant's backfill with that id."""
    row = await tx.row(sql("schedules/backfills/find"), shard_in(id_), id_, tenant_id)
    return None if row is None else _backfill(row)


async def of_job(tx: Tx, tenant_id: UUID, job_id: UUID, before: UUID, limit: int) -> list[Backfill]:
    """A job's backfills, newest first, before an id."""
    return [
        _backfill(row) for row in await tx.rows(sql("schedules/backfills/of_job"), tenant_id, job_id, before, limit)
    ]


async def running(tx: Tx, after: UUID, runs: Collection[Run], without: Collection[UUID], limit: int) -> list[Backfill]:
    """Running backfills in runs of shards, after an id, except those of paused jobs and of the tenants in `without`."""
    firsts, lasts = [run.first for run in runs], [run.last for run in runs]
    rows = await tx.rows(sql("schedules/backfills/running"), after, firsts, lasts, list(without), limit)
    return [_backfill(row) for row in rows]


async def count_running(tx: Tx, tenant_id: UUID, most: int) -> int:
    """How many backfills of a tenant are running in this cell, counted up to `most`."""
    return int(await tx.value(sql("schedules/backfills/count_running"), tenant_id, most))


async def count_live(tx: Tx, of: Backfill, most: int) -> int:
    """How many instances of a backfill are live, counted up to `most`."""
    count = await tx.value(
        sql("schedules/backfills/count_live"), of.shard, of.job_id, of.since, of.until, most, _key_suffix(of)
    )
    assert isinstance(count, int)
    return count


async def advance(tx: Tx, of: Backfill, cursor: datetime) -> BackfillStatus | None:
    """Move the cursor of a backfill; None when it has moved since it was read, and then no fire may be inserted."""
    status = await tx.value(sql("schedules/backfills/advance"), of.shard, of.id, of.cursor, cursor, tx.now)
    return None if status is None else BackfillStatus(status)


async def insert_fires(tx: Tx, of: Backfill, job: Job, new_rows: Sequence[BackfillFireRow]) -> set[UUID]:
    """Insert the fires of a portion whose cursor was just moved; returns the ids of the new instances."""
    target, who = job.definition.target, (of.shard, of.tenant_id, of.job_id, job.version, tx.now)
    args = (*who, job.definition.priority, slot_ms(target), queue_of(target), *zip(*new_rows, strict=True), of.rerun)
    return {row["id"] for row in await tx.rows(sql("schedules/backfills/insert_fires"), *args)}


async def count(tx: Tx, of: Backfill, inserted: int, already: int) -> None:
    """Add to the counts of inserted fires and of fires that were not needed."""
    await tx.run(sql("schedules/backfills/count"), of.shard, of.id, inserted, already)


async def cancel(tx: Tx, of: Backfill) -> bool:
    """Cancel a backfill; False when it is no longer running."""
    return await tx.value(sql("schedules/backfills/cancel"), of.shard, of.id, of.tenant_id, tx.now) is not None


async def withdraw(tx: Tx, of: Backfill) -> int:
    """Cancel the waiting instances of a backfill; returns how many."""
    return len(
        await tx.rows(
            sql("schedules/backfills/withdraw"), of.shard, of.job_id, of.since, of.until, tx.now, _key_suffix(of)
        )
    )


def _key_suffix(of: Backfill) -> str:
    """The suffix of the idempotency keys of its instances: a re-run has one of its own, so that receivers run again."""
    return encode_id(of.id) if of.rerun else ""


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
        status=BackfillStatus(row["status"]),
        inserted=row["born"],
        already=row["already"],
        ended_at=row["ended_at"],
    )


async def forget(tx: Tx, before: datetime, limit: int) -> int:
    """Delete backfills that ended before a time, at most `limit`; returns how many."""
    return len(await tx.rows(sql("schedules/backfills/forget"), before, limit))

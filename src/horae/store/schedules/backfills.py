"""Backfills. A backfill's cursor moves in the same transaction that inserts its fires, and authorises them."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.ids import encode_id, shard_in
from horae.domain.jobs.jobs import Job
from horae.domain.placement import Run
from horae.domain.schedules.backfill_progress import PastFires
from horae.domain.schedules.backfills import Backfill, BackfillMode, BackfillPortion, BackfillStatus, paced_until
from horae.domain.targets.targets import queue_of, slot_ms
from horae.store.statements import sql
from horae.store.tx import Tx

OF_RERUN: Final = frozenset({BackfillMode.UNSUCCESSFUL, BackfillMode.ALL})
"""Modes that the column `rerun` says."""


class BackfillFireRow(NamedTuple):
    """One fire to insert."""

    id: UUID
    idem_key: str
    fire_time: datetime


async def create(tx: Tx, made: Backfill) -> bool:
    """Insert a backfill; False when one that has not ended overlaps its range, or the shard is closed."""
    who = (made.shard, made.id, made.tenant_id, made.job_id, made.since, made.until)
    mode = None if made.mode in OF_RERUN else made.mode
    how = (made.cap, made.planned, made.rerun, mode, made.decided_from, made.rate, made.needed, made.group_id)
    args = (*who, *how, tx.now, made.created_by)
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


async def of_group(tx: Tx, tenant_id: UUID, group_id: UUID, limit: int) -> list[Backfill]:
    """The parts of a backfill of many jobs in this cell."""
    return [_backfill(row) for row in await tx.rows(sql("schedules/backfills/of_group"), group_id, tenant_id, limit)]


async def past_fires(
    tx: Tx, tenant_id: UUID, job_id: UUID, since: datetime, until: datetime, most: int
) -> PastFires | None:
    """How the fires of a job between two times went before; None where there are more than `most` rows."""
    args = (tenant_id, job_id, since, until, most + 1)
    row = await tx.row(sql("schedules/backfills/past_fires"), *args)
    assert row is not None
    return PastFires(row["succeeded"], row["failed"]) if (row["rows"] or 0) <= most else None


async def call_seconds(tx: Tx, tenant_id: UUID, job_id: UUID, last: int) -> float | None:
    """The mean seconds of a job's last calls; None where none has ended."""
    seconds = await tx.value(sql("schedules/backfills/call_seconds"), tenant_id, job_id, last)
    return None if seconds is None else float(seconds)


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


async def advance(tx: Tx, of: Backfill, portion: BackfillPortion) -> BackfillStatus | None:
    """Move a backfill past a portion; None when it has moved since it was read, and then no fire may be inserted."""
    ends = (of.cursor, of.upper, portion.cursor, portion.upper)
    status = await tx.value(sql("schedules/backfills/advance"), of.shard, of.id, *ends, tx.now)
    return None if status is None else BackfillStatus(status)


async def insert_fires(tx: Tx, of: Backfill, job: Job, new_rows: Sequence[BackfillFireRow]) -> set[UUID]:
    """Insert the fires of a portion whose cursor was just moved; returns the ids of the new instances."""
    target, who = job.definition.target, (of.shard, of.tenant_id, of.job_id, job.version, tx.now)
    args = (*who, job.definition.priority, slot_ms(target), queue_of(target), *zip(*new_rows, strict=True), of.mode)
    return {row["id"] for row in await tx.rows(sql("schedules/backfills/insert_fires"), *args)}


async def count(tx: Tx, of: Backfill, inserted: int, already: int) -> None:
    """Add to the counts of inserted fires and of fires that were not needed, and use up its rate."""
    paced_to = paced_until(of, tx.now, inserted)
    await tx.run(sql("schedules/backfills/count"), of.shard, of.id, inserted, already, paced_to)


async def pause(tx: Tx, of: Backfill) -> bool:
    """Pause a backfill; False when it does not run."""
    return await tx.value(sql("schedules/backfills/pause"), of.shard, of.id, of.tenant_id, tx.now) is not None


async def resume(tx: Tx, of: Backfill) -> bool:
    """Let a paused backfill go on; False when it is not paused."""
    return await tx.value(sql("schedules/backfills/resume"), of.shard, of.id, of.tenant_id, tx.now) is not None


async def cancel(tx: Tx, of: Backfill) -> bool:
    """Cancel a backfill; False when it has ended."""
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
        mode=_mode(row["mode"], rerun=row["rerun"]),
        created_at=row["created_at"],
        created_by=row["created_by"],
        status=BackfillStatus(row["status"]),
        inserted=row["born"],
        already=row["already"],
        needed=row["needed"],
        decided_from=row["decided_from"],
        rate=row["rate"],
        paced_to=row["paced_to"],
        paused_at=row["paused_at"],
        paused_s=row["paused_s"],
        group_id=row["group_id"],
        ended_at=row["ended_at"],
    )


def _mode(mode: str | None, *, rerun: bool) -> BackfillMode:
    """The mode of a row. Rows of two modes have none, as those of older releases."""
    if mode is not None:
        return BackfillMode(mode)
    return BackfillMode.ALL if rerun else BackfillMode.UNSUCCESSFUL


async def forget(tx: Tx, before: datetime, limit: int) -> int:
    """Delete backfills that ended before a time, at most `limit`; returns how many."""
    return len(await tx.rows(sql("schedules/backfills/forget"), before, limit))

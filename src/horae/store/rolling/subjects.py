"""The subjects of rolling jobs. A subject is occupied in the same transaction that inserts its refresh."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.domain.placement import Run
from horae.domain.rolling.rolling import CoverageCount, Subject, SubjectStatus, count_from_rows
from horae.domain.sources.sources import LAST
from horae.store.arrays import plain, texts
from horae.store.statements import sql
from horae.store.tasks.batches import Type
from horae.store.tx import Tx


class RefreshRow(NamedTuple):
    """One refresh to insert."""

    shard: int
    key: str
    id: UUID
    idem_key: str
    due_at: datetime


async def add(tx: Tx, tenant_id: UUID, job_id: UUID, places: Sequence[tuple[int, str]], aged_at: datetime) -> list[str]:
    """Add keys to a set; returns the new ones."""
    shards, keys = zip(*places, strict=True)
    rows = await tx.rows(sql("rolling/subjects/add"), plain(shards), texts(keys), job_id, tenant_id, aged_at, tx.now)
    return [row["key"] for row in rows]


async def remove(tx: Tx, tenant_id: UUID, job_id: UUID, places: Sequence[tuple[int, str]]) -> list[str]:
    """Remove keys from a set; returns those that were in it."""
    shards, keys = zip(*places, strict=True)
    return [
        row["key"]
        for row in await tx.rows(sql("rolling/subjects/remove"), plain(shards), texts(keys), job_id, tenant_id)
    ]


async def page(
    tx: Tx, tenant_id: UUID, job_id: UUID, shards: Sequence[int], after: str, limit: int, prefix: str = ""
) -> list[Subject]:
    """A page of a set by key, from these shards, with keys that begin with `prefix`."""
    args = (shards, job_id, tenant_id, after, limit, prefix, prefix + LAST)
    return [Subject(*row) for row in await tx.rows(sql("rolling/subjects/page"), *args)]


async def page_of_status(
    tx: Tx,
    tenant_id: UUID,
    job_id: UUID,
    shards: Sequence[int],
    status: SubjectStatus,
    after: str,
    limit: int,
    prefix: str = "",
) -> list[Subject]:
    """A page of the subjects of one status by key, from these shards, with keys that begin with `prefix`."""
    args = (shards, job_id, tenant_id, int(status), after, limit, prefix, prefix + LAST)
    return [Subject(*row) for row in await tx.rows(sql("rolling/subjects/page_of_status"), *args)]


async def page_of_batch(
    tx: Tx,
    tenant_id: UUID,
    job_id: UUID,
    batch_no: UUID,
    status: SubjectStatus | None,
    after: str,
    limit: int,
    prefix: str = "",
) -> list[Subject]:
    """A page of the subjects that a batch took last, by key, in this cell."""
    args = (job_id, tenant_id, batch_no, None if status is None else int(status))
    rows = await tx.rows(sql("rolling/subjects/page_of_batch"), *args, after, limit, prefix, prefix + LAST)
    return [Subject(*row) for row in rows]


async def occupy(tx: Tx, job_id: UUID, aged: datetime, run: Run, limit: int, batch_no: UUID) -> list[tuple[int, str]]:
    """Occupy the oldest eligible subjects under a batch number; returns their shards and keys."""
    rows = await tx.rows(sql("rolling/subjects/occupy"), job_id, aged, *run, limit, batch_no, tx.now)
    return [(row["shard_id"], row["key"]) for row in rows]


async def insert_refreshes(
    tx: Tx, type_: Type, batch_no: UUID, tick: datetime, new_rows: Sequence[RefreshRow]
) -> set[UUID]:
    """Insert the refreshes of a batch that was just occupied; returns the ids of the new instances."""
    shards, keys, ids, idem_keys, times = zip(*new_rows, strict=True)
    columns = (plain(shards), texts(keys), plain(ids), texts(idem_keys), plain(times))
    made = (type_.job_id, batch_no, type_.job_version, tick, tx.now, type_.priority, type_.slot_ms, type_.queue)
    return {row["id"] for row in await tx.rows(sql("rolling/subjects/insert_refreshes"), *columns, *made)}


async def finish(tx: Tx, job_id: UUID, run: Run, limit: int) -> int:
    """Record the end of refreshes that have ended; returns how many."""
    return len(await tx.rows(sql("rolling/subjects/finish"), job_id, *run, limit, tx.now))


async def count_eligible(tx: Tx, job_id: UUID, aged: datetime, run: Run, most: int) -> int:
    """How many subjects a tick may take in this run, counted up to `most`."""
    return int(await tx.value(sql("rolling/subjects/count_eligible"), job_id, aged, *run, most))


async def count_occupied(tx: Tx, job_id: UUID, run: Run, most: int) -> int:
    """How many subjects in this run have a refresh under way, counted up to `most`."""
    return int(await tx.value(sql("rolling/subjects/count_occupied"), job_id, *run, most))


async def counts(
    tx: Tx, tenant_id: UUID, job_id: UUID, shards: Sequence[int], since: Sequence[datetime]
) -> CoverageCount:
    """Counts the subjects of a set in these shards by age of their last success, and those with a refresh under way."""
    rows = await tx.rows(sql("rolling/subjects/counts"), shards, job_id, tenant_id, since)
    return count_from_rows(tx.now, [(row["age"], row["subjects"], row["occupied"]) for row in rows])

"""The subjects of rolling jobs. Occupying one is what authorises the birth of its refresh, in one transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.domain.placement import Run
from horae.domain.rolling import Counted, Subject, tallied
from horae.domain.sources import LAST
from horae.store.arrays import plain, texts
from horae.store.statements import sql
from horae.store.task_batches import Type
from horae.store.tx import Tx


class Birth(NamedTuple):
    """A refresh to be born."""

    shard: int
    key: str
    id: UUID
    idem_key: str
    due_at: datetime


async def add(tx: Tx, tenant_id: UUID, job_id: UUID, places: Sequence[tuple[int, str]], aged_at: datetime) -> list[str]:
    """Put keys into a set; returns those that were not in it."""
    shards, keys = zip(*places, strict=True)
    rows = await tx.rows(sql("subjects/add"), plain(shards), texts(keys), job_id, tenant_id, aged_at, tx.now)
    return [row["key"] for row in rows]


async def remove(tx: Tx, tenant_id: UUID, job_id: UUID, places: Sequence[tuple[int, str]]) -> list[str]:
    """Take keys out of a set; returns those that were in it."""
    shards, keys = zip(*places, strict=True)
    return [row["key"] for row in await tx.rows(sql("subjects/remove"), plain(shards), texts(keys), job_id, tenant_id)]


async def page(
    tx: Tx, tenant_id: UUID, job_id: UUID, shards: Sequence[int], after: str, limit: int, prefix: str = ""
) -> list[Subject]:
    """A page of a set by key, as far as it lies in these shards; only of keys that begin so."""
    args = (shards, job_id, tenant_id, after, limit, prefix, prefix + LAST)
    return [Subject(*row) for row in await tx.rows(sql("subjects/page"), *args)]


async def occupy(tx: Tx, job_id: UUID, aged: datetime, run: Run, limit: int, batch_no: UUID) -> list[tuple[int, str]]:
    """Take the oldest that are eligible under a batch number; returns shards and keys."""
    rows = await tx.rows(sql("subjects/occupy"), job_id, aged, *run, limit, batch_no, tx.now)
    return [(row["shard_id"], row["key"]) for row in rows]


async def birth(tx: Tx, type_: Type, batch_no: UUID, tick: datetime, births: Sequence[Birth]) -> set[UUID]:
    """Give birth to the refreshes of a batch that was just occupied; returns the ids born."""
    shards, keys, ids, idem_keys, times = zip(*births, strict=True)
    columns = (plain(shards), texts(keys), plain(ids), texts(idem_keys), plain(times))
    made = (type_.job_id, batch_no, type_.job_version, tick, tx.now, type_.priority, type_.slot_ms, type_.queue)
    return {row["id"] for row in await tx.rows(sql("subjects/birth"), *columns, *made)}


async def finish(tx: Tx, job_id: UUID, run: Run, limit: int) -> int:
    """Write down the ends of refreshes that have ended; returns how many."""
    return len(await tx.rows(sql("subjects/finish"), job_id, *run, limit, tx.now))


async def eligible(tx: Tx, job_id: UUID, aged: datetime, run: Run, most: int) -> int:
    """How many a tick may take here, counted no further than `most`."""
    return int(await tx.value(sql("subjects/eligible"), job_id, aged, *run, most))


async def occupied(tx: Tx, job_id: UUID, run: Run, most: int) -> int:
    """How many have a refresh under way here, counted no further than `most`."""
    return int(await tx.value(sql("subjects/occupied"), job_id, *run, most))


async def counts(tx: Tx, tenant_id: UUID, job_id: UUID, shards: Sequence[int], since: Sequence[datetime]) -> Counted:
    """How many a set has in these shards, by which of these times they succeeded since, and how many are under way."""
    rows = await tx.rows(sql("subjects/counts"), shards, job_id, tenant_id, since)
    return tallied(tx.now, [(row["age"], row["subjects"], row["occupied"]) for row in rows])

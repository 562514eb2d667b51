"""Versions of subjects: what the messages of intakes said last. A change and its version are one statement."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.store.arrays import plain, texts
from horae.store.statements import sql
from horae.store.tx import Tx


class SubjectChangeRow(NamedTuple):
    """A subject to add or to remove. `aged_at` is the time that ticks go by; it counts for a new subject only."""

    shard: int
    key: str
    version: int
    present: bool
    aged_at: datetime


class AppliedChange(NamedTuple):
    """What became of a change. One that is not applied has an old version, unless its shard is not open."""

    key: str
    open: bool
    applied: bool


async def apply(tx: Tx, tenant_id: UUID, job_id: UUID, changes: Sequence[SubjectChangeRow]) -> list[AppliedChange]:
    """Add and remove the subjects whose version is higher than the known one. Names each key once."""
    shards, keys, versions, present, times = zip(*changes, strict=True)
    columns = (plain(shards), texts(keys), plain(versions), plain(present), plain(times))
    rows = await tx.rows(sql("rolling/versions/apply"), *columns, job_id, tenant_id, tx.now)
    return [AppliedChange(*row) for row in rows]


async def forget_removed(tx: Tx, before: datetime, limit: int) -> int:
    """Delete at most `limit` versions of subjects that were removed before a time. Returns how many."""
    return len(await tx.rows(sql("rolling/versions/forget_removed"), before, limit))

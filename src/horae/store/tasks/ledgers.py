"""Ledgers of business keys that are over the term of their type."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.store.statements import sql
from horae.store.tx import Tx


class KeyTerm(NamedTuple):
    """A type whose finished keys are kept for so many days."""

    job_id: UUID
    tenant_id: UUID
    days: int


class KeyPage(NamedTuple):
    """How many keys a page had, how many of them were deleted, and the last one."""

    seen: int
    gone: int
    last: str | None


async def terms(tx: Tx) -> list[KeyTerm]:
    """The types whose finished keys have a term."""
    return [KeyTerm(*row) for row in await tx.rows(sql("tasks/ledgers/terms"))]


async def shards(tx: Tx, job_id: UUID) -> list[int]:
    """The shards of this cell in which a type has keys."""
    return [row["shard_id"] for row in await tx.rows(sql("tasks/ledgers/shards"), job_id)]


async def forget(
    tx: Tx, shard: int, term: KeyTerm, after: str, before: datetime, dead_before: datetime, limit: int
) -> KeyPage:
    """Read a page of keys behind `after`, and delete those whose last run ended before a time.

    `dead_before` is that time for keys whose last run is dead.
    """
    args = (shard, term.job_id, term.tenant_id, after, before, dead_before, limit)
    row = await tx.row(sql("tasks/ledgers/forget"), *args)
    assert row is not None
    return KeyPage(*row)

"""Types and rolling sets that were removed: their home has the job, every cell may have rows and a copy of it."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.store.statements import sql
from horae.store.tx import Tx


class RemovedType(NamedTuple):
    """A removed type or rolling set, and the shard of its job."""

    shard: int
    id: UUID


async def listing(tx: Tx, before: datetime, limit: int) -> list[RemovedType]:
    """The types that are at home in this cell and were removed before a time, oldest first."""
    return [RemovedType(*row) for row in await tx.rows(sql("jobs/removed_types/listing"), before, limit)]


async def is_used(tx: Tx, job_id: UUID) -> bool:
    """Whether this cell has a live instance, a dead letter or a source of a type."""
    return bool(await tx.value(sql("jobs/removed_types/is_used"), job_id))


async def forget_keys(tx: Tx, job_id: UUID, limit: int) -> int:
    """Delete at most `limit` ledgers of a type in this cell. Returns how many."""
    return len(await tx.rows(sql("jobs/removed_types/forget_keys"), job_id, limit))


async def forget_subjects(tx: Tx, job_id: UUID, limit: int) -> int:
    """Delete at most `limit` subjects of a rolling set in this cell. Returns how many."""
    return len(await tx.rows(sql("jobs/removed_types/forget_subjects"), job_id, limit))


async def forget_subject_versions(tx: Tx, job_id: UUID, limit: int) -> int:
    """Delete at most `limit` versions of subjects of a rolling set in this cell. Returns how many."""
    return len(await tx.rows(sql("jobs/removed_types/forget_subject_versions"), job_id, limit))


async def forget(tx: Tx, removed: RemovedType) -> bool:
    """Delete a type at home, with its versions. Returns whether it was there."""
    return await tx.row(sql("jobs/removed_types/forget"), removed.shard, removed.id) is not None


async def copies(tx: Tx, before: datetime, limit: int) -> list[RemovedType]:
    """The types of which this cell has a copy and that were removed before a time, wherever their home is."""
    return [RemovedType(*row) for row in await tx.rows(sql("jobs/removed_types/copies"), before, limit)]


async def still_there(tx: Tx, types: list[RemovedType]) -> set[UUID]:
    """Those of some types of which this cell has the job."""
    rows = await tx.rows(sql("jobs/removed_types/still_there"), [one.shard for one in types], [one.id for one in types])
    return {row["id"] for row in rows}


async def forget_copies(tx: Tx, ids: list[UUID]) -> int:
    """Delete the copies of types in this cell. Returns how many."""
    return len(await tx.rows(sql("jobs/removed_types/forget_copies"), ids))

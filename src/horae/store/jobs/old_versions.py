"""Versions of jobs that were replaced long ago and that no row refers to."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.store.statements import sql
from horae.store.tx import Tx


class VersionId(NamedTuple):
    """One version of a job, and the shard of the job. Versions are walked over in this order."""

    shard: int
    job_id: UUID
    version: int


FIRST = VersionId(-1, UUID(int=0), 0)


class VersionPage(NamedTuple):
    """How many versions a page had, the last of them, and those that nothing in their home refers to."""

    seen: int
    last: VersionId
    unused: list[VersionId]


async def page(tx: Tx, after: VersionId, before: datetime, kept: int, limit: int) -> VersionPage:
    """Read a page of versions. Unused ones were replaced before a time, and are not among the last `kept` of a job."""
    rows = await tx.rows(sql("jobs/old_versions/page"), *after, before, kept, limit)
    ids = [VersionId(row["shard_id"], row["job_id"], row["version"]) for row in rows]
    unused = [id_ for id_, row in zip(ids, rows, strict=True) if row["unused"]]
    return VersionPage(len(ids), ids[-1] if ids else FIRST, unused)


async def used(tx: Tx, versions: list[VersionId]) -> set[VersionId]:
    """Those of some versions to which rows of this cell refer: tasks and dead letters of a type are in many cells."""
    rows = await tx.rows(sql("jobs/old_versions/used"), *_columns(versions))
    return {VersionId(*row) for row in rows}


async def forget(tx: Tx, versions: list[VersionId]) -> int:
    """Delete versions at home. Returns how many."""
    return len(await tx.rows(sql("jobs/old_versions/forget"), *_columns(versions)))


def _columns(versions: list[VersionId]) -> tuple[list[int], list[UUID], list[int]]:
    return ([one.shard for one in versions], [one.job_id for one in versions], [one.version for one in versions])

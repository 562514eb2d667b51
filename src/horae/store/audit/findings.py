"""What the audit of fires found: a row for each job, fire and fault."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.domain.fire_audit.findings import FireFinding
from horae.store.statements import sql
from horae.store.tx import Tx

MOST_FORGOTTEN = 1000
"""Findings that one statement deletes."""


class FindingKey(NamedTuple):
    """Which finding a row is."""

    shard: int
    job_id: UUID
    fire_time: datetime
    fault: str


class OpenFinding(NamedTuple):
    """A finding that has not ended."""

    key: FindingKey
    found_at: datetime


class EndedFinding(NamedTuple):
    """A finding that has just ended."""

    key: FindingKey
    found_at: datetime
    tenant_id: UUID


async def open_of(tx: Tx, jobs: Sequence[tuple[int, UUID]]) -> list[OpenFinding]:
    """The open findings of jobs, by their shards and ids."""
    rows = await tx.rows(sql("audit/findings/open_of"), [shard for shard, _ in jobs], [job_id for _, job_id in jobs])
    return [OpenFinding(FindingKey(*row[:4]), row[4]) for row in rows]


async def record(tx: Tx, found: Sequence[tuple[FindingKey, FireFinding]]) -> list[OpenFinding]:
    """Write findings, or that they were found again; returns those that were written."""
    rows = [
        {
            "shard_id": key.shard,
            "job_id": str(key.job_id),
            "fire_time": key.fire_time,
            "fault": key.fault,
            "fires": one.fires,
            "tenant_id": str(one.tenant_id),
            "instance_id": None if one.instance_id is None else str(one.instance_id),
            "said": one.said,
        }
        for key, one in found
    ]
    written = await tx.rows(sql("audit/findings/record"), rows, tx.now)
    return [OpenFinding(FindingKey(*row[:4]), row[4]) for row in written]


async def unseen(tx: Tx, before: datetime, still_before: datetime, limit: int) -> list[OpenFinding]:
    """Open findings last seen before a time; those of cursors that stood still, before another time."""
    rows = await tx.rows(sql("audit/findings/unseen"), before, still_before, limit)
    return [OpenFinding(FindingKey(*row[:4]), row[4]) for row in rows]


async def end_all(tx: Tx, keys: Sequence[FindingKey]) -> list[EndedFinding]:
    """End findings; returns those that were open."""
    rows = await tx.rows(sql("audit/findings/end_all"), *zip(*keys, strict=True), tx.now)
    return [EndedFinding(FindingKey(*row[:4]), row[4], row[5]) for row in rows]


async def mark_seen(tx: Tx, keys: Sequence[FindingKey]) -> None:
    """Note that findings were found again."""
    await tx.rows(sql("audit/findings/mark_seen"), *zip(*keys, strict=True), tx.now)


async def forget(tx: Tx, before: datetime) -> int:
    """Delete findings that ended before a time."""
    return len(await tx.rows(sql("audit/findings/forget"), before, MOST_FORGOTTEN))

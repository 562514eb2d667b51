"""Cron jobs that were planned with another tzdata release than ours. The definition of a job names its release."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.instances.instances import Priority
from horae.domain.jobs.jobs import Job
from horae.domain.placement import Run
from horae.store.jobs.jobs import job_from
from horae.store.reading import read_rows
from horae.store.statements import sql
from horae.store.tx import Tx

Key = tuple[int, UUID]
"""A shard and a job in it."""


class OutdatedJob(NamedTuple):
    """A job that was planned with another tzdata release, and how often its cursor has fired."""

    job: Job
    fired: int


class ZonePage(NamedTuple):
    """The outdated jobs of a page, and the key of the page's last job; None after the last page."""

    outdated: list[OutdatedJob]
    last: Key | None


async def page(tx: Tx, run: Run, after: Key, release: str, limit: int) -> ZonePage:
    """The next jobs in a run of shards, after a key. A job that this release cannot read is left out."""
    rows = await tx.rows(sql("schedules/zone_rules/page"), *run, *after, release, limit)
    rows.sort(key=_key)
    planned = [row for row in rows if row["definition"] is not None]
    outdated = [OutdatedJob(job, row["fired"]) for row, job in read_rows("job", planned, job_from)]
    return ZonePage(outdated, _key(rows[-1]) if len(rows) == limit else None)


async def move(tx: Tx, priority: Priority, moves: Sequence[tuple[Job, datetime]]) -> set[UUID]:
    """Move cursors of one priority to other times; returns the jobs whose cursor had not moved since it was read."""
    rows = [(job.shard, job.id, job.version, job.next_fire_at, wake) for job, wake in moves]
    return {
        row["job_id"] for row in await tx.rows(sql("schedules/zone_rules/move"), *zip(*rows, strict=True), priority)
    }


async def record(tx: Tx, jobs: Sequence[Job], release: str) -> int:
    """Record in definitions the tzdata release that their jobs are planned with; returns how many were updated."""
    keys = [(job.shard, job.id, job.version) for job in jobs]
    return len(await tx.rows(sql("schedules/zone_rules/record"), *zip(*keys, strict=True), release))


def _key(row: asyncpg.Record) -> Key:
    return row["shard_id"], row["id"]

"""Which cron jobs were planned by other time zone rules than ours. A job's definition names the tzdata release."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.instances import Priority
from horae.domain.jobs import Job
from horae.domain.placement import Run
from horae.store.jobs import job_from
from horae.store.reading import read_rows
from horae.store.statements import sql
from horae.store.tx import Tx

Key = tuple[int, UUID]
"""A shard and a job that lies there."""


class OutdatedJob(NamedTuple):
    """A job that was planned by another release of the rules, and how often its cursor has fired."""

    job: Job
    fired: int


class ZonePage(NamedTuple):
    """Those jobs of a page that are outdated, and the key of its last job; None: it is the last page."""

    outdated: list[OutdatedJob]
    last: Key | None


async def page(tx: Tx, run: Run, after: Key, release: str, limit: int) -> ZonePage:
    """The next jobs in a run of shards behind a key. A job that our release cannot read is left out."""
    rows = await tx.rows(sql("zone_rules/page"), *run, *after, release, limit)
    rows.sort(key=_key)
    planned = [row for row in rows if row["definition"] is not None]
    outdated = [OutdatedJob(job, row["fired"]) for row, job in read_rows("job", planned, job_from)]
    return ZonePage(outdated, _key(rows[-1]) if len(rows) == limit else None)


async def move(tx: Tx, priority: Priority, moves: Sequence[tuple[Job, datetime]]) -> set[UUID]:
    """Put cursors of one priority at other times; returns the jobs of those that still stood where they were read."""
    rows = [(job.shard, job.id, job.version, job.next_fire_at, wake) for job, wake in moves]
    return {row["job_id"] for row in await tx.rows(sql("zone_rules/move"), *zip(*rows, strict=True), priority)}


async def record(tx: Tx, jobs: Sequence[Job], release: str) -> int:
    """Write into definitions that their jobs are planned by a release; returns of how many."""
    keys = [(job.shard, job.id, job.version) for job in jobs]
    return len(await tx.rows(sql("zone_rules/record"), *zip(*keys, strict=True), release))


def _key(row: asyncpg.Record) -> Key:
    return row["shard_id"], row["id"]

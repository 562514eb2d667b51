"""Sources, the progress of their rounds, and the results. Every write names the step that was read."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import asyncpg
import msgspec

from horae.domain.sources.sources import LAST_ROUND, RoundCounts, RoundStatus, SourceRound, Spec, TaskSource
from horae.store.reading import read_rows
from horae.store.statements import sql
from horae.store.tx import Tx

KEPT_ROUNDS: Final = 100


async def put(tx: Tx, source: TaskSource, actor: str) -> TaskSource | None:
    """Insert or replace the source of a type; None when the shard is closed."""
    own = (source.shard, source.id, source.tenant_id, source.job_id, source.name, actor)
    row = await tx.row(sql("sources/sources/put"), *own, tx.now, source.next_at, source.spec)
    return None if row is None else _source(row)


async def find(tx: Tx, shard: int, tenant_id: UUID, job_id: UUID) -> TaskSource | None:
    """The source of a type."""
    row = await tx.row(sql("sources/sources/find"), shard, job_id, tenant_id)
    return None if row is None else _source(row)


async def page(tx: Tx, tenant_id: UUID, after: str, limit: int) -> list[TaskSource]:
    """The tenant's sources in this cell, by the name of their type."""
    return [_source(row) for row in await tx.rows(sql("sources/sources/page"), tenant_id, after, limit)]


async def due(tx: Tx, limit: int, without: Collection[UUID] = ()) -> list[TaskSource]:
    """The sources that have something to do now, except those of the tenants in `without`."""
    rows = await tx.rows(sql("sources/sources/due"), tx.now, limit, list(without))
    return [source for _, source in read_rows("source", rows, _source)]


async def request_round(tx: Tx, source: TaskSource, *, dry: bool) -> TaskSource | None:
    """Request a round now; None when the shard is closed."""
    row = await tx.row(sql("sources/sources/request_round"), *_key(source), "dry" if dry else "run", tx.now)
    return None if row is None else _source(row)


async def pause(tx: Tx, source: TaskSource) -> TaskSource | None:
    """Stop the rounds of a source where they are; None when the shard is closed."""
    row = await tx.row(sql("sources/sources/pause"), *_key(source), tx.now)
    return None if row is None else _source(row)


async def resume(tx: Tx, source: TaskSource, *, asked: bool) -> TaskSource | None:
    """Continue a source; None when the shard is closed. `asked`: begin a new round at the first key."""
    row = await tx.row(sql("sources/sources/resume"), *_key(source), tx.now, "run" if asked else None)
    return None if row is None else _source(row)


async def remove(tx: Tx, source: TaskSource) -> TaskSource | None:
    """Delete a source; None when the shard is closed."""
    row = await tx.row(sql("sources/sources/remove"), *_key(source))
    return None if row is None else _source(row)


async def begin(tx: Tx, source: TaskSource, *, dry: bool, pushed: str | None = None) -> TaskSource | None:
    """Begin a round at the first key; None when the source has changed since it was read."""
    row = await tx.row(sql("sources/sources/begin"), source.shard, source.id, source.step, dry, pushed, tx.now)
    return None if row is None else _source(row)


async def advance(
    tx: Tx,
    source: TaskSource,
    counts: RoundCounts,
    *,
    after: str,
    cursor: str | None,
    next_at: datetime | None,
    ended: bool = False,
    error: str | None = None,
) -> TaskSource | None:
    """Record the progress of a round; None when the source has changed since it was read."""
    failures = source.failures + 1 if error else 0
    reached = (after, cursor, next_at, counts, ended, failures, error)
    args = (source.shard, source.id, source.step, *reached, tx.now, KEPT_ROUNDS)
    row = await tx.row(sql("sources/sources/advance"), *args)
    return None if row is None else _source(row)


async def rounds(tx: Tx, source: TaskSource, before: int = LAST_ROUND, limit: int = 50) -> list[SourceRound]:
    """A source's rounds, newest first."""
    rows = await tx.rows(sql("sources/sources/rounds"), source.shard, source.id, source.tenant_id, before, limit)
    return [_round(row) for row in rows]


def _key(source: TaskSource) -> tuple[int, UUID, UUID]:
    return source.shard, source.job_id, source.tenant_id


def _source(row: asyncpg.Record) -> TaskSource:
    return TaskSource(
        shard=row["shard_id"],
        id=row["id"],
        tenant_id=row["tenant_id"],
        job_id=row["job_id"],
        name=row["name"],
        spec=_spec(row["spec"]),
        revision=row["revision"],
        changed_at=row["changed_at"],
        changed_by=row["changed_by"],
        next_at=row["next_at"],
        step=row["step"],
        round=row["round"],
        running=row["running"],
        dry=row["dry"],
        asked=row["asked"],
        pushed=row["pushed"],
        after=row["after_key"],
        cursor=row["cursor"],
        failures=row["failures"],
        paused_at=row["paused_at"],
    )


def _spec(value: Any) -> Spec:
    return msgspec.convert(value, Spec)


def _round(row: asyncpg.Record) -> SourceRound:
    return SourceRound(
        number=row["number"],
        dry=row["dry"],
        status=RoundStatus(row["status"]),
        began_at=row["began_at"],
        ended_at=row["ended_at"],
        error=row["error"],
        counts=msgspec.convert(row["counts"], RoundCounts),
    )

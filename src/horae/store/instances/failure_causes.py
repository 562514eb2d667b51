"""Failure causes of dead letters. A duty works them out; lists count the open dead letters of each."""

from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.ids import shard_in
from horae.domain.instances.failure_causes import NO_MESSAGE, FailureCause, cause_id_of, normalise_message
from horae.store.statements import sql
from horae.store.tx import Tx


class CausesHere(NamedTuple):
    """The failure causes in a cell, and how many open dead letters have none yet."""

    causes: list[FailureCause]
    unsorted: int


class SortedLetter(NamedTuple):
    """A dead letter with its failure cause, and the replay that it had when it was read."""

    shard: int
    instance_id: UUID
    cause_id: UUID
    replay_id: UUID | None


async def unsorted(tx: Tx, limit: int) -> list[SortedLetter]:
    """Open dead letters in this cell that have no failure cause yet, each with the cause that it has."""
    return [
        SortedLetter(
            row["shard_id"],
            row["instance_id"],
            cause_id_of(row["job_id"], row["error_code"], row["error_msg"]),
            row["replay_id"],
        )
        for row in await tx.rows(sql("instances/failure_causes/unsorted"), limit)
    ]


async def sort(tx: Tx, dead_letters: Sequence[SortedLetter]) -> None:
    """Write the failure causes of dead letters, unless they were replayed since they were read."""
    ordered = sorted(dead_letters, key=lambda one: (one.shard, one.instance_id))
    await tx.run(sql("instances/failure_causes/sort"), *(list(column) for column in zip(*ordered, strict=True)))


async def listing(tx: Tx, tenant_id: UUID, job_id: UUID | None, limit: int) -> CausesHere:
    """The failure causes of the newest `limit` open dead letters in this cell, without their messages."""
    rows = await tx.rows(sql("instances/failure_causes/listing"), tenant_id, tx.now, limit, job_id)
    known = [_cause(row) for row in rows if row["cause_id"] is not None]
    return CausesHere(known, sum(row["open"] for row in rows if row["cause_id"] is None))


async def messages(tx: Tx, instance_ids: Collection[UUID]) -> dict[UUID, str]:
    """The normalised messages of single dead letters."""
    ids = sorted(instance_ids)
    rows = await tx.rows(sql("instances/failure_causes/messages"), [shard_in(id_) for id_ in ids], ids)
    return {row["instance_id"]: normalise_message(row["error_msg"]) for row in rows}


def _cause(row: asyncpg.Record) -> FailureCause:
    return FailureCause(
        id=row["cause_id"],
        job_id=row["job_id"],
        error_code=row["error_code"],
        message=NO_MESSAGE,
        open=row["open"],
        last_hour=row["last_hour"],
        last_day=row["last_day"],
        day_before=row["day_before"],
        first_at=row["first_at"],
        last_at=row["last_at"],
        oldest_version=row["oldest_version"],
        newest_version=row["newest_version"],
        sample=row["sample"],
    )

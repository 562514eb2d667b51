"""Dead letters. The statement that inserts a replay is authorised by the dead letter's `replay_status`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.encryption.encrypted_values import read
from horae.domain.ids import shard_in
from horae.domain.instances.dead_letters import (
    MAX_TAGS,
    DeadLetter,
    DeadLetterFilter,
    DeadLetterMark,
    ReplayStatus,
)
from horae.domain.instances.instances import Lane, Priority
from horae.domain.instances.lifecycle import State
from horae.store.statements import sql
from horae.store.tx import Tx


class Replay(NamedTuple):
    """One dead letter to replay, and the fields of its new instance."""

    shard: int
    letter_id: UUID
    id: UUID
    job_version: int
    priority: Priority
    slot_ms: int
    queue: str | None


async def find(tx: Tx, tenant_id: UUID, instance_id: UUID) -> DeadLetter | None:
    """The dead letter of the instance with that id."""
    row = await tx.row(sql("instances/dead_letters/find"), shard_in(instance_id), instance_id, tenant_id)
    return None if row is None else dead_letter_from(row)


async def listing(
    tx: Tx,
    tenant_id: UUID,
    wanted: DeadLetterFilter,
    statuses: Sequence[ReplayStatus] | None,
    before: DeadLetterMark,
    limit: int,
) -> list[DeadLetter]:
    """The tenant's dead letters in this cell, newest first, older than a mark."""
    args = (tenant_id, *before, wanted.tag, wanted.error_code, statuses, limit, wanted.cause_id)
    return [dead_letter_from(row) for row in await tx.rows(sql("instances/dead_letters/listing"), *args)]


async def of_job(
    tx: Tx,
    tenant_id: UUID,
    wanted: DeadLetterFilter,
    statuses: Sequence[ReplayStatus] | None,
    before: DeadLetterMark,
    limit: int,
) -> list[DeadLetter]:
    """Like `listing`, for one job."""
    args = (tenant_id, *before, wanted.tag, wanted.error_code, statuses, limit, wanted.job_id, wanted.cause_id)
    return [dead_letter_from(row) for row in await tx.rows(sql("instances/dead_letters/of_job"), *args)]


async def of_replay(tx: Tx, tenant_id: UUID, job_id: UUID, replay_id: UUID) -> UUID | None:
    """The dead letter whose latest replay is this instance."""
    found = await tx.value(sql("instances/dead_letters/of_replay"), tenant_id, job_id, replay_id)
    return found if isinstance(found, UUID) else None


async def replayable(
    tx: Tx, tenant_id: UUID, wanted: DeadLetterFilter, after: DeadLetterMark, limit: int
) -> list[DeadLetter]:
    """The dead letters in this cell that may be replayed, oldest first, newer than a mark."""
    args = (tenant_id, *after, wanted.tag, wanted.error_code, wanted.job_id, limit, wanted.cause_id)
    return [dead_letter_from(row) for row in await tx.rows(sql("instances/dead_letters/replayable"), *args)]


async def open_after(
    tx: Tx, tenant_id: UUID, wanted: DeadLetterFilter, after: DeadLetterMark, limit: int
) -> list[DeadLetter]:
    """The open dead letters in this cell, oldest first, newer than a mark, whatever became of their keys."""
    args = (tenant_id, *after, wanted.tag, wanted.error_code, wanted.job_id, limit, wanted.cause_id)
    return [dead_letter_from(row) for row in await tx.rows(sql("instances/dead_letters/open_after"), *args)]


async def replay(
    tx: Tx,
    tenant_id: UUID,
    replays: Sequence[Replay],
    lane: Lane,
    actor: str,
    *,
    state: State = State.INIT,
    exclusive: bool = False,
    edited_payload: Any = None,
) -> dict[UUID, UUID]:
    """Replay dead letters; returns the new instance of each dead letter that could be replayed. Each writes its event.

    All new instances begin in `state`. `exclusive`: no other fire of their job may run at the same time.
    `edited_payload` is the encrypted payload that takes the place of their own.
    """
    columns = zip(*sorted(replays), strict=True)
    args = (tenant_id, tx.now, lane, actor, state, exclusive or None, edited_payload)
    rows = await tx.rows(sql("instances/dead_letters/replay"), *columns, *args)
    return {row["replay_of"]: row["id"] for row in rows}


async def discard(tx: Tx, tenant_id: UUID, dead_letter: DeadLetter) -> bool:
    """Discard a dead letter for good; False when it is no longer open."""
    args = (dead_letter.shard, dead_letter.instance_id, tenant_id)
    return await tx.value(sql("instances/dead_letters/discard"), *args) is not None


async def discard_many(tx: Tx, tenant_id: UUID, chosen: Sequence[DeadLetter], reason: str) -> list[UUID]:
    """Discard dead letters for good, with their events; returns those that were still open."""
    args = (*_places(chosen), tenant_id, tx.now, reason)
    return [row["instance_id"] for row in await tx.rows(sql("instances/dead_letters/discard_many"), *args)]


async def tag_many(
    tx: Tx, tenant_id: UUID, chosen: Sequence[DeadLetter], added: Sequence[str], removed: Sequence[str]
) -> list[UUID]:
    """Put tags on dead letters and take tags away; returns those that were still open and have room."""
    args = (*_places(chosen), tenant_id, list(added), list(removed), MAX_TAGS)
    return [row["instance_id"] for row in await tx.rows(sql("instances/dead_letters/tag_many"), *args)]


def _places(chosen: Sequence[DeadLetter]) -> tuple[list[int], list[UUID]]:
    """The shards and ids of dead letters, in the order in which rows are locked."""
    places = sorted((one.shard, one.instance_id) for one in chosen)
    return [shard for shard, _ in places], [id_ for _, id_ in places]


def dead_letter_from(row: asyncpg.Record) -> DeadLetter:
    """Convert a row to a dead letter."""
    return DeadLetter(
        shard=row["shard_id"],
        instance_id=row["instance_id"],
        job_id=row["job_id"],
        fire_time=row["fire_time"],
        created_at=row["created_at"],
        idem_key=row["idem_key"],
        error_code=row["error_code"],
        status=ReplayStatus(row["replay_status"]),
        error_msg=row["error_msg"],
        tag=row["tag"],
        business_key=row["business_key"],
        generation=row["generation"],
        replay_id=row["replay_id"],
        payload=read(row["payload"]),
        job_version=row["job_version"],
        cause_id=row["cause_id"],
        tags=tuple(row["tags"] or ()),
    )


async def forget(tx: Tx, before: datetime, limit: int) -> int:
    """Delete dead letters that were created before a time, at most `limit`; returns how many."""
    return len(await tx.rows(sql("instances/dead_letters/forget"), before, limit))

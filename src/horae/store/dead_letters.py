"""Dead letters. `replay_status` authorises the birth of a replay, in the statement that inserts it."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.dead_letters import Letter, Mark, ReplayStatus, Wanted
from horae.domain.ids import shard_in
from horae.domain.instances import Lane, Priority
from horae.domain.lifecycle import State
from horae.domain.sealed import read
from horae.store.statements import sql
from horae.store.tx import Tx


class Replay(NamedTuple):
    """One letter to be sent again, and what its new instance is made of."""

    shard: int
    letter_id: UUID
    id: UUID
    job_version: int
    priority: Priority
    slot_ms: int
    queue: str | None


async def find(tx: Tx, tenant_id: UUID, instance_id: UUID) -> Letter | None:
    """The letter of the instance that died under that id."""
    row = await tx.row(sql("dead_letters/find"), shard_in(instance_id), instance_id, tenant_id)
    return None if row is None else letter_from(row)


async def listing(
    tx: Tx, tenant_id: UUID, wanted: Wanted, status: ReplayStatus | None, before: Mark, limit: int
) -> list[Letter]:
    """The tenant's letters in this cell, newest first, older than a mark."""
    args = (tenant_id, *before, wanted.tag, wanted.error_code, status, limit)
    return [letter_from(row) for row in await tx.rows(sql("dead_letters/listing"), *args)]


async def of_job(
    tx: Tx, tenant_id: UUID, wanted: Wanted, status: ReplayStatus | None, before: Mark, limit: int
) -> list[Letter]:
    """The same for one job."""
    args = (tenant_id, *before, wanted.tag, wanted.error_code, status, limit, wanted.job_id)
    return [letter_from(row) for row in await tx.rows(sql("dead_letters/of_job"), *args)]


async def of_replay(tx: Tx, tenant_id: UUID, job_id: UUID, replay_id: UUID) -> UUID | None:
    """The letter whose latest replay an instance is."""
    found = await tx.value(sql("dead_letters/of_replay"), tenant_id, job_id, replay_id)
    return found if isinstance(found, UUID) else None


async def replayable(tx: Tx, tenant_id: UUID, wanted: Wanted, after: Mark, limit: int) -> list[Letter]:
    """The letters in this cell that may be replayed, oldest first, newer than a mark."""
    args = (tenant_id, *after, wanted.tag, wanted.error_code, wanted.job_id, limit)
    return [letter_from(row) for row in await tx.rows(sql("dead_letters/replayable"), *args)]


async def replay(
    tx: Tx,
    tenant_id: UUID,
    replays: Sequence[Replay],
    lane: Lane,
    actor: str,
    *,
    state: State = State.INIT,
    exclusive: bool = False,
) -> dict[UUID, UUID]:
    """Send letters again; returns letter and new instance of those that could be. Each has its event.

    They begin in one state; `exclusive`: no fire of their job runs beside them.
    """
    columns = zip(*sorted(replays), strict=True)
    args = (tenant_id, tx.now, lane, actor, state, exclusive or None)
    rows = await tx.rows(sql("dead_letters/replay"), *columns, *args)
    return {row["replay_of"]: row["id"] for row in rows}


async def discard(tx: Tx, tenant_id: UUID, letter: Letter) -> bool:
    """Give a letter up for good; False when it is not open any more."""
    args = (letter.shard, letter.instance_id, tenant_id)
    return await tx.value(sql("dead_letters/discard"), *args) is not None


def letter_from(row: asyncpg.Record) -> Letter:
    """A letter out of a row."""
    return Letter(
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
    )

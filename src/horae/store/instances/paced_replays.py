"""Paced replays. The dead letters that a replay has taken name it: a step that is repeated sends none twice."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

import asyncpg

from horae.domain.ids import shard_in
from horae.domain.instances.dead_letters import DeadLetter, DeadLetterFilter, ReplayStatus
from horae.domain.instances.paced_replays import ROUND, PacedReplay, PacedReplayStatus, ReplayProgress
from horae.store.instances.dead_letters import dead_letter_from
from horae.store.statements import sql
from horae.store.tx import Tx


async def create(tx: Tx, made: PacedReplay) -> bool:
    """Insert a paced replay; False when the shard is closed."""
    wanted = made.wanted
    filters = (wanted.job_id, wanted.tag, wanted.error_code, wanted.cause_id)
    bounds = (made.limit, made.pace, made.canary, made.max_failures)
    args = (made.shard, made.id, made.tenant_id, *filters, *bounds, made.status, tx.now, made.created_by)
    return await tx.value(sql("instances/paced_replays/create"), *args) is not None


async def find(tx: Tx, tenant_id: UUID, id_: UUID) -> PacedReplay | None:
    """The tenant's paced replay with that id."""
    row = await tx.row(sql("instances/paced_replays/find"), shard_in(id_), id_, tenant_id)
    return None if row is None else _paced_replay(row)


async def listing(tx: Tx, tenant_id: UUID, before: UUID, limit: int) -> list[PacedReplay]:
    """The tenant's paced replays in this cell, newest first, before an id."""
    rows = await tx.rows(sql("instances/paced_replays/listing"), tenant_id, before, limit)
    return [_paced_replay(row) for row in rows]


async def count_running(tx: Tx, tenant_id: UUID, most: int) -> int:
    """How many paced replays of a tenant run, counted up to `most`."""
    return int(await tx.value(sql("instances/paced_replays/count_running"), tenant_id, most))


async def claim(tx: Tx, limit: int) -> list[PacedReplay]:
    """The paced replays whose next step this process may do now. Nobody else may before another round is over."""
    rows = await tx.rows(sql("instances/paced_replays/claim"), tx.now, tx.now + ROUND, limit)
    return [_paced_replay(row) for row in rows]


async def record(tx: Tx, replay: PacedReplay) -> bool:
    """Write the status and the counts of a paced replay; False when it has ended meanwhile."""
    end = (replay.waits_for, replay.ended_at, replay.ended_because)
    args = (replay.shard, replay.id, replay.status, *replay.progress, *end)
    return await tx.value(sql("instances/paced_replays/record"), *args) is not None


async def stop(tx: Tx, replay: PacedReplay, reason: str) -> bool:
    """Stop a paced replay; False when it has ended."""
    args = (replay.shard, replay.id, replay.tenant_id, tx.now, reason)
    return await tx.value(sql("instances/paced_replays/stop"), *args) is not None


async def progress(tx: Tx, replay: PacedReplay) -> ReplayProgress:
    """What became of the dead letters of a paced replay in this cell."""
    rows = await tx.rows(sql("instances/paced_replays/progress"), replay.id, replay.tenant_id)
    counts = {(row["replay_status"], row["refused"]): row["many"] for row in rows}
    sent = {status: counts.get((status, False), 0) for status in ReplayStatus}
    return ReplayProgress(
        outstanding=sent[ReplayStatus.REPLAYING],
        succeeded=sent[ReplayStatus.REPLAYED],
        failed=sent[ReplayStatus.DEAD_AGAIN],
        returned=sent[ReplayStatus.NEW] + sent[ReplayStatus.DISCARDED],
        refused=sum(many for (_, is_refused), many in counts.items() if is_refused),
    )


async def take(tx: Tx, replay: PacedReplay, limit: int) -> list[DeadLetter]:
    """The next dead letters of a paced replay in this cell, oldest first."""
    wanted = replay.wanted
    filters = (wanted.tag, wanted.error_code, wanted.job_id, wanted.cause_id)
    args = (replay.tenant_id, replay.id, replay.created_at, *filters, limit)
    return [dead_letter_from(row) for row in await tx.rows(sql("instances/paced_replays/take"), *args)]


async def mark_taken(tx: Tx, replay: PacedReplay, taken: Sequence[DeadLetter], sent: Collection[UUID]) -> None:
    """Note in dead letters that a paced replay has taken them; those that are not in `sent` were refused."""
    places = sorted((one.shard, one.instance_id, one.instance_id not in sent) for one in taken)
    await tx.run(
        sql("instances/paced_replays/mark_taken"),
        [shard for shard, _, _ in places],
        [id_ for _, id_, _ in places],
        [is_refused for _, _, is_refused in places],
        replay.id,
        replay.tenant_id,
    )


async def forget(tx: Tx, before: datetime, limit: int) -> int:
    """Delete paced replays that ended before a time, at most `limit`; returns how many."""
    return len(await tx.rows(sql("instances/paced_replays/forget"), before, limit))


def _paced_replay(row: asyncpg.Record) -> PacedReplay:
    return PacedReplay(
        id=row["id"],
        shard=row["shard_id"],
        tenant_id=row["tenant_id"],
        wanted=DeadLetterFilter(row["job_id"], row["tag"], row["error_code"], row["cause_id"]),
        limit=row["most"],
        pace=row["pace"],
        canary=row["canary"],
        max_failures=row["max_failures"],
        created_at=row["created_at"],
        created_by=row["created_by"],
        status=PacedReplayStatus(row["status"]),
        progress=ReplayProgress(row["outstanding"], row["succeeded"], row["failed"], row["returned"], row["refused"]),
        waits_for=row["waits_for"],
        ended_at=row["ended_at"],
        ended_because=row["ended_because"],
    )

"""Cursors: the one row that authorises each fire of a recurring job.

The next fire is computed from the persisted cursor, and moving it is a compare-and-set on version and time, in the
statement that also inserts the fire: one birth, whoever else believes to own the shard.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.domain.instances import Priority
from horae.domain.jobs import Job
from horae.domain.keys import recurring
from horae.domain.lifecycle import State
from horae.domain.outcomes import SkipReason
from horae.domain.placement import Run
from horae.domain.schedule import Fire as Fires
from horae.domain.schedule import Skip as Skips
from horae.domain.targets import Target, queue_of, slot_ms
from horae.domain.timers import Timer
from horae.runtime.chance import mint
from horae.store.looks import Look, Mark
from horae.store.statements import sql
from horae.store.tx import Tx


class Fire(NamedTuple):
    """One fire to be born. With a token it is born RUNNING, because a slot is already held for it."""

    shard: int
    job_id: UUID
    version: int
    fire_time: datetime
    next_fire_at: datetime | None
    id: UUID
    idem_key: str
    due_at: datetime
    token: UUID | None
    slot_ms: int
    queue: str | None = None
    held_ms: int = 0


class Skip(NamedTuple):
    """Fires that leave a verdict instead of a run: so many of them, from fire_time to `until`."""

    shard: int
    job_id: UUID
    version: int
    stood_at: datetime
    fire_time: datetime
    next_fire_at: datetime | None
    id: UUID
    idem_key: str
    until: datetime
    fires: int
    reason: SkipReason
    error_msg: str | None


class Move(NamedTuple):
    """A cursor that leaves several verdicts behind at once: where it stood, where it goes, how often it fired."""

    shard: int
    job_id: UUID
    version: int
    stood_at: datetime
    next_fire_at: datetime | None
    fired: int


def fire_row(
    at: Timer,
    verdict: Fires,
    wake: datetime | None,
    now: datetime,
    target: Target,
    token: UUID | None,
    held_ms: int = 0,
) -> Fire:
    """The row of a fire that a cursor has reached; the cursor goes on to `wake`. Without a token it waits."""
    return Fire(
        at.shard,
        at.id,
        at.version,
        verdict.fire_time,
        wake,
        mint(at.shard, now),
        recurring(at.id, verdict.fire_time),
        verdict.due_at,
        token,
        slot_ms(target),
        queue_of(target),
        held_ms,
    )


def skip_row(at: Timer, verdict: Skips, wake: datetime | None, now: datetime, said: str | None = None) -> Skip:
    """The row of a verdict about what a cursor has reached; the cursor goes on to `wake`."""
    return Skip(
        at.shard,
        at.id,
        at.version,
        at.at,
        verdict.fire_time,
        wake,
        mint(at.shard, now),
        recurring(at.id, verdict.fire_time),
        verdict.until,
        verdict.fires,
        verdict.reason,
        said,
    )


async def create(tx: Tx, job: Job, next_fire_at: datetime | None) -> None:
    """Give a new job its cursor; the job's own statement has passed the fence."""
    args = (job.shard, job.id, job.tenant_id, job.version, job.definition.priority, next_fire_at)
    await tx.run(sql("cursors/create"), *args)


async def due(tx: Tx, run: Run, look: Look, marks: Sequence[Mark]) -> list[Timer]:
    """A page of the cursors in a run of shards that stand behind the marks of their priority."""
    return [Timer(*row) for row in await tx.rows(sql("cursors/due"), *run, *_columns(marks), *look)]


async def due_narrow(tx: Tx, shards: Sequence[int], look: Look, marks: Sequence[Mark]) -> list[Timer]:
    """The same for an owner of very few shards."""
    return [Timer(*row) for row in await tx.rows(sql("cursors/due_narrow"), shards, *_columns(marks), *look)]


async def fire(tx: Tx, priority: Priority, fires: Sequence[Fire], owner: UUID) -> set[UUID]:
    """Move cursors of one priority and give birth; returns the ids born. The others have moved, or changed."""
    columns = zip(*fires, strict=True)
    return {row["id"] for row in await tx.rows(sql("cursors/fire"), *columns, owner, tx.now, priority)}


async def lock(tx: Tx, at: Timer) -> int | None:
    """Keep a cursor where it stands until the end of the transaction, and tell how often it has fired.

    None when it stands there no longer.
    """
    value = await tx.value(sql("cursors/lock"), at.shard, at.id, at.version, at.at, at.priority)
    return value if isinstance(value, int) else None


async def seize(tx: Tx, job: Job) -> bool:
    """Let nobody fire a job until the end of the transaction; False: it has no cursor."""
    return await tx.value(sql("cursors/seize"), job.shard, job.id) is not None


async def fire_exclusive(tx: Tx, priority: Priority, fire: Fire, owner: UUID, state: State) -> bool:
    """Move one cursor and give birth to a fire that does not run beside others of its job; False when it has moved."""
    return await tx.value(sql("cursors/fire_exclusive"), *fire, owner, tx.now, state, priority) is not None


async def skip(tx: Tx, priority: Priority, skips: Sequence[Skip]) -> set[UUID]:
    """Move cursors of one priority and record the verdict; returns the ids recorded."""
    columns = zip(*skips, strict=True)
    return {row["id"] for row in await tx.rows(sql("cursors/skip"), *columns, tx.now, priority)}


async def walk(
    tx: Tx, priority: Priority, moves: Sequence[Move], fires: Sequence[Fire], skips: Sequence[Skip]
) -> set[UUID]:
    """Move cursors of one priority over several verdicts each, every one of which leaves its row.

    The fires wait for their claim. Returns the jobs whose cursors moved; nothing was written of the others.
    """
    born = [(row.job_id, row.id, row.idem_key, row.fire_time, row.due_at, row.slot_ms, row.queue, row.held_ms)
            for row in fires]  # fmt: skip
    told = [(row.job_id, row.id, row.idem_key, row.fire_time, row.until, row.fires, row.reason)
            for row in skips]  # fmt: skip
    columns = [*zip(*sorted(moves), strict=True), *_turned(born, 8), *_turned(told, 7)]
    return {row["job_id"] for row in await tx.rows(sql("cursors/walk"), *columns, tx.now, priority)}


async def revise(tx: Tx, job: Job, version: int, wake: datetime | None, priority: Priority | None = None) -> bool:
    """Give a cursor the next version of its job and the time it goes to; False when it has moved since it was read."""
    priority = job.definition.priority if priority is None else priority
    args = (job.shard, job.id, job.version, job.next_fire_at, version, priority, wake)
    return await tx.value(sql("cursors/revise"), *args) is not None


async def hold(tx: Tx, job: Job) -> datetime | None:
    """Stop a cursor; returns the fire it stood at."""
    value = await tx.value(sql("cursors/hold"), job.shard, job.id)
    return value if isinstance(value, datetime) else None


async def resume(tx: Tx, job: Job, next_fire_at: datetime | None) -> bool:
    """Let a stopped cursor go on from a time; False when its job was changed meanwhile."""
    return await tx.value(sql("cursors/resume"), job.shard, job.id, next_fire_at, job.version) is not None


async def remove(tx: Tx, job: Job) -> None:
    """Forget a cursor for good."""
    await tx.run(sql("cursors/remove"), job.shard, job.id)


def _turned(rows: Sequence[tuple[object, ...]], width: int) -> list[Sequence[object]]:
    """Rows as columns; so many empty ones where there is none."""
    return list(zip(*rows, strict=True)) if rows else [()] * width


def _columns(marks: Sequence[Mark]) -> tuple[object, ...]:
    return tuple([getattr(mark, name) for mark in marks] for name in ("priority", "at", "shard", "id"))

"""Cursors: the one row that authorises each fire of a recurring job.

The next fire is computed from the stored cursor. One statement moves the cursor by compare-and-set on version and time,
and inserts the fire. So each fire is inserted once, even if several nodes believe they own the shard.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.domain.instances.idempotency_keys import recurring_key
from horae.domain.instances.instances import Priority
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import SkipReason
from horae.domain.jobs.jobs import Job
from horae.domain.placement import Run
from horae.domain.schedules import FireVerdict as Fires
from horae.domain.schedules import SkipVerdict as Skips
from horae.domain.schedules.timers import Timer
from horae.domain.targets.targets import Target, queue_of, slot_ms
from horae.runtime.randomness import new_id
from horae.store.arrays import plain, texts
from horae.store.nodes.scans import ScanMark, ScanRange
from horae.store.statements import sql
from horae.store.tx import Tx


class FireRow(NamedTuple):
    """One fire to insert. With a token it is inserted as RUNNING, because a slot is already reserved for it."""

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


class SkipRow(NamedTuple):
    """Fires that are recorded as skipped: `fires` of them, from `fire_time` to `until`."""

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


class CursorMove(NamedTuple):
    """A cursor that records several verdicts at once: where it was, where it moves, and how often it fires."""

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
) -> FireRow:
    """The row of a fire that a cursor has reached; the cursor moves on to `wake`. Without a token the fire waits."""
    return FireRow(
        at.shard,
        at.id,
        at.version,
        verdict.fire_time,
        wake,
        new_id(at.shard, now),
        recurring_key(at.id, verdict.fire_time),
        verdict.due_at,
        token,
        slot_ms(target),
        queue_of(target),
        held_ms,
    )


def skip_row(at: Timer, verdict: Skips, wake: datetime | None, now: datetime, said: str | None = None) -> SkipRow:
    """The row of a skip that a cursor has reached; the cursor moves on to `wake`."""
    return SkipRow(
        at.shard,
        at.id,
        at.version,
        at.at,
        verdict.fire_time,
        wake,
        new_id(at.shard, now),
        recurring_key(at.id, verdict.fire_time),
        verdict.until,
        verdict.fires,
        verdict.reason,
        said,
    )


async def create(tx: Tx, job: Job, next_fire_at: datetime | None) -> None:
    """Insert the cursor of a new job; the statement that inserted the job has passed the fence."""
    args = (job.shard, job.id, job.tenant_id, job.version, job.definition.priority, next_fire_at)
    await tx.run(sql("schedules/cursors/create"), *args)


async def due(tx: Tx, run: Run, look: ScanRange, marks: Sequence[ScanMark]) -> list[Timer]:
    """A page of the cursors in a run of shards, after the marks of their priority."""
    return [Timer(*row) for row in await tx.rows(sql("schedules/cursors/due"), *run, *_columns(marks), *look)]


async def due_narrow(tx: Tx, shards: Sequence[int], look: ScanRange, marks: Sequence[ScanMark]) -> list[Timer]:
    """Like `due`, for an owner of very few shards."""
    return [Timer(*row) for row in await tx.rows(sql("schedules/cursors/due_narrow"), shards, *_columns(marks), *look)]


async def fire(tx: Tx, priority: Priority, fires: Sequence[FireRow], owner: UUID) -> set[UUID]:
    """Move cursors of one priority and insert their fires; returns the ids of the new instances.

    The fires of cursors that have moved or changed since they were read are missing.
    """
    *before, idem_keys, due_times, tokens, slots_ms, queues, holds_ms = zip(*fires, strict=True)
    columns = (*map(plain, before), texts(idem_keys), *map(plain, (due_times, tokens, slots_ms)), texts(queues))
    args = (*columns, plain(holds_ms), owner, tx.now, priority)
    return {row["id"] for row in await tx.rows(sql("schedules/cursors/fire"), *args)}


async def lock(tx: Tx, at: Timer) -> int | None:
    """Lock a cursor until the transaction ends; returns how often it has fired.

    None when the cursor has moved since it was read.
    """
    value = await tx.value(sql("schedules/cursors/lock"), at.shard, at.id, at.version, at.at, at.priority)
    return value if isinstance(value, int) else None


async def seize(tx: Tx, job: Job) -> bool:
    """Lock a job's cursor so that no node fires it until the transaction ends; False: it has no cursor."""
    return await tx.value(sql("schedules/cursors/seize"), job.shard, job.id) is not None


async def fire_exclusive(tx: Tx, priority: Priority, fire: FireRow, owner: UUID, state: State) -> bool:
    """Move one cursor and insert a fire that never runs beside others of its job; False when the cursor has moved."""
    return await tx.value(sql("schedules/cursors/fire_exclusive"), *fire, owner, tx.now, state, priority) is not None


async def skip(tx: Tx, priority: Priority, skips: Sequence[SkipRow]) -> set[UUID]:
    """Move cursors of one priority and record their skips; returns the ids that were recorded."""
    *before, idem_keys, ends, counts, reasons, error_msgs = zip(*skips, strict=True)
    columns = (*map(plain, before), texts(idem_keys), *map(plain, (ends, counts, reasons)), texts(error_msgs))
    return {row["id"] for row in await tx.rows(sql("schedules/cursors/skip"), *columns, tx.now, priority)}


async def walk(
    tx: Tx, priority: Priority, moves: Sequence[CursorMove], fires: Sequence[FireRow], skips: Sequence[SkipRow]
) -> set[UUID]:
    """Move cursors of one priority over several verdicts each; every verdict writes its row.

    The fires wait to be claimed. Returns the jobs whose cursors moved; nothing was written for the others.
    """
    inserted = [(row.job_id, row.id, row.idem_key, row.fire_time, row.due_at, row.slot_ms, row.queue, row.held_ms)
            for row in fires]  # fmt: skip
    skipped = [(row.job_id, row.id, row.idem_key, row.fire_time, row.until, row.fires, row.reason)
            for row in skips]  # fmt: skip
    columns = [*zip(*sorted(moves), strict=True), *_transpose(inserted, 8), *_transpose(skipped, 7)]
    return {row["job_id"] for row in await tx.rows(sql("schedules/cursors/walk"), *columns, tx.now, priority)}


async def revise(tx: Tx, job: Job, version: int, wake: datetime | None, priority: Priority | None = None) -> bool:
    """Set the job version and the time of a cursor; False when it has moved since it was read."""
    priority = job.definition.priority if priority is None else priority
    args = (job.shard, job.id, job.version, job.next_fire_at, version, priority, wake)
    return await tx.value(sql("schedules/cursors/revise"), *args) is not None


async def hold(tx: Tx, job: Job) -> datetime | None:
    """Stop a cursor; returns the fire at which it was."""
    value = await tx.value(sql("schedules/cursors/hold"), job.shard, job.id)
    return value if isinstance(value, datetime) else None


async def resume(tx: Tx, job: Job, next_fire_at: datetime | None) -> bool:
    """Continue a stopped cursor from a time; False when its job has changed since it was read."""
    return await tx.value(sql("schedules/cursors/resume"), job.shard, job.id, next_fire_at, job.version) is not None


async def remove(tx: Tx, job: Job) -> None:
    """Delete a cursor."""
    await tx.run(sql("schedules/cursors/remove"), job.shard, job.id)


def _transpose(rows: Sequence[tuple[object, ...]], width: int) -> list[Sequence[object]]:
    """Rows as columns; `width` empty columns if there are no rows."""
    return list(zip(*rows, strict=True)) if rows else [()] * width


def _columns(marks: Sequence[ScanMark]) -> tuple[object, ...]:
    return tuple([getattr(mark, name) for mark in marks] for name in ("priority", "at", "shard", "id"))

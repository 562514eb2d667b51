"""Live instances: claim, end, due again, and what was abandoned.

Every write names the row it expects: state, attempt and token. Zero rows means that we no longer own this attempt;
the result is dropped on purpose and counted by the caller.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from horae.domain.ids import shard_in
from horae.domain.instances import Instance
from horae.domain.lifecycle import State
from horae.domain.outcomes import Again, Ended
from horae.domain.placement import Run
from horae.domain.sealed import Sealed, read
from horae.domain.timers import Timer
from horae.store.arrays import plain
from horae.store.history import Past
from horae.store.looks import Look, Mark
from horae.store.statements import sql
from horae.store.tx import Tx


class Attempt(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one try left behind: kept with the instance, the answer cut to its first 2 KB, sealed if it may tell."""

    attempt: int
    status: int | None = None
    code: str | None = None
    duration_ms: int | None = None
    answer: str | Sealed | None = None


class Ending(NamedTuple):
    """One instance to be ended. `seen_deadline` is set by the rescuer only: a heartbeat in between wins."""

    ran: Instance
    ended: Ended
    attempt: Attempt | None = None
    delay_ms: int | None = None
    seen_deadline: datetime | None = None


class Retrying(NamedTuple):
    """One instance to be due again."""

    ran: Instance
    again: Again
    attempt: Attempt | None = None
    delay_ms: int | None = None
    seen_deadline: datetime | None = None


class Extension(NamedTuple):
    """One running attempt that may go on until a new deadline."""

    ran: Instance
    deadline: datetime
    delay_ms: int | None = None


class Claim(NamedTuple):
    """Under whose token."""

    token: UUID
    owner: UUID


async def due(tx: Tx, run: Run, look: Look, marks: Sequence[Mark]) -> list[Timer]:
    """A page of the waiting instances in a run of shards that are due behind the marks of their class."""
    return [Timer(*row) for row in await tx.rows(sql("instances/due"), *run, *zip(*marks, strict=True), *look)]


async def due_narrow(tx: Tx, shards: Sequence[int], look: Look, marks: Sequence[Mark]) -> list[Timer]:
    """The same for an owner of very few shards."""
    rows = await tx.rows(sql("instances/due_narrow"), shards, *zip(*marks, strict=True), *look)
    return [Timer(*row) for row in rows]


async def claim(tx: Tx, wanted: Sequence[Timer], ask: Claim, held_ms: Sequence[int] = ()) -> list[Instance]:
    """Take those of the wanted instances that are due and waiting, and whose job is not paused.

    Each is RUNNING under the token from now on. `held_ms` is what gates have held each of them for since it was due.
    """
    rows = zip(wanted, held_ms or (0,) * len(wanted), strict=True)
    shards, ids, held = zip(*sorted((timer.shard, timer.id, ms) for timer, ms in rows), strict=True)
    found = await tx.rows(sql("instances/claim"), shards, ids, tx.now, ask.token, ask.owner, held)
    return [instance_from(row) for row in found]


async def end(tx: Tx, endings: Sequence[Ending]) -> set[UUID]:
    """Live rows become history, ledger and dead letter; returns the ids that were still ours to end."""
    rows = await tx.rows(sql("instances/end"), *zip(*map(_ending_row, endings), strict=True), tx.now)
    return {row["id"] for row in rows}


async def succeed(tx: Tx, endings: Sequence[tuple[Instance, int]]) -> set[UUID]:
    """The same for attempts that succeeded and took so many milliseconds, where nothing else is to be told."""
    columns = zip(*((ran.shard, ran.id, ran.attempt, ran.token, took) for ran, took in endings), strict=True)
    return {row["id"] for row in await tx.rows(sql("instances/succeed"), *map(plain, columns), tx.now)}


async def again(tx: Tx, retries: Sequence[Retrying]) -> set[UUID]:
    """RUNNING becomes FAIL or INIT with a new time; returns the ids that were still ours to release."""
    rows = await tx.rows(sql("instances/again"), *zip(*map(_retry_row, retries), strict=True), tx.now)
    return {row["id"] for row in rows}


async def extend(tx: Tx, extensions: Sequence[Extension]) -> set[UUID]:
    """Running attempts get a new deadline; returns the ids that were still ours to extend."""
    columns = zip(*map(_extension_row, extensions), strict=True)
    return {row["id"] for row in await tx.rows(sql("instances/extend"), *columns, tx.now)}


async def abandoned(tx: Tx, run: Run, until: datetime, after: tuple[datetime, UUID], limit: int) -> list[Instance]:
    """RUNNING past the deadline, or owned by an incarnation that is gone; by deadline, after the last page's."""
    rows = await tx.rows(sql("instances/abandoned"), *run, tx.now, limit, until, *after)
    return [instance_from(row) for row in rows]


class AcceptedAttempt(NamedTuple):
    """What is kept in memory of an attempt that a target has accepted: never its payload."""

    shard: int
    id: UUID
    attempt: int
    token: UUID | None
    tenant_id: UUID
    job_id: UUID
    job_version: int
    deadline: datetime | None


async def running(tx: Tx, ran: Sequence[AcceptedAttempt]) -> set[tuple[UUID, int]]:
    """Those of these attempts that have not ended yet, by the instance and their number."""
    columns = zip(*((one.shard, one.id, one.attempt, one.token) for one in ran), strict=True)
    return {(row["id"], row["attempt"]) for row in await tx.rows(sql("instances/running"), *columns)}


async def accepted(tx: Tx, run: Run, after: tuple[datetime, UUID], limit: int) -> list[AcceptedAttempt]:
    """What targets have accepted and not ended in a run of shards; by deadline, after the last page's."""
    return [AcceptedAttempt(*row) for row in await tx.rows(sql("instances/accepted"), *run, *after, limit)]


async def cancel_waiting(tx: Tx, shard: int, job_id: UUID) -> list[UUID]:
    """End a job's waiting instances in its own shard; what runs may finish."""
    return [row["id"] for row in await tx.rows(sql("instances/cancel_waiting"), shard, job_id, tx.now)]


async def counts(
    tx: Tx, tenant_id: UUID, job_id: UUID, shards: Sequence[int], *, most: int, spread: bool
) -> dict[str, int]:
    """How many of a job's instances live in which state; at most so many are looked at. A spread job's have keys."""
    rows = await tx.rows(sql("instances/counts"), tenant_id, shards, job_id, most, spread)
    return {row["state"]: row["many"] for row in rows}


async def cancel(tx: Tx, tenant_id: UUID, found: Past) -> bool:
    """End a live instance that no business key stands for; False when it changed since it was read."""
    args = (shard_in(found.id), found.id, tenant_id, found.state, found.attempt, tx.now)
    return await tx.value(sql("instances/cancel"), *args) is not None


async def hasten(tx: Tx, tenant_id: UUID, ids: Sequence[UUID]) -> list[UUID]:
    """What waits for its retry is due now; returns those that did."""
    shards = [shard_in(id_) for id_ in ids]
    return [row["id"] for row in await tx.rows(sql("instances/hasten"), shards, ids, tenant_id, tx.now)]


async def failing(
    tx: Tx, tenant_id: UUID, job_id: UUID, shards: Sequence[int], limit: int, *, spread: bool
) -> list[UUID]:
    """A job's instances in this cell that wait for a retry. A spread job's have keys."""
    rows = await tx.rows(sql("instances/failing"), tenant_id, shards, job_id, limit, tx.now, spread)
    return [row["id"] for row in rows]


async def living(tx: Tx, shard: int, job_id: UUID) -> dict[UUID, State]:
    """What lives of a job whose fires do not run beside each other; locked until the end of the transaction."""
    return {row["id"]: State(row["state"]) for row in await tx.rows(sql("instances/living"), shard, job_id)}


async def displace(tx: Tx, shard: int, ids: Iterable[UUID]) -> None:
    """End instances that `living` has locked as CANCELLED, because the next fire takes their place."""
    await tx.run(sql("instances/displace"), shard, list(ids), tx.now)


async def blocked(tx: Tx, jobs: Iterable[tuple[int, UUID]]) -> list[tuple[int, UUID]]:
    """Fires that wait behind another one of these jobs (shard and id); locked until the end of the transaction."""
    rows = await tx.rows(sql("instances/blocked"), *zip(*sorted(set(jobs)), strict=True))
    return [(row["shard_id"], row["id"]) for row in rows]


async def release(tx: Tx, waiting: Iterable[tuple[int, UUID]]) -> list[Timer]:
    """Those of the waiting ones that nothing of their job is before any more are due now; returns what we push."""
    rows = await tx.rows(sql("instances/release"), *zip(*waiting, strict=True), tx.now)
    return [Timer(*row[:8]) for row in rows if row["queue"] is None]


async def trigger(tx: Tx, made: Instance, slot_ms: int, queue: str | None, *, exclusive: bool) -> bool:
    """Insert an instance that someone asked for; the idempotency row that authorises it was just written.

    `exclusive`: no fire of its job runs beside it. False: an older one under the same key still lives.
    """
    born = (made.shard, made.id, made.tenant_id, made.job_id, made.job_version, made.idem_key, made.due_at, tx.now)
    args = (*born, made.priority, slot_ms, queue, made.payload, made.state, exclusive or None)
    return await tx.value(sql("instances/trigger"), *args) is not None


class Payload(NamedTuple):
    """A live payload as its row has it, and what it is bound to."""

    shard: int
    id: UUID
    job_id: UUID
    idem_key: str
    payload: Any


async def unsealed(
    tx: Tx, tenant_id: UUID, shards: Sequence[int], after: tuple[int, UUID], version: int, limit: int
) -> list[Payload]:
    """A page of a tenant's live payloads that this version of its key has not sealed, after a row."""
    args = (shards, *after, tenant_id, f"1.{version}.%", limit)
    return [Payload(*row) for row in await tx.rows(sql("instances/unsealed"), *args)]


async def reseal(tx: Tx, rows: Sequence[tuple[int, UUID, Any, Any]]) -> int:
    """Write payloads (shard, id, before, after) where they are as they were read; returns how many were."""
    return len(await tx.rows(sql("instances/reseal"), *zip(*sorted(rows, key=_place), strict=True)))


def _place(row: tuple[int, UUID, Any, Any]) -> tuple[int, UUID]:
    return row[:2]


def instance_from(row: asyncpg.Record) -> Instance:
    """An instance out of a live row."""
    return Instance(
        shard=row["shard_id"],
        id=row["id"],
        tenant_id=row["tenant_id"],
        job_id=row["job_id"],
        job_version=row["job_version"],
        idem_key=row["idem_key"],
        fire_time=row["fire_time"],
        due_at=row["due_at"],
        state=State(row["state"]),
        priority=row["priority"],
        lane=row["lane"],
        attempt=row["attempt"],
        retry_count=row["retry_count"],
        crash_count=row["crash_count"],
        held_ms=row["held_ms"],
        business_key=row["business_key"],
        generation=row["generation"],
        intent_version=row["intent_version"],
        token=row["token"],
        deadline=row["deadline"],
        worker_id=row["worker_id"],
        payload=read(row["payload"]),
        error_msg=row["error_msg"],
    )


def _ending_row(row: Ending) -> Iterable[Any]:
    ran, ended = row.ran, row.ended
    duration = row.attempt.duration_ms if row.attempt else None
    return (
        ran.shard, ran.id, ran.attempt, ran.token, row.seen_deadline,
        ended.state, ended.reason, ended.error_code, ended.error_msg, ended.tag, ended.retry_count,
        duration, row.delay_ms, row.attempt,
    )  # fmt: skip


def _extension_row(row: Extension) -> Iterable[Any]:
    return (row.ran.shard, row.ran.id, row.ran.attempt, row.ran.token, row.deadline, row.delay_ms)


def _retry_row(row: Retrying) -> Iterable[Any]:
    ran, again = row.ran, row.again
    return (
        ran.shard, ran.id, ran.attempt, ran.token, row.seen_deadline,
        again.state, again.due_at, again.attempt, again.retry_count, again.crash_count,
        again.error_code, again.error_msg, row.delay_ms, row.attempt,
    )  # fmt: skip

"""Live instances: claim, end, retry, and find the abandoned ones.

Every write names the row it expects: state, attempt and token. Zero rows means that this process no longer owns the
attempt. The result is dropped on purpose, and the caller counts it.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from horae.domain.encryption.encrypted_values import EncryptedValue, read
from horae.domain.ids import shard_in
from horae.domain.instances.instances import Instance
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import InstanceEnd, NextAttempt
from horae.domain.placement import Run
from horae.domain.schedules.timers import Timer
from horae.domain.targets.targets import MAX_ORDINARY_SLOT_MS
from horae.store.arrays import documents, plain, texts
from horae.store.instances.history import PLAIN_STATUS, InstanceRecord
from horae.store.nodes.scans import ScanMark, ScanRange
from horae.store.statements import sql
from horae.store.tx import Tx


class Attempt(msgspec.Struct, frozen=True, omit_defaults=True):
    """The record of one attempt, kept with its instance. The answer is cut to 2 KB and may be encrypted.

    `node` or `worker_id` says who made it. `request` is the method, host and path of the call, without the query.
    """

    attempt: int
    status: int | None = None
    code: str | None = None
    duration_ms: int | None = None
    answer: str | EncryptedValue | None = None
    started_at: datetime | None = None
    node: str | None = None
    worker_id: str | None = None
    request: str | None = None

    def plain_success_of(self, ran: Instance) -> bool:
        """Whether the row of its instance says the same: `history.with_plain_attempt` reads it from there."""
        only = ran.attempt == 1 and ran.worker_id is None and self.duration_ms is not None
        return only and self.status == PLAIN_STATUS and self.code is None and self.answer is None


class EndRow(NamedTuple):
    """One instance to end. Only the rescuer sets `seen_deadline`: a heartbeat since then prevents the end."""

    ran: Instance
    ended: InstanceEnd
    attempt: Attempt | None = None
    delay_ms: int | None = None
    seen_deadline: datetime | None = None


class RetryRow(NamedTuple):
    """One instance that becomes due again."""

    ran: Instance
    next: NextAttempt
    attempt: Attempt | None = None
    delay_ms: int | None = None
    seen_deadline: datetime | None = None


class Extension(NamedTuple):
    """One running attempt that gets a new deadline."""

    ran: Instance
    deadline: datetime
    delay_ms: int | None = None


class Claim(NamedTuple):
    """The token and the owner of a claim."""

    token: UUID
    owner: UUID


async def due(tx: Tx, run: Run, look: ScanRange, marks: Sequence[ScanMark]) -> list[Timer]:
    """A page of the waiting instances that are due in a run of shards, after the marks of their class."""
    return [
        Timer(*row) for row in await tx.rows(sql("instances/instances/due"), *run, *zip(*marks, strict=True), *look)
    ]


async def due_narrow(tx: Tx, shards: Sequence[int], look: ScanRange, marks: Sequence[ScanMark]) -> list[Timer]:
    """Like `due`, for an owner of very few shards."""
    rows = await tx.rows(sql("instances/instances/due_narrow"), shards, *zip(*marks, strict=True), *look)
    return [Timer(*row) for row in rows]


async def claim(tx: Tx, wanted: Sequence[Timer], ask: Claim, held_ms: Sequence[int] = ()) -> list[Instance]:
    """Claim the wanted instances that are due and waiting, and whose job is not paused.

    Each becomes RUNNING under the token. `held_ms` is how long gates have held each of them back since it was due.
    """
    rows = zip(wanted, held_ms or (0,) * len(wanted), strict=True)
    shards, ids, held = map(plain, zip(*sorted((timer.shard, timer.id, ms) for timer, ms in rows), strict=True))
    found = await tx.rows(sql("instances/instances/claim"), shards, ids, tx.now, ask.token, ask.owner, held)
    return [instance_from(row) for row in found]


async def end(tx: Tx, endings: Sequence[EndRow]) -> set[UUID]:
    """Move live rows to history, ledger and dead letters; returns the ids of attempts that this process still owned."""
    *before, error_msgs, tags, retries, durations, delays, notes, nodes = zip(*map(_ending_row, endings), strict=True)
    after = map(plain, (tags, retries, durations, delays))
    columns = (*map(plain, before), texts(error_msgs), *after, documents(notes), texts(nodes))
    return {row["id"] for row in await tx.rows(sql("instances/instances/end"), *columns, tx.now)}


async def succeed(tx: Tx, endings: Sequence[tuple[Instance, int]]) -> set[UUID]:
    """Like `end`, for attempts that succeeded after that many milliseconds and have nothing else to record."""
    columns = zip(*((ran.shard, ran.id, ran.attempt, ran.token, took) for ran, took in endings), strict=True)
    return {row["id"] for row in await tx.rows(sql("instances/instances/succeed"), *map(plain, columns), tx.now)}


async def retry_later(tx: Tx, retries: Sequence[RetryRow]) -> set[UUID]:
    """Change RUNNING to FAIL or INIT with a new time; returns the ids of attempts that this process still owned."""
    *before, error_msgs, delays, notes = zip(*map(_retry_row, retries), strict=True)
    columns = (*map(plain, before), texts(error_msgs), plain(delays), documents(notes))
    return {row["id"] for row in await tx.rows(sql("instances/instances/retry_later"), *columns, tx.now)}


async def extend(tx: Tx, extensions: Sequence[Extension]) -> set[UUID]:
    """Give running attempts a new deadline; returns the ids of attempts that this process still owned."""
    columns = zip(*map(_extension_row, extensions), strict=True)
    return {row["id"] for row in await tx.rows(sql("instances/instances/extend"), *columns, tx.now)}


async def abandoned(tx: Tx, run: Run, until: datetime, after: tuple[datetime, UUID], limit: int) -> list[Instance]:
    """Instances that are RUNNING past their deadline or whose owner is dead; by deadline, after the last page.

    Long calls are abandoned after their deadline only.
    """
    rows = await tx.rows(sql("instances/instances/abandoned"), *run, tx.now, limit, until, *after, MAX_ORDINARY_SLOT_MS)
    return [instance_from(row) for row in rows]


class AcceptedAttempt(NamedTuple):
    """What is kept in memory of an attempt that a target has accepted. The payload is not kept."""

    shard: int
    id: UUID
    attempt: int
    token: UUID | None
    tenant_id: UUID
    job_id: UUID
    job_version: int
    deadline: datetime | None


async def running(tx: Tx, ran: Sequence[AcceptedAttempt]) -> set[tuple[UUID, int]]:
    """The attempts that have not ended yet, as (instance, attempt)."""
    columns = zip(*((one.shard, one.id, one.attempt, one.token) for one in ran), strict=True)
    return {(row["id"], row["attempt"]) for row in await tx.rows(sql("instances/instances/running"), *columns)}


async def accepted(tx: Tx, run: Run, after: tuple[datetime, UUID], limit: int) -> list[AcceptedAttempt]:
    """Attempts in a run of shards that targets have accepted and not ended; by deadline, after the last page."""
    return [AcceptedAttempt(*row) for row in await tx.rows(sql("instances/instances/accepted"), *run, *after, limit)]


async def cancel_waiting(tx: Tx, shard: int, job_id: UUID) -> list[UUID]:
    """Cancel a job's waiting instances in its own shard. Running ones may finish."""
    return [row["id"] for row in await tx.rows(sql("instances/instances/cancel_waiting"), shard, job_id, tx.now)]


async def counts(
    tx: Tx, tenant_id: UUID, job_id: UUID, shards: Sequence[int], *, most: int, spread: bool
) -> dict[str, int]:
    """How many live instances a job has in each state; scans at most `most` rows.

    `spread`: the rows of the job are spread over shards, so each has a business key.
    """
    rows = await tx.rows(sql("instances/instances/counts"), tenant_id, shards, job_id, most, spread)
    return {row["state"]: row["many"] for row in rows}


async def cancel(tx: Tx, tenant_id: UUID, found: InstanceRecord) -> bool:
    """Cancel a live instance without a business key; False when it has changed since it was read."""
    args = (shard_in(found.id), found.id, tenant_id, found.state, found.attempt, tx.now)
    return await tx.value(sql("instances/instances/cancel"), *args) is not None


async def retry_now(tx: Tx, tenant_id: UUID, ids: Sequence[UUID]) -> list[UUID]:
    """Make instances that wait for a retry due now; returns their ids."""
    shards = [shard_in(id_) for id_ in ids]
    return [row["id"] for row in await tx.rows(sql("instances/instances/retry_now"), shards, ids, tenant_id, tx.now)]


async def failing(
    tx: Tx, tenant_id: UUID, job_id: UUID, shards: Sequence[int], limit: int, *, spread: bool
) -> list[UUID]:
    """A job's instances in this cell that wait for a retry. `spread`: each of them has a business key."""
    rows = await tx.rows(sql("instances/instances/failing"), tenant_id, shards, job_id, limit, tx.now, spread)
    return [row["id"] for row in rows]


async def lock_live(tx: Tx, shard: int, job_id: UUID) -> dict[UUID, State]:
    """The live instances of a job whose fires never run at the same time; locked until the transaction ends."""
    return {
        row["id"]: State(row["state"]) for row in await tx.rows(sql("instances/instances/lock_live"), shard, job_id)
    }


async def displace(tx: Tx, shard: int, ids: Iterable[UUID]) -> None:
    """Cancel instances that `lock_live` has locked, because the next fire replaces them."""
    await tx.run(sql("instances/instances/displace"), shard, list(ids), tx.now)


async def blocked(tx: Tx, jobs: Iterable[tuple[int, UUID]]) -> list[tuple[int, UUID]]:
    """The fires (shard and id) of these jobs that wait for another fire to end; locked until the transaction ends."""
    rows = await tx.rows(sql("instances/instances/blocked"), *zip(*sorted(set(jobs)), strict=True))
    return [(row["shard_id"], row["id"]) for row in rows]


async def release(tx: Tx, waiting: Iterable[tuple[int, UUID]]) -> list[Timer]:
    """Make waiting fires due now if no earlier fire of their job is left; returns those without a queue."""
    rows = await tx.rows(sql("instances/instances/release"), *zip(*waiting, strict=True), tx.now)
    return [Timer(*row[:8]) for row in rows if row["queue"] is None]


async def trigger(tx: Tx, made: Instance, slot_ms: int, queue: str | None, *, exclusive: bool) -> bool:
    """Insert an instance that a user requested; the idempotency row that authorises it was just written.

    `exclusive`: no other fire of its job may run at the same time. False: an older instance with the same key is live.
    """
    place = (made.shard, made.id, made.tenant_id, made.job_id, made.job_version, made.idem_key)
    inserted = (*place, made.fire_time, made.due_at, tx.now)
    args = (*inserted, made.priority, slot_ms, queue, made.payload, made.state, exclusive or None, made.caller_trace)
    return await tx.value(sql("instances/instances/trigger"), *args) is not None


class Payload(NamedTuple):
    """The payload of a live row as stored, and the fields that its encryption is bound to."""

    shard: int
    id: UUID
    job_id: UUID
    idem_key: str
    payload: Any


async def outdated_payloads(
    tx: Tx, tenant_id: UUID, shards: Sequence[int], after: tuple[int, UUID], version: int, limit: int
) -> list[Payload]:
    """A page of a tenant's live payloads that are not encrypted with this version of its data key, after a row."""
    args = (shards, *after, tenant_id, f"1.{version}.%", limit)
    return [Payload(*row) for row in await tx.rows(sql("instances/instances/outdated_payloads"), *args)]


async def reencrypt(tx: Tx, rows: Sequence[tuple[int, UUID, Any, Any]]) -> int:
    """Replace payloads (shard, id, before, after) that are still as they were read; returns how many."""
    return len(await tx.rows(sql("instances/instances/reencrypt"), *zip(*sorted(rows, key=_place), strict=True)))


def _place(row: tuple[int, UUID, Any, Any]) -> tuple[int, UUID]:
    return row[:2]


def instance_from(row: asyncpg.Record) -> Instance:
    """Convert a live row to an instance."""
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
        caller_trace=row["caller_trace"],
    )


def _ending_row(row: EndRow) -> Iterable[Any]:
    ran, ended = row.ran, row.ended
    duration = row.attempt.duration_ms if row.attempt else None
    plain = row.attempt is not None and ended.state == State.SUCCESS and row.attempt.plain_success_of(ran)
    return (
        ran.shard, ran.id, ran.attempt, ran.token, row.seen_deadline,
        ended.state, ended.reason, ended.error_code, ended.error_msg, ended.tag, ended.retry_count,
        duration, row.delay_ms, None if plain else row.attempt, row.attempt.node if plain and row.attempt else None,
    )  # fmt: skip


def _extension_row(row: Extension) -> Iterable[Any]:
    return (row.ran.shard, row.ran.id, row.ran.attempt, row.ran.token, row.deadline, row.delay_ms)


def _retry_row(row: RetryRow) -> Iterable[Any]:
    ran, again = row.ran, row.next
    return (
        ran.shard, ran.id, ran.attempt, ran.token, row.seen_deadline,
        again.state, again.due_at, again.attempt, again.retry_count, again.crash_count,
        again.error_code, again.error_msg, row.delay_ms, row.attempt,
    )  # fmt: skip

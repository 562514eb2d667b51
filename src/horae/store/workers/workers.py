"""The queues that workers claim from, and the attempts that workers hold.

The worker, not a node, is responsible for a claimed attempt until the deadline. Zero rows means that the attempt no
longer belongs to the worker.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from horae.domain.encryption.encrypted_values import read
from horae.domain.ids import shard_in
from horae.domain.instances.instances import Instance, Lane, Priority
from horae.domain.instances.lifecycle import State
from horae.store.instances.instances import instance_from
from horae.store.statements import sql
from horae.store.tx import Tx


class QueueKey(NamedTuple):
    """One queue of one tenant."""

    tenant_id: UUID
    name: str


class DueQueue(NamedTuple):
    """A class of a queue that has due instances, and the time of the oldest one."""

    priority: Priority
    lane: Lane
    oldest: datetime


class RunningAttempt(NamedTuple):
    """A running attempt: since when it runs, and how long a claim lasts."""

    ran: Instance
    since: datetime
    slot: timedelta


class AttemptState(NamedTuple):
    """The state of an id. `open`: its shard is open; if it is not, the state is unknown for now."""

    running: RunningAttempt | None
    open: bool


class Beat(NamedTuple):
    """One attempt that gets a new deadline."""

    ran: Instance
    deadline: datetime


async def due_classes(tx: Tx, queue: QueueKey, worker_id: str) -> list[DueQueue] | None:
    """The classes of a queue in this cell that have due instances of jobs that are not paused.

    None if the worker is drained: the same statement reads its mark.
    """
    rows = await tx.rows(sql("workers/workers/due_classes"), queue.tenant_id, queue.name, tx.now, worker_id)
    if rows and rows[0]["priority"] is None:
        return None
    return [DueQueue(Priority(row["priority"]), Lane(row["lane"]), row["due_at"]) for row in rows]


async def ready(tx: Tx, tenant_id: UUID, queues: Sequence[str]) -> list[str]:
    """The queues of a tenant in this cell that have due instances of jobs that are not paused."""
    return [row["queue"] for row in await tx.rows(sql("workers/workers/ready"), tenant_id, queues, tx.now)]


async def claim(
    tx: Tx, queue: QueueKey, priority: Priority, lane: Lane, limit: int, token: UUID, worker_id: str
) -> list[Instance]:
    """Claim due instances of one class, oldest first, of jobs that are not paused; each becomes RUNNING."""
    args = (queue.tenant_id, queue.name, priority, lane, tx.now, limit, token, worker_id)
    rows = await tx.rows(sql("workers/workers/claim"), *args)
    return [
        Instance(
            shard=shard, id=id_, tenant_id=queue.tenant_id, job_id=job_id, job_version=job_version, idem_key=idem_key,
            fire_time=fire_time, due_at=due_at, state=State.RUNNING, priority=priority, lane=lane, attempt=attempt,
            retry_count=retry_count, crash_count=crash_count, business_key=business_key, token=token,
            deadline=deadline, worker_id=worker_id, error_msg=error_msg, payload=read(payload),
            caller_trace=caller_trace,
        )
        for shard, id_, job_id, job_version, idem_key, fire_time, due_at, attempt, retry_count,
            crash_count, business_key, deadline, error_msg, payload, caller_trace in rows
    ]  # fmt: skip


async def find_attempts(tx: Tx, tenant_id: UUID, ids: Collection[UUID]) -> dict[UUID, AttemptState]:
    """The tenant's running attempts behind these ids; an id that does not run has `running` None."""
    rows = await tx.rows(sql("workers/workers/find_attempts"), tenant_id, [shard_in(id_) for id_ in ids], list(ids))
    found = {}
    for row in rows:
        slot = timedelta(milliseconds=row["slot_ms"] or 0)
        running = RunningAttempt(instance_from(row), row["changed_at"], slot) if row["id"] else None
        found[row["asked"]] = AttemptState(running, row["open"])
    return found


async def heartbeat(tx: Tx, beats: Sequence[Beat]) -> dict[UUID, datetime]:
    """Extend deadlines; returns the deadlines of the attempts that still belong to their worker."""
    rows = sorted((ran.shard, ran.id, ran.attempt, ran.token, deadline) for ran, deadline in beats)
    done = await tx.rows(sql("workers/workers/heartbeat"), *zip(*rows, strict=True))
    return {row["id"]: row["deadline"] for row in done}

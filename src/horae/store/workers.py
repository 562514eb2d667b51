"""The queues that workers pull from, and the attempts they hold.

No node of ours answers for a claimed attempt: its worker does, until the deadline. Zero rows means that the attempt
is no longer theirs.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from horae.domain.ids import shard_in
from horae.domain.instances import Instance, Lane, Priority
from horae.domain.lifecycle import State
from horae.domain.sealed import read
from horae.store.instances import instance_from
from horae.store.statements import sql
from horae.store.tx import Tx


class Queue(NamedTuple):
    """One queue of one tenant."""

    tenant_id: UUID
    name: str


class Waiting(NamedTuple):
    """A class of which something is due, and since when."""

    priority: Priority
    lane: Lane
    oldest: datetime


class Running(NamedTuple):
    """A running attempt as it stands: since when, and how long its claims last."""

    ran: Instance
    since: datetime
    slot: timedelta


class Found(NamedTuple):
    """What is known of an id. `open`: its shard is; otherwise nothing can be said now."""

    running: Running | None
    open: bool


class Beat(NamedTuple):
    """One attempt that may go on until a new deadline."""

    ran: Instance
    deadline: datetime


async def waiting(tx: Tx, queue: Queue) -> list[Waiting]:
    """The classes of a queue in this cell of which something is due whose job is not paused."""
    rows = await tx.rows(sql("workers/waiting"), queue.tenant_id, queue.name, tx.now)
    return [Waiting(Priority(row["priority"]), Lane(row["lane"]), row["due_at"]) for row in rows]


async def ready(tx: Tx, tenant_id: UUID, queues: Sequence[str]) -> list[str]:
    """Those of a tenant's queues in this cell that have something due whose job is not paused."""
    return [row["queue"] for row in await tx.rows(sql("workers/ready"), tenant_id, queues, tx.now)]


async def claim(
    tx: Tx, queue: Queue, priority: Priority, lane: Lane, limit: int, token: UUID, worker_id: str
) -> list[Instance]:
    """Take due instances of one class whose jobs are not paused, oldest first; each is RUNNING in the worker's name."""
    args = (queue.tenant_id, queue.name, priority, lane, tx.now, limit, token, worker_id)
    rows = await tx.rows(sql("workers/claim"), *args)
    return [
        Instance(
            shard=shard, id=id_, tenant_id=queue.tenant_id, job_id=job_id, job_version=job_version, idem_key=idem_key,
            fire_time=fire_time, due_at=due_at, state=State.RUNNING, priority=priority, lane=lane, attempt=attempt,
            retry_count=retry_count, crash_count=crash_count, business_key=business_key, token=token,
            deadline=deadline, worker_id=worker_id, error_msg=error_msg, payload=read(payload),
        )
        for shard, id_, job_id, job_version, idem_key, fire_time, due_at, attempt, retry_count,
            crash_count, business_key, deadline, error_msg, payload in rows
    ]  # fmt: skip


async def held(tx: Tx, tenant_id: UUID, ids: Collection[UUID]) -> dict[UUID, Found]:
    """The tenant's running attempts behind these ids; what does not run is there without one."""
    rows = await tx.rows(sql("workers/held"), tenant_id, [shard_in(id_) for id_ in ids], list(ids))
    found = {}
    for row in rows:
        slot = timedelta(milliseconds=row["slot_ms"] or 0)
        running = Running(instance_from(row), row["changed_at"], slot) if row["id"] else None
        found[row["asked"]] = Found(running, row["open"])
    return found


async def heartbeat(tx: Tx, beats: Sequence[Beat]) -> dict[UUID, datetime]:
    """Move deadlines away; returns the deadlines of those that were still theirs."""
    rows = sorted((ran.shard, ran.id, ran.attempt, ran.token, deadline) for ran, deadline in beats)
    done = await tx.rows(sql("workers/heartbeat"), *zip(*rows, strict=True))
    return {row["id"]: row["deadline"] for row in done}

"""An instance: one fire of a job, from INIT to its end. All layers pass this value."""

from datetime import datetime
from enum import IntEnum
from typing import Any
from uuid import UUID

import msgspec

from horae.domain.instances.lifecycle import State


class Priority(IntEnum):
    """How important an instance is; part of the class that a scan asks for."""

    CRITICAL = 0
    NORMAL = 1
    LOW = 2


class Lane(IntEnum):
    """Why an instance is due: a first attempt, a retry, or a backfill. A retry keeps its job's priority."""

    FIRST = 0
    RETRY = 1
    BACKFILL = 2


class Instance(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A live instance as stored. `attempt` counts sent attempts, `retry_count` counts failures and is never reset.

    `caller_trace` is the packed trace context of the request that set its time, if that was sampled.
    """

    shard: int
    id: UUID
    tenant_id: UUID
    job_id: UUID
    job_version: int
    idem_key: str
    fire_time: datetime
    due_at: datetime
    state: State
    priority: Priority = Priority.NORMAL
    lane: Lane = Lane.FIRST
    attempt: int = 0
    retry_count: int = 0
    crash_count: int = 0
    held_ms: int = 0
    business_key: str | None = None
    generation: int | None = None
    intent_version: int | None = None
    token: UUID | None = None
    deadline: datetime | None = None
    worker_id: str | None = None
    payload: Any = None
    error_msg: str | None = None
    caller_trace: bytes | None = None

    def ids(self) -> dict[str, UUID]:
        """Return the ids that a line of the log about this instance has."""
        return {"tenant": self.tenant_id, "job": self.job_id, "instance": self.id}

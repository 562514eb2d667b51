"""One fire of a job, from INIT to its end: the value that travels between the floors."""

from datetime import datetime
from enum import IntEnum
from typing import Any
from uuid import UUID

import msgspec

from horae.domain.lifecycle import State


class Priority(IntEnum):
    """How much it matters; part of the class a scan asks for."""

    CRITICAL = 0
    NORMAL = 1
    LOW = 2


class Lane(IntEnum):
    """Why it is due: a first try, a retry, or a backfill. A retry keeps its job's priority."""

    FIRST = 0
    RETRY = 1
    BACKFILL = 2


class Instance(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A live instance as the rows have it. `attempt` counts tries sent, `retry_count` failures, never reset."""

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

"""Instances, backfills and dead letters."""

from datetime import datetime
from typing import Any

import msgspec

from horae_client.models.base import ArchiveRead, Model
from horae_client.models.jobs import Hold


class Triggered(Model, frozen=True, kw_only=True):
    """The instance of a job that was triggered by hand."""

    instance_id: str
    job_id: str
    job: str


class Attempt(Model, frozen=True, kw_only=True):
    """One attempt of an instance, made by a node or a worker. What is not known is None.

    `request` is the method, host and path of the call, without its query. `answer` is the first 2 KB of what came back;
    None without the permission `payloads.read`.
    """

    attempt: int
    started_at: datetime | None = None
    ended_at: datetime | None = None
    duration_ms: int | None = None
    node: str | None = None
    worker_id: str | None = None
    request: str | None = None
    status: int | None = None
    code: str | None = None
    answer: str | None = None


class Instance(Model, frozen=True, kw_only=True):
    """One fire of a job. A SKIPPED one may stand for a range. In a list, payload and attempts are left out."""

    id: str
    job_id: str
    job_version: int
    state: str
    fire_time: datetime
    due_at: datetime
    changed_at: datetime
    priority: str
    lane: str
    attempt: int
    retry_count: int
    idempotency_key: str
    job: str | None = None
    key: str | None = None
    reason: str | None = None
    trigger_delay_ms: int | None = None
    duration_ms: int | None = None
    worker_id: str | None = None
    error_code: str | None = None
    error_msg: str | None = None
    range_to: datetime | None = None
    range_count: int | None = None
    payload: Any = None
    unreadable: str | None = None
    attempts: list[Attempt] = msgspec.field(default_factory=list)
    deadline: datetime | None = None
    held_ms: int = 0
    held: Hold | None = None
    expires_at: datetime | None = None
    archive: ArchiveRead | None = None
    trace_url: str | None = None


class Retried(Model, frozen=True, kw_only=True):
    """The instance to watch: the same one, or the replay of a dead one."""

    instance_id: str


class Counts(Model, frozen=True, kw_only=True):
    """A job's live instances by state, and the results of those in a range of time."""

    live: dict[str, int]
    ended: dict[str, int]


class Backfill(Model, frozen=True, kw_only=True):
    """A backfill, with its progress if that was requested."""

    id: str
    job_id: str
    since: datetime
    until: datetime
    cap: int
    rerun: bool
    planned: int
    created_at: datetime
    created_by: str
    status: str | None = None
    cursor: datetime | None = None
    born: int | None = None
    already: int | None = None
    ended_at: datetime | None = None
    waiting: int | None = None
    ended: dict[str, int] | None = None


class DeadLetter(Model, frozen=True, kw_only=True):
    """A dead letter. `instance_id` is the instance that died first; `replay_id` is its latest replay."""

    instance_id: str
    job_id: str
    fire_time: datetime
    created_at: datetime
    error_code: str
    replay_status: str
    idempotency_key: str
    job: str | None = None
    key: str | None = None
    error_msg: str | None = None
    tag: str | None = None
    replay_id: str | None = None
    payload: Any = None
    unreadable: str | None = None


class Replayed(Model, frozen=True, kw_only=True):
    """How many dead letters were replayed, and how many could not be."""

    sent: int
    refused: int

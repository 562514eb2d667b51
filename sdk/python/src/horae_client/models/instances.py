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


class Progress(Model, frozen=True, kw_only=True):
    """How far the running attempt is, 0 to 100, as its worker last reported it."""

    percent: float
    at: datetime
    text: str | None = None


class LogLine(Model, frozen=True, kw_only=True):
    """A line that an attempt logged, or a mark: `dropped` says how many lines before it are missing."""

    attempt: int
    number: int
    at: datetime | None = None
    level: str | None = None
    text: str | None = None
    dropped: int = 0


class InstanceResult(Model, frozen=True, kw_only=True):
    """What an instance returned: any JSON."""

    instance_id: str
    result: Any


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
    progress: Progress | None = None
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


class BackfillProgress(Model, frozen=True, kw_only=True):
    """How many instances have ended, of how many. `left_s` is unknown before a tenth is done."""

    done: int
    total: int
    running_s: float
    left_s: float | None = None


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
    mode: str | None = None
    newest_first: bool = False
    rate: float | None = None
    needed: int | None = None
    group_id: str | None = None
    status: str | None = None
    cursor: datetime | None = None
    decided_from: datetime | None = None
    born: int | None = None
    already: int | None = None
    paused_at: datetime | None = None
    ended_at: datetime | None = None
    waiting: int | None = None
    ended: dict[str, int] | None = None
    progress: BackfillProgress | None = None


class PaceBound(Model, frozen=True, kw_only=True):
    """What bounds the pace of a backfill, and the calls a second that it allows."""

    bound: str
    calls_per_s: float
    name: str | None = None


class BackfillPlan(Model, frozen=True, kw_only=True):
    """What a backfill would do: how many fires, how long, what load, and what bounds its pace."""

    since: datetime
    until: datetime
    planned: int
    needed: int
    call_s: float
    calls_per_s: float
    slots: float
    nodes: int
    limited_by: str
    bounds: list[PaceBound]
    duration_s: float | None = None
    succeeded: int | None = None
    failed: int | None = None


class BackfillGroupItem(Model, frozen=True, kw_only=True):
    """The result for one job of a new group: its part, or the refusal."""

    job_id: str
    name: str
    backfill: Backfill | None = None
    code: str | None = None
    message: str | None = None


class StartedBackfillGroup(Model, frozen=True, kw_only=True):
    """A new backfill group with the result for each job."""

    id: str
    items: list[BackfillGroupItem]


class BackfillGroup(Model, frozen=True, kw_only=True):
    """The progress of a backfill group and of its parts."""

    id: str
    status: str
    progress: BackfillProgress
    parts: list[Backfill]


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
    tags: list[str] = msgspec.field(default_factory=list)
    cause: str | None = None
    job_version: int = 1
    replay_id: str | None = None
    payload: Any = None
    unreadable: str | None = None


class Replayed(Model, frozen=True, kw_only=True):
    """How many dead letters were replayed, and how many could not be."""

    sent: int
    refused: int


class ChangedDeadLetters(Model, frozen=True, kw_only=True):
    """How many dead letters were discarded or tagged, and how many could not be."""

    changed: int
    refused: int


class FailureCause(Model, frozen=True, kw_only=True):
    """Open dead letters of one job with the same error code and normalised message, and when they died."""

    cause: str
    job_id: str
    error_code: str
    message: str
    open: int
    last_hour: int
    last_day: int
    day_before: int
    trend: str
    first_at: datetime
    last_at: datetime
    oldest_version: int
    newest_version: int
    sample: str
    job: str | None = None
    target: str | None = None


class SinceDeath(Model, frozen=True, kw_only=True):
    """What changed since dead letters died: the job, how its fires end now, and what is held back."""

    changed: bool
    ended: dict[str, int]
    held: list[Hold]
    job_status: str | None = None
    job_version: int | None = None


class FailureCauseDetail(FailureCause, frozen=True, kw_only=True):
    """A failure cause with its newest dead letters. Payloads are None without the permission `payloads.read`."""

    samples: list[DeadLetter]
    since_death: SinceDeath


class PacedReplay(Model, frozen=True, kw_only=True):
    """A paced replay: CANARY, RUNNING, COMPLETED or STOPPED, with the counts of its last step."""

    id: str
    status: str
    limit: int
    pace: int
    canary: int
    created_at: datetime
    created_by: str
    sent: int
    outstanding: int
    succeeded: int
    failed: int
    returned: int
    refused: int
    max_failures: int | None = None
    cause: str | None = None
    job_id: str | None = None
    tag: str | None = None
    error_code: str | None = None
    waits_for: str | None = None
    ended_at: datetime | None = None
    ended_because: str | None = None

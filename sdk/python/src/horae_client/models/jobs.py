"""Jobs: definitions, versions, schedules, what holds them back."""

from datetime import date, datetime
from typing import Any

import msgspec

from horae_client.models.base import Model
from horae_client.models.graphs import GraphStep


class ComingFire(Model, frozen=True, kw_only=True):
    """A coming fire; `skipped` is the reason if it will not happen."""

    fire_time: datetime
    due_at: datetime | None = None
    skipped: str | None = None


class Schedule(Model, frozen=True, kw_only=True):
    """How a schedule was understood, in two languages, and its next fires."""

    english: str | None = None
    chinese: str | None = None
    fires: list[ComingFire] = msgspec.field(default_factory=list)


class ExpectedFires(Model, frozen=True, kw_only=True):
    """The fire times of a job in a range; `next` is where the range goes on, None if these are all."""

    fires: list[datetime]
    next: datetime | None = None


class Hold(Model, frozen=True, kw_only=True):
    """Calls that are due and held back at a target, at a limit or by a measure, of all nodes together.

    `reason` is `measure`, `breaker`, `no_answer`, `retry_budget`, `target_cap`, `no_slot`, `concurrency` or `rate`.
    `next_try_at` is always in the future; it is None if calls wait for a free place, or while a probe is under way.
    """

    reason: str
    kind: str
    name: str
    lane: str
    since: datetime
    waiting: int
    next_try_at: datetime | None = None


class Override(Model, frozen=True, kw_only=True):
    """A coming fire that is skipped, or moved to another time."""

    at: datetime
    to: datetime | None = None


class RecentRun(Model, frozen=True, kw_only=True):
    """One of the newest ended runs of a job."""

    instance_id: str
    state: str
    fire_time: datetime
    ended_at: datetime
    duration_ms: int | None = None
    error_code: str | None = None


class ProblemJob(Model, frozen=True, kw_only=True):
    """A job with open dead letters or overdue instances. `is_failing`: its last run died."""

    job_id: str
    name: str
    status: str
    owner: str | None = None
    runbook: str | None = None
    is_failing: bool
    dead: int
    dead_last_hour: int
    last_dead_at: datetime | None = None
    overdue: int
    retries: int
    overdue_since: datetime | None = None
    recent_runs: list[RecentRun]


class Edge(Model, frozen=True, kw_only=True):
    """How many ended instances an edge has followed, up to when, and why it starts nothing, if so."""

    started: int
    followed_until: datetime | None = None
    error: str | None = None


class Job(Model, frozen=True, kw_only=True):
    """A job as it is now, with all defaults. `held` is None in lists and after changes.

    `steps` are those of a graph; None for other jobs, in lists, and after changes other than a create or an update.

    `after` is the job that it starts after. `edge` is how far that is; None for other jobs, in lists and after changes.

    `recent_runs` is None except in a list that was asked for them.

    `warnings` has a sentence for each address of the target that the egress rules refuse; it is empty in lists.

    `unreadable` is the code of a refusal: encrypted parts could not be decrypted, and are left out. With
    `SCH_503_RELEASE` a newer release wrote parts of the definition, which have default values here.
    """

    id: str
    name: str
    version: int
    status: str
    trigger: dict[str, Any]
    target: dict[str, Any]
    priority: str
    labels: dict[str, str]
    retry: dict[str, Any]
    policies: dict[str, Any]
    after_success: str
    expires_after: float | None = None
    key_retention_days: int | None = None
    description: str | None = None
    owner: str | None = None
    runbook: str | None = None
    contacts: list[str] = msgspec.field(default_factory=list)
    late_after: int | None = None
    fail_after: int | None = None
    payload: Any = None
    unreadable: str | None = None
    width: int | None = None
    limit: dict[str, Any] | None = None
    quotas: list[str] = msgspec.field(default_factory=list)
    overrides: list[Override] = msgspec.field(default_factory=list)
    next_fire_at: datetime | None = None
    changed_at: datetime | None = None
    steps: list[GraphStep] | None = None
    run_deadline: float | None = None
    after: dict[str, Any] | None = None
    edge: Edge | None = None
    schedule: Schedule | None = None
    held: list[Hold] | None = None
    warnings: list[str] = msgspec.field(default_factory=list)
    recent_runs: list[RecentRun] | None = None


class Version(Model, frozen=True, kw_only=True):
    """One version of a job."""

    version: int
    created_at: datetime
    created_by: str
    definition: dict[str, Any]
    unreadable: str | None = None


class JobDifference(Model, frozen=True, kw_only=True):
    """One difference between two versions of a job: the path of the field, its two values, and a line for people."""

    path: str
    text: str
    before: Any = None
    after: Any = None


class JobTestResult(Model, frozen=True, kw_only=True):
    """The test request that was sent, with secrets hidden, and what the target answered."""

    outcome: str
    detail: dict[str, Any]
    headers: dict[str, str]
    duration_ms: int
    status: int | None = None
    sent: str | None = None
    answer: str | None = None


class BulkItem(Model, frozen=True, kw_only=True):
    """The result of a bulk action for one job: its new instances, or the code and message of a refusal."""

    job_id: str
    name: str
    ok: bool
    instances: list[str] = msgspec.field(default_factory=list)
    code: str | None = None
    message: str | None = None


class BulkResult(Model, frozen=True, kw_only=True):
    """The results for one page of jobs; `next` is the `after` of the next request."""

    items: list[BulkItem]
    next: str | None = None


class Calendar(Model, frozen=True, kw_only=True):
    """A set of days; `moved` names the jobs whose next fire moved when the calendar was written."""

    name: str
    first: date
    last: date
    weekdays: list[int]
    added: list[date]
    removed: list[date]
    moved: list[str] = msgspec.field(default_factory=list)


class CalendarEffect(Model, frozen=True, kw_only=True):
    """What a changed calendar does to the coming fires of one job: those that it adds and removes up to `until`.

    `until` is None for a job that fires by no schedule.
    """

    job_id: str
    job: str
    owner: str | None = None
    status: str
    next_before: datetime | None = None
    next_after: datetime | None = None
    added: list[datetime] = msgspec.field(default_factory=list)
    removed: list[datetime] = msgspec.field(default_factory=list)
    until: datetime | None = None


class CalendarPreview(Model, frozen=True, kw_only=True):
    """The effect of a changed calendar on a page of its jobs; `next` is the `after` of the next request."""

    since: datetime
    until: datetime
    jobs: list[CalendarEffect]
    next: str | None = None


class Forecast(Model, frozen=True, kw_only=True):
    """Fires of the coming hours: in total, by minute, and in the busiest seconds.

    `jobs` is how many jobs were counted; `complete` is false if the tenant has more or busier jobs than can be counted.
    """

    since: datetime
    jobs: int = 0
    complete: bool = True
    total: int
    per_minute: list[int]
    worst: list[dict[str, Any]]


class HealthCause(Model, frozen=True, kw_only=True):
    """One thing that is wrong, as `TARGET_SILENT`: which cell or target (host and port) it concerns, and since when.

    `count` is how many calls wait for the target, or how many shards no node holds.
    """

    kind: str
    cell: str | None = None
    target: str | None = None
    since: datetime | None = None
    count: int | None = None


class DelayCause(Model, frozen=True, kw_only=True):
    """A likely cause of late fires, as `SLOW_TARGET`, with the figures that say so.

    `subject` is the cell, node, target or tenant that is the cause. `shards` are those with most waiting instances.
    """

    kind: str
    subject: str | None = None
    figures: dict[str, float]
    shards: list[int] = msgspec.field(default_factory=list)


class Measure(Model, frozen=True, kw_only=True):
    """A protective measure that is in force, for everybody (`scope` is `platform`) or for one tenant.

    It ends at `until` unless it is renewed. `value` is the signal of the last minute that was judged.
    """

    name: str
    scope: str
    since: datetime
    until: datetime
    actions: list[str]
    value: float
    overridden_by: str | None = None


class HealthIncident(Model, frozen=True, kw_only=True):
    """The open incident: since when, how bad it is, and what recovery does next."""

    id: str
    grade: str
    since: datetime
    step: str


class Health(Model, frozen=True, kw_only=True, rename="camel"):
    """The health of the scheduler: delays of the last 5 minutes, rates of the last 10, growth in the last counted one.

    `mode` is DEGRADED while there are `causes`, and NORMAL otherwise. Counts are complete up to `counted_until`; None:
    nothing was counted.
    """

    mode: str
    trigger_delay_p95_ms: int = msgspec.field(name="triggerDelayP95Ms")
    trigger_delay_limit_ms: int | None = None
    counted_until: datetime | None = None
    success_rate_10m: float = msgspec.field(name="successRate10m")
    retry_backlog: int
    dlq_growth_per_min: int
    backlog: int
    fires_10m: int = msgspec.field(name="fires10m")
    cells_down: list[str] = msgspec.field(default_factory=list)
    causes: list[HealthCause] = msgspec.field(default_factory=list)
    measures: list[Measure] = msgspec.field(default_factory=list)
    incident: HealthIncident | None = None
    delay_causes: list[DelayCause] = msgspec.field(default_factory=list)

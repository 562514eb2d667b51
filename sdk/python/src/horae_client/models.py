"""The answers of the API as typed values. Unknown fields of a newer server are ignored. Values are immutable."""

from datetime import date, datetime
from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T")


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A value in an answer."""


class Page(Model, Generic[T], frozen=True, kw_only=True):
    """A page of a list; `next` is the cursor of the next page.

    `cells_down` names the databases that could not be reached: their rows are missing from the page.
    """

    items: list[T]
    next: str | None = None
    cells_down: list[str] = []


class ComingFire(Model, frozen=True, kw_only=True):
    """A coming fire; `skipped` is the reason if it will not happen."""

    fire_time: datetime
    due_at: datetime | None = None
    skipped: str | None = None


class Schedule(Model, frozen=True, kw_only=True):
    """How a schedule was understood, in two languages, and its next fires."""

    english: str | None = None
    chinese: str | None = None
    fires: list[ComingFire] = []


class Hold(Model, frozen=True, kw_only=True):
    """Calls that are due and held back at a target or a limit, of all nodes together.

    `reason` is `breaker`, `retry_budget`, `target_cap`, `concurrency` or `rate`. `next_try_at` is always in the future;
    it is None if calls wait for a free place, or while a probe is under way.
    """

    reason: str
    kind: str
    name: str
    lane: str
    since: datetime
    waiting: int
    next_try_at: datetime | None = None


class Job(Model, frozen=True, kw_only=True):
    """A job as it is now, with all defaults. `held` is None in lists and after changes.

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
    payload: Any = None
    unreadable: str | None = None
    next_fire_at: datetime | None = None
    schedule: Schedule | None = None
    held: list[Hold] | None = None


class Version(Model, frozen=True, kw_only=True):
    """One version of a job."""

    version: int
    created_at: datetime
    created_by: str
    definition: dict[str, Any]


class Triggered(Model, frozen=True, kw_only=True):
    """The instance of a job that was triggered by hand."""

    instance_id: str
    job_id: str
    job: str


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
    attempts: list[Any] = []
    deadline: datetime | None = None
    held_ms: int = 0
    held: Hold | None = None
    expires_at: datetime | None = None


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


class Decision(Model, frozen=True, kw_only=True):
    """The decision about a key: `created`, `moved`, `replaced`, `ignored` or `cancelled`."""

    decision: str
    revision: int
    instance_id: str | None = None
    at: datetime | None = None
    reason: str | None = None
    replaced_id: str | None = None


class Problem(Model, frozen=True, kw_only=True):
    """Why one item of a batch was refused."""

    status: int
    detail: str
    code: str


class TaskAnswer(Model, frozen=True, kw_only=True):
    """The answer for one task of a batch: its decision, or its problem."""

    key: str
    answer: Decision | None = None
    problem: Problem | None = None


class TaskAnswers(Model, frozen=True, kw_only=True):
    """The answers for the tasks of a batch, in the order of the input."""

    items: list[TaskAnswer]


class LiveTask(Model, frozen=True, kw_only=True):
    """The live task of a key."""

    instance_id: str
    state: str
    at: datetime
    due_at: datetime
    attempt: int
    retry_count: int
    error: str | None = None
    payload: Any = None


class LedgerEntry(Model, frozen=True, kw_only=True):
    """One entry of a key's ledger: the decision, when (`on`) and by whom it was made, and the requested time `at`.

    `decision` is `created`, `moved`, `replaced`, `ignored` (with a `reason`), `cancelled` or `replayed`.
    """

    decision: str
    on: datetime
    by: str = ""
    at: datetime | None = None
    reason: str | None = None


class Task(Model, frozen=True, kw_only=True):
    """A business key: its live task, its ledger, and its last twenty decisions, oldest first."""

    type: str
    key: str
    generation: int
    revision: int
    instance_id: str
    version: int | None = None
    outcome: str | None = None
    live: LiveTask | None = None
    decisions: list[LedgerEntry] = []


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


class Calendar(Model, frozen=True, kw_only=True):
    """A set of days; `moved` names the jobs whose next fire moved when the calendar was written."""

    name: str
    first: date
    last: date
    weekdays: list[int]
    added: list[date]
    removed: list[date]
    moved: list[str] = []


class Round(Model, frozen=True, kw_only=True):
    """One pass over all keys of a source. `drift` is how many tasks differed from your list."""

    number: int
    dry: bool
    status: str
    began_at: datetime
    ended_at: datetime | None = None
    error: str | None = None
    drift: int
    counts: dict[str, int]


class Source(Model, frozen=True, kw_only=True):
    """The source of a type, and how its last round went."""

    id: str
    type: str
    revision: int
    spec: dict[str, Any]
    changed_at: datetime
    changed_by: str
    running: bool
    round: int = 0
    after: str | None = None
    next_at: datetime | None = None
    failures: int
    drift: int
    last: Round | None = None


class Repair(Model, frozen=True, kw_only=True):
    """A difference and what was done about it; `decision` is None for a dry round."""

    id: str
    at: datetime
    round: int
    key: str
    found: str
    decision: str | None = None
    ours: datetime | None = None
    theirs: datetime | None = None


class Taken(Model, frozen=True, kw_only=True):
    """The progress of a pushed round, and its counts so far."""

    number: int
    reached: str | None = None
    ended: bool
    drift: int
    counts: dict[str, int]


class Changed(Model, frozen=True, kw_only=True):
    """How many keys were named, and how many of them changed something."""

    named: int
    changed: int


class Subject(Model, frozen=True, kw_only=True):
    """A member of a rolling job's set, and its last refresh."""

    key: str
    added_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    last_success_at: datetime | None = None
    batch_no: str | None = None
    remark: str | None = None
    instance_id: str | None = None


class Coverage(Model, frozen=True, kw_only=True):
    """How many subjects are fresh, whether that is enough, and when it will be at the pace of the last minute."""

    at: datetime
    subjects: int
    fresh: int
    occupied: int
    share: float
    met: bool
    estimate_at: datetime | None = None
    ages: tuple[int, ...] = ()
    """Counts by last success: within a quarter, half, three quarters, all of the window, while fresh, before, never."""


class Health(Model, frozen=True, kw_only=True, rename="camel"):
    """The health of the scheduler: delays of the last 5 minutes, rates of the last 10, growth in the last counted one.

    `mode` is DEGRADED while the delay is above its limit or a cell does not answer. Counts are complete up to
    `counted_until`; None: nothing was counted.
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
    cells_down: list[str] = []


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


class Work(Model, frozen=True, kw_only=True, gc=False):
    """One attempt that a worker holds, until its deadline."""

    instance_id: str
    job: str
    attempt: int
    fire_time: datetime
    idempotency_key: str
    deadline: datetime
    token: str
    key: str | None = None
    payload: Any = None
    traceparent: str | None = None


class Works(Model, frozen=True, kw_only=True, gc=False):
    """The claimed attempts, and the server's time of the claim."""

    items: list[Work]
    now: datetime | None = None


class Heard(Model, frozen=True, kw_only=True):
    """Whether an attempt still belongs to the worker, and until when."""

    instance_id: str
    attempt: int
    yours: bool
    deadline: datetime | None = None


class HeardAll(Model, frozen=True, kw_only=True):
    """One answer for each attempt, in order."""

    items: list[Heard]
    now: datetime | None = None


class Reported(Model, frozen=True, kw_only=True, gc=False):
    """The verdict about a report: `done`, `late`, `not_now`, or `invalid` with the reason in `message`."""

    instance_id: str
    attempt: int
    verdict: str
    status: int
    message: str = ""


class ReportedAll(Model, frozen=True, kw_only=True, gc=False):
    """One answer for each report, in order."""

    items: list[Reported]

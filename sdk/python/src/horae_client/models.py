"""What the API answers, typed. Fields that a newer server adds are left aside; nothing here is ever changed."""

from datetime import date, datetime
from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T")


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A value out of an answer."""


class Page(Model, Generic[T], frozen=True, kw_only=True):
    """A page of a list; `next` is the cursor of the one after it.

    `cells_down` names the databases that could not be reached: what lies there is missing from the page.
    """

    items: list[T]
    next: str | None = None
    cells_down: list[str] = []


class ComingFire(Model, frozen=True, kw_only=True):
    """A coming fire; with a reason where it will not happen."""

    fire_time: datetime
    due_at: datetime | None = None
    skipped: str | None = None


class Schedule(Model, frozen=True, kw_only=True):
    """What was understood of a schedule, in two languages, and the coming fires."""

    english: str | None = None
    chinese: str | None = None
    fires: list[ComingFire] = []


class Hold(Model, frozen=True, kw_only=True):
    """Calls that are due and held back at a target or a limit, of all nodes together.

    `reason` is `breaker`, `retry_budget`, `target_cap`, `concurrency` or `rate`. `next_try_at` always lies ahead; it is
    None where calls wait for a place, or while a probe is under way.
    """

    reason: str
    kind: str
    name: str
    lane: str
    since: datetime
    waiting: int
    next_try_at: datetime | None = None


class Job(Model, frozen=True, kw_only=True):
    """A job as it is now, with all that was filled in. `held` is None in lists and after changes.

    `unreadable` is the code of a refusal: encrypted parts could not be decrypted, and are left out.
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
    """The instance that a run by hand became."""

    instance_id: str
    job_id: str
    job: str


class Instance(Model, frozen=True, kw_only=True):
    """One fire of a job. A SKIPPED one may stand for a range. A list leaves payload and attempts out."""

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
    """What to watch: the same instance, or the replay of a dead one."""

    instance_id: str


class Counts(Model, frozen=True, kw_only=True):
    """How many of a job's instances live in which state, and how those of a stretch of time ended."""

    live: dict[str, int]
    ended: dict[str, int]


class Backfill(Model, frozen=True, kw_only=True):
    """A backfill, and how far it is where that was asked for."""

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
    """What a new time meant for a key: `created`, `moved`, `replaced`, `ignored` or `cancelled`."""

    decision: str
    revision: int
    instance_id: str | None = None
    at: datetime | None = None
    reason: str | None = None
    replaced_id: str | None = None


class Problem(Model, frozen=True, kw_only=True):
    """Why one item of many was refused."""

    status: int
    detail: str
    code: str


class TaskAnswer(Model, frozen=True, kw_only=True):
    """One task of a batch: its decision, or its problem."""

    key: str
    answer: Decision | None = None
    problem: Problem | None = None


class TaskAnswers(Model, frozen=True, kw_only=True):
    """The tasks of a batch, each in its place."""

    items: list[TaskAnswer]


class LiveTask(Model, frozen=True, kw_only=True):
    """What may still happen of a key."""

    instance_id: str
    state: str
    at: datetime
    due_at: datetime
    attempt: int
    retry_count: int
    error: str | None = None
    payload: Any = None


class LedgerEntry(Model, frozen=True, kw_only=True):
    """One line of a key's ledger: what was decided `on` which time by whom, and the time `at` that was asked for.

    `decision` is `created`, `moved`, `replaced`, `ignored` (then there is a `reason`), `cancelled` or `replayed`.
    """

    decision: str
    on: datetime
    by: str = ""
    at: datetime | None = None
    reason: str | None = None


class Task(Model, frozen=True, kw_only=True):
    """A business key: what lives, what is remembered of it, and its last twenty decisions, oldest first."""

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
    """What was given up. `instance_id` died first; `replay_id` is its latest replay."""

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
    """How many letters were sent again, and how many could not be."""

    sent: int
    refused: int


class Calendar(Model, frozen=True, kw_only=True):
    """A set of days; `moved` names the jobs whose next fire moved when it was put."""

    name: str
    first: date
    last: date
    weekdays: list[int]
    added: list[date]
    removed: list[date]
    moved: list[str] = []


class Round(Model, frozen=True, kw_only=True):
    """One walk over all keys of a source. `drift` is how many tasks were not as your business has it."""

    number: int
    dry: bool
    status: str
    began_at: datetime
    ended_at: datetime | None = None
    error: str | None = None
    drift: int
    counts: dict[str, int]


class Source(Model, frozen=True, kw_only=True):
    """Where the tasks of a type are listed, and how its last round went."""

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
    """A difference and what was done about it; no decision: a dry round found it."""

    id: str
    at: datetime
    round: int
    key: str
    found: str
    decision: str | None = None
    ours: datetime | None = None
    theirs: datetime | None = None


class Taken(Model, frozen=True, kw_only=True):
    """How far a pushed round has come, and what it has seen so far."""

    number: int
    reached: str | None = None
    ended: bool
    drift: int
    counts: dict[str, int]


class Changed(Model, frozen=True, kw_only=True):
    """How many keys were named, and for how many of them that changed something."""

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
    """How many subjects are fresh, whether that is enough, and when it will be by the pace of the last minute."""

    at: datetime
    subjects: int
    fresh: int
    occupied: int
    share: float
    met: bool
    estimate_at: datetime | None = None
    ages: tuple[int, ...] = ()
    """How many succeeded last within a quarter, half, three quarters, all of the window, while fresh, before, never."""


class Health(Model, frozen=True, kw_only=True, rename="camel"):
    """How the scheduler does: delays of the last 5 minutes, rates of the last 10, growth of the last that was told.

    `mode` is DEGRADED while the delay is above its limit or a cell does not answer. All that was counted is in here up
    to `counted_until`; None: nothing was counted.
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
    """Fires of the coming hours: in all, in each minute, and the worst seconds.

    `jobs` are counted; `complete` is false where the tenant has more, or busier ones, than are counted at once.
    """

    since: datetime
    jobs: int = 0
    complete: bool = True
    total: int
    per_minute: list[int]
    worst: list[dict[str, Any]]


class Work(Model, frozen=True, kw_only=True, gc=False):
    """One attempt in a worker's hands, until its deadline."""

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
    """What was claimed, and the server's time when it was."""

    items: list[Work]
    now: datetime | None = None


class Heard(Model, frozen=True, kw_only=True):
    """Whether an attempt is still yours, and until when."""

    instance_id: str
    attempt: int
    yours: bool
    deadline: datetime | None = None


class HeardAll(Model, frozen=True, kw_only=True):
    """An answer for each, in order."""

    items: list[Heard]
    now: datetime | None = None


class Reported(Model, frozen=True, kw_only=True, gc=False):
    """What became of a report: `done`, `late`, `not_now`, or `invalid` with the reason in `message`."""

    instance_id: str
    attempt: int
    verdict: str
    status: int
    message: str = ""


class ReportedAll(Model, frozen=True, kw_only=True, gc=False):
    """An answer for each, in order."""

    items: list[Reported]

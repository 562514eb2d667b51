"""The scheduler as a whole: nodes, shards, service level, growth, readiness."""

from datetime import date, datetime
from typing import Any

import msgspec

from horae_client.models.base import Model


class Node(Model, frozen=True, kw_only=True):
    """A node in one cell. `shards` is how many shards it leases there."""

    id: str
    name: str
    cell: str
    alive: bool
    draining: bool
    shards: int
    started_at: datetime
    seen_seconds_ago: float
    expires_at: datetime


class NodeList(Model, frozen=True, kw_only=True):
    """The nodes of all cells. `cells_down` names the cells that do not answer."""

    nodes: list[Node]
    cells_down: list[str]


class Shard(Model, frozen=True, kw_only=True):
    """A shard: its cell, its state, its epoch, and the node that leases it."""

    shard: int
    cell: str
    state: str
    epoch: int
    alive: bool
    node: str | None = None
    node_id: str | None = None
    seen_seconds_ago: float | None = None


class ShardMove(Model, frozen=True, kw_only=True):
    """A move of a shard: from where, to where, what is to be done next, and for how long the shard was closed."""

    shard: int
    source: str
    target: str
    step: str
    requested_by: str
    requested_at: datetime
    changed_at: datetime
    rows_copied: int
    abort_requested: bool
    ended_at: datetime | None = None
    pause_ms: int | None = None
    error: str | None = None


class MeasureOverride(Model, frozen=True, kw_only=True):
    """The decision of a person about a measure, until a time: in force with all its actions, or not at all."""

    in_force: bool
    until: datetime
    actor: str
    reason: str


class MeasureState(Model, frozen=True, kw_only=True):
    """A measure of one tenant, or of the whole platform (`tenant` is None).

    `actions` is what it does now; empty: it is not in force. `value` is its signal in the last minute that was judged.
    `override` is the decision of a person that counts now; None: the signal decides.
    """

    name: str
    actions: list[str]
    value: float
    judged_until: datetime
    tenant: str | None = None
    tenant_name: str | None = None
    since: datetime | None = None
    override: MeasureOverride | None = None


class MeasureDecision(Model, frozen=True, kw_only=True):
    """Which cells know a decision about a measure. `cells_down` do not: decide again when they are back."""

    name: str
    cells: list[str]
    cells_down: list[str]
    tenant: str | None = None


class IncidentEntry(Model, frozen=True, kw_only=True):
    """One line of the timeline of an incident: a step that has ended (`part` is empty), or a part of one."""

    at: datetime
    cell: str
    step: str
    part: str
    facts: dict[str, Any]


class RecoverySummary(Model, frozen=True, kw_only=True):
    """What recovery did so far. `rto_s`, `rpo_s` and `findings` are None while they are not known."""

    shards_held: int
    subscriptions_replayed: int
    dead_letters_requeued: int
    dead_letters_refused: int
    findings: int | None = None
    rto_s: float | None = None
    rpo_s: float | None = None


class Incident(Model, frozen=True, kw_only=True):
    """An incident: what is to be done next, until when, and what that waits for."""

    id: str
    grade: str
    step: str
    reason: str
    started_by: str
    fault_at: datetime
    started_at: datetime
    changed_at: datetime
    stop_requested: bool
    deadline: datetime | None = None
    ended_at: datetime | None = None
    result: str | None = None
    error: str | None = None


class IncidentDetail(Incident, frozen=True, kw_only=True):
    """An incident with its timeline and what it adds up to."""

    timeline: list[IncidentEntry]
    summary: RecoverySummary


class Drill(Model, frozen=True, kw_only=True):
    """A drill that has ended, with its targets. `rto_s` is None if it was not reached, `rpo_s` if it is not known.

    `faults` say why it did not pass; they are empty if it passed. `report_sha256` is the digest of its `report.json`.
    """

    kind: str
    passed: bool
    environment: str
    deployment: str
    actor: str
    reason: str
    how: str
    began_at: datetime
    ended_at: datetime
    rto_target_s: float
    rpo_target_s: float
    late: int
    lost: int
    findings: int
    faults: list[str]
    report_sha256: str
    broken_at: datetime | None = None
    restored_at: datetime | None = None
    rto_s: float | None = None
    rpo_s: float | None = None


class Level(Model, frozen=True, kw_only=True):
    """Due times of the last 30 days, the error budget, and how fast it burns.

    `availability` is the part of them that was in time; None without due times. `budget_remaining` is the part of the
    error budget that is left; it is negative if overdrawn. `burn_rates` says by span of time how many times faster than
    allowed the budget burns; `burning` names the rules that this breaks: `fast`, `slow`, `steady`.
    """

    expected: int
    in_time: int
    late: int
    overdue: int
    budget_remaining: float
    burn_rates: dict[str, float]
    burning: list[str]
    availability: float | None = None


class CellLevel(Level, frozen=True, kw_only=True):
    """The service level of one priority in one cell."""

    cell: str
    priority: str


class ServiceLevel(Model, frozen=True, kw_only=True):
    """The service level: the objective, the total, and its parts by cell and priority."""

    objective: float
    in_time_seconds: float
    total: Level
    parts: list[CellLevel]
    cells_down: list[str]


class SecondLateness(Model, frozen=True, kw_only=True):
    """The fires due at one second of any minute: their number, and the 50th and 95th percentile of their delay."""

    second: int
    fires: int
    p50_ms: int
    p95_ms: int


class Lateness(Model, frozen=True, kw_only=True):
    """How late fires were, by the second of the minute at which they were due."""

    seconds: list[SecondLateness]
    cells_down: list[str]


class HealthPoint(Model, frozen=True, kw_only=True, rename="camel"):
    """One point of a series, from `at` on: counts, and the largest backlog. `failed` attempts are retried."""

    at: datetime
    trigger_delay_p95_ms: int = msgspec.field(name="triggerDelayP95Ms")
    fires: int
    success: int
    failed: int
    dead: int
    skipped: int
    retry_backlog: int
    backlog: int


class HealthSeries(Model, frozen=True, kw_only=True, rename="camel"):
    """The health of the last hours in points of equal length, oldest first."""

    step_seconds: int
    points: list[HealthPoint]
    cells_down: list[str] = msgspec.field(default_factory=list)


class HeldDays(Model, frozen=True, kw_only=True):
    """Days that are over their term and cannot be dropped, because something still needs them."""

    days: int
    oldest: date
    subscriptions: list[str]
    unrelayed: int


class TableSize(Model, frozen=True, kw_only=True):
    """A table whose rows change all the time. `bloated`: it has many dead rows, more than live ones."""

    name: str
    bytes: int
    live_rows: int
    dead_rows: int
    bloated: bool


class DaySize(Model, frozen=True, kw_only=True):
    """The bytes of one day of history, events and results, by UTC."""

    day: date
    bytes: int


class MeasuredCapacity(Model, frozen=True, kw_only=True):
    """What one cell and one node took in benchmarks, each with the report and its commit."""

    cell_fires_per_s: int
    cell_source: str
    node_fires_per_s: int
    node_source: str
    cell_jobs: int
    jobs_source: str
    max_load_share: float


class CellGrowth(Model, frozen=True, kw_only=True):
    """How a cell grows, by the last measurement of a node. `days_until_full` is None if unknown or over a year."""

    cell: str
    measured_at: datetime
    database_bytes: int
    kept_days: int
    days_ahead: int
    tables: list[TableSize]
    disk_bytes: int | None = None
    bytes_per_day: int | None = None
    days_until_full: int | None = None
    oldest_day: date | None = None
    days: tuple[DaySize, ...] = ()
    held: HeldDays | None = None


class Growth(Model, frozen=True, kw_only=True):
    """The growth of all cells. `unmeasured` names cells that no node has measured yet."""

    cells: list[CellGrowth]
    unmeasured: list[str]
    cells_down: list[str]
    measured: MeasuredCapacity | None = None


class RetentionTerms(Model, frozen=True, kw_only=True):
    """How many days the nodes keep what, by their settings. `archive` is None without an archive."""

    history: int
    held: int
    logs: int
    dead_letters: int
    ended_jobs: int
    audit: int
    archive: int | None = None


class ArchiveLag(Model, frozen=True, kw_only=True):
    """Days that have ended and are not archived: why the oldest one waits, and what the archive failed with."""

    days: int
    oldest: date
    reason: str
    subscriptions: list[str]
    failure: str


class RetentionDay(Model, frozen=True, kw_only=True):
    """A day of a cell, and where its history is: `OPEN`, `HOT`, `WAITING`, `BOTH`, `ARCHIVED` or `DELETING`."""

    day: date
    place: str
    bytes: int | None = None
    archived_rows: int | None = None
    archived_bytes: int | None = None
    archived_at: datetime | None = None
    dropped_at: datetime | None = None


class DroppedDays(Model, frozen=True, kw_only=True):
    """The table of which days were dropped, and the first day that is kept."""

    table: str
    kept_since: date
    dropped_at: datetime


class CellRetention(Model, frozen=True, kw_only=True):
    """The days of a cell, and how far its archive is behind."""

    cell: str
    days: list[RetentionDay]
    dropped: list[DroppedDays]
    measured_at: datetime | None = None
    lag: ArchiveLag | None = None


class Retention(Model, frozen=True, kw_only=True):
    """How long things are kept, and since when there are rows. `cells` is empty but for the tenant `system`."""

    cells: list[CellRetention]
    cells_down: list[str]
    terms: RetentionTerms | None = None
    hot_since: date | None = None
    archived_since: date | None = None


class CellReadiness(Model, frozen=True, kw_only=True):
    """Whether one API process reaches one cell, and how old its reading of the cell's clock is."""

    name: str
    reachable: bool
    clock_trusted: bool
    shards: int
    clock_age_seconds: float | None = None


class Readiness(Model, frozen=True, kw_only=True):
    """Whether one API process can serve requests. `degraded`: not all cells answer."""

    ready: bool
    degraded: bool
    cells: list[CellReadiness]

"""Models of health, nodes, shards and test requests."""

from datetime import date, datetime
from typing import Any, Literal, Self

import msgspec
from pydantic import Field

from horae.api.models.base import Payload, RequestModel, ResponseModel
from horae.domain.capacity.figures import CALLS, MEMORY, STORE
from horae.domain.capacity.plan import MAX_LOAD_SHARE
from horae.domain.health.causes import CauseKind
from horae.domain.health.delay_causes import DelayCauseKind
from horae.domain.health.growth import Growth
from horae.domain.health.signals import HealthMode, SignalSpan, percentile_ms
from horae.domain.ids import Prefix, public
from horae.domain.incidents.incidents import IncidentGrade, RecoveryStep
from horae.domain.instances.outcomes import WORDS
from horae.domain.measures.measures import MeasureAction, MeasureName
from horae.service.health.health import P95, CellNodes, CellShards, NodeRow, Series, ShardRow
from horae.service.health.lateness import Lateness
from horae.service.targets.targets import TrialResult


class DelayCauseView(ResponseModel):
    """A likely cause of late fires, with the figures that say so."""

    kind: DelayCauseKind
    subject: str | None = Field(None, description="The cell, node, target or tenant that is the cause.")
    figures: dict[str, float]
    shards: list[int] = Field([], description="The shards with most waiting instances.")


class HealthCauseView(ResponseModel):
    """One thing that is wrong."""

    kind: CauseKind
    cell: str | None = None
    target: str | None = Field(None, description="The host of the target, with its port.")
    since: datetime | None = None
    count: int | None = Field(None, description="Calls that wait for the target, or shards that no node holds.")


class MeasureView(ResponseModel):
    """A protective measure that is in force."""

    name: MeasureName
    scope: Literal["platform", "tenant"] = Field(description="Whom it concerns: everybody, or the tenant alone.")
    since: datetime
    until: datetime = Field(description="When it ends at the latest, unless it is judged again.")
    actions: list[MeasureAction]
    value: float = Field(description="The signal in the last minute that was judged.")
    overridden_by: str | None = Field(None, description="The person who brought it into force.")


class HealthIncidentView(ResponseModel):
    """The open incident: since when, how bad it is, and what recovery does next."""

    id: str
    grade: IncidentGrade
    since: datetime
    step: RecoveryStep


class HealthView(ResponseModel):
    """The health of the scheduler: delays of the last 5 minutes, rates of the last 10, growth of the last minute."""

    mode: HealthMode = Field(description="DEGRADED while there is a cause, and NORMAL otherwise.")
    triggerDelayP95Ms: int  # noqa: N815 - the seed's own words
    triggerDelayLimitMs: int = Field(description="The p95 delay above which the mode is DEGRADED.")  # noqa: N815
    successRate10m: float  # noqa: N815
    retryBacklog: int  # noqa: N815
    dlqGrowthPerMin: int  # noqa: N815
    backlog: int
    fires10m: int
    cellsDown: list[str] = []  # noqa: N815
    countedUntil: datetime | None = Field(  # noqa: N815
        None,
        description="The figures are complete up to this minute; processes write their counts once a minute. "
        "Null: no counts in the last ten minutes.",
    )
    causes: list[HealthCauseView] = Field(
        [], description="What is wrong, with what explains the rest first: cells, then targets, then figures."
    )
    measures: list[MeasureView] = Field([], description="The protective measures that are in force.")
    incident: HealthIncidentView | None = Field(None, description="The open incident. Null: there is none.")
    delayCauses: list[DelayCauseView] = Field(  # noqa: N815
        [], description="Why fires start late, as far as figures show it; only for the tenant `system`."
    )


class HealthPointView(ResponseModel):
    """One point of the series: the counts of its minutes, and the largest backlog in them."""

    at: datetime = Field(description="The time when the point begins.")
    triggerDelayP95Ms: int  # noqa: N815
    fires: int
    success: int
    failed: int = Field(description="The number of attempts that failed and are retried.")
    dead: int
    skipped: int
    retryBacklog: int  # noqa: N815
    backlog: int

    @classmethod
    def of(cls, one: SignalSpan) -> "HealthPointView":
        """Returns the view of a time span."""
        counted = one.counted
        return cls(
            at=one.at,
            triggerDelayP95Ms=percentile_ms(counted.delays, P95),
            fires=counted.fires,
            success=counted.success,
            failed=counted.failed,
            dead=counted.dead,
            skipped=counted.skipped,
            retryBacklog=one.retry_backlog,
            backlog=one.backlog,
        )


class HealthSeriesView(ResponseModel):
    """The health of the last hours in points of equal length, oldest first."""

    stepSeconds: int  # noqa: N815
    points: list[HealthPointView]
    cellsDown: list[str] = []  # noqa: N815

    @classmethod
    def of(cls, series: Series) -> "HealthSeriesView":
        """Returns the view of a series."""
        return cls(
            stepSeconds=int(series.step.total_seconds()),
            points=[HealthPointView.of(one) for one in series.spans],
            cellsDown=series.cells_down,
        )


class NodeView(ResponseModel):
    """A node in one cell, with the number of shards that it leases there."""

    id: str
    name: str
    cell: str
    alive: bool
    draining: bool
    shards: int
    started_at: datetime
    seen_seconds_ago: float
    expires_at: datetime

    @classmethod
    def of(cls, cell: CellNodes, node: NodeRow) -> "NodeView":
        """Returns the view of a node."""
        return cls(
            id=public(Prefix.NODE, node.incarnation),
            name=node.name,
            cell=cell.cell,
            alive=node.alive,
            draining=node.draining,
            shards=node.shards,
            started_at=node.started_at,
            seen_seconds_ago=round(max(0.0, (cell.now - node.seen_at).total_seconds()), 3),
            expires_at=node.expires_at,
        )


class NodesView(ResponseModel):
    """All nodes of all cells. `cells_down` names the cells that do not answer."""

    nodes: list[NodeView]
    cells_down: list[str]


class TableSizeView(ResponseModel):
    """A table whose rows change all the time. PostgreSQL counts its rows; dead rows wait for vacuum."""

    name: str
    bytes: int
    live_rows: int
    dead_rows: int
    bloated: bool = Field(description="Whether it has more dead rows than live ones, and many.")


class HeldDaysView(ResponseModel):
    """Days that are over their term and not dropped, because something still needs them."""

    days: int
    oldest: date
    subscriptions: list[str] = Field(description="Subscriptions that have not been sent all of these days.")
    unrelayed: int = Field(description="Compensations of these days that were not relayed.")


class DaySizeView(ResponseModel):
    """The bytes of one day of history, events and results, by UTC."""

    day: date
    bytes: int


class CellGrowthView(ResponseModel):
    """How a cell grows, by the last measurement of a node. Sizes include indexes; WAL is not counted."""

    cell: str
    measured_at: datetime
    database_bytes: int
    disk_bytes: int | None = Field(description="The space of the cell, if the deployment says it.")
    bytes_per_day: int | None = Field(description="The mean of the last full days, up to seven.")
    days_until_full: int | None = Field(description="Days until the disk is full; null if unknown or over a year.")
    kept_days: int = Field(description="Days for which history and events are kept.")
    oldest_day: date | None
    days_ahead: int = Field(description="Days from today on that have a partition.")
    held: HeldDaysView | None = Field(description="What holds days back.")
    tables: list[TableSizeView]
    days: list[DaySizeView] = Field([], description="The days that are in PostgreSQL, the oldest first.")

    @classmethod
    def of(cls, cell: str, growth: Growth) -> Self:
        """Returns the view of a measurement."""
        held = growth.held
        return cls(
            cell=cell,
            measured_at=growth.measured_at,
            database_bytes=growth.database_bytes,
            disk_bytes=growth.disk_bytes,
            bytes_per_day=growth.bytes_per_day,
            days_until_full=growth.days_until_full,
            kept_days=growth.kept_days,
            oldest_day=growth.oldest_day,
            days_ahead=growth.days_ahead,
            held=None if held is None else HeldDaysView(**msgspec.structs.asdict(held)),
            tables=[TableSizeView(**msgspec.structs.asdict(one), bloated=one.bloated) for one in growth.tables],
            days=[DaySizeView(day=one.day, bytes=one.bytes) for one in sorted(growth.days, key=lambda one: one.day)],
        )


class MeasuredCapacityView(ResponseModel):
    """What one cell and one node took in benchmarks on other machines, each with the report and its commit."""

    cell_fires_per_s: int = Field(description="Of one PostgreSQL on two cores, without nodes.")
    cell_source: str
    node_fires_per_s: int = Field(description="Of one node process on a core of its own, by its CPU time a fire.")
    node_source: str
    cell_jobs: int
    jobs_source: str
    max_load_share: float = Field(description="The share of it that a plan uses at most.")

    @classmethod
    def of_reports(cls) -> Self:
        """Returns the figures of the reports that this release was measured with."""
        return cls(
            cell_fires_per_s=STORE.fires_per_s,
            cell_source=STORE.source,
            node_fires_per_s=round(1000 / CALLS.node_cpu_ms),
            node_source=CALLS.source,
            cell_jobs=MEMORY.jobs,
            jobs_source=MEMORY.source,
            max_load_share=MAX_LOAD_SHARE,
        )


class GrowthView(ResponseModel):
    """The growth of all cells. `unmeasured` names cells that no node has measured yet."""

    cells: list[CellGrowthView]
    unmeasured: list[str]
    cells_down: list[str]
    measured: MeasuredCapacityView


class ShardView(ResponseModel):
    """A shard: its cell, state, epoch, and the node that leases it."""

    shard: int
    cell: str
    state: str
    epoch: int
    node: str | None = None
    node_id: str | None = None
    alive: bool
    seen_seconds_ago: float | None = None

    @classmethod
    def of(cls, cell: CellShards, row: ShardRow) -> "ShardView":
        """Returns the view of a shard."""
        seen = None if row.seen_at is None else round(max(0.0, (cell.now - row.seen_at).total_seconds()), 3)
        return cls(
            shard=row.shard,
            cell=cell.cell,
            state=row.state,
            epoch=row.epoch,
            node=row.node,
            node_id=None if row.owner is None else public(Prefix.NODE, row.owner),
            alive=row.alive,
            seen_seconds_ago=seen,
        )


class SecondLatenessView(ResponseModel):
    """The fires that were due at one second of any minute: their number, and percentiles of their delay."""

    second: int
    fires: int
    p50_ms: int
    p95_ms: int


class LatenessView(ResponseModel):
    """The lateness of fires, by the second of the minute. Cells that do not answer are named and left out."""

    seconds: list[SecondLatenessView]
    cells_down: list[str]

    @classmethod
    def of(cls, found: Lateness) -> "LatenessView":
        """Returns the view of a lateness."""
        seconds = [SecondLatenessView(**one._asdict()) for one in found.seconds]
        return cls(seconds=seconds, cells_down=found.cells_down)


class JobTestRequest(RequestModel):
    """A test request to the target of a job. `payload` replaces the payload of the job for this test only."""

    payload: Payload = None


class JobTestResult(ResponseModel):
    """The test request that was sent, with secrets hidden, and the response of the target."""

    outcome: str
    detail: dict[str, Any]
    status: int | None = None
    headers: dict[str, str]
    sent: str | None = None
    answer: str | None = None
    duration_ms: int

    @classmethod
    def of(cls, tried: TrialResult) -> "JobTestResult":
        """Returns the view of a test request."""
        return cls(
            outcome=WORDS[type(tried.outcome)],
            detail=msgspec.to_builtins(tried.outcome),
            status=tried.status,
            headers=tried.headers,
            sent=tried.sent,
            answer=tried.answer,
            duration_ms=tried.duration_ms,
        )

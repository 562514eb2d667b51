"""Health, nodes, shards, calendars, forecasts and test requests as they are shown."""

from datetime import date, datetime
from typing import Annotated, Any, Final

import msgspec
from pydantic import ConfigDict, Field

from horae.api.models.base import Day, Payload, Shown, Told
from horae.domain.calendars import Calendar
from horae.domain.ids import Prefix, public
from horae.domain.signals import Mode, Stretch, percentile_ms
from horae.service.forecasts import Foreseen
from horae.service.health import P95, CellNodes, CellShards, NodeRow, Series, ShardRow
from horae.service.targets import Tried

Days = Annotated[list[Day], Field(max_length=5000)]
NAMED: Final = 10
"""How many of the jobs behind a second are named: enough to know where to look."""


class HealthView(Shown):
    """How the scheduler does: delays of the last 5 minutes, rates of the last 10, growth of the last that was told."""

    mode: Mode = Field(description="DEGRADED while the delay is above its limit, or while a cell does not answer.")
    triggerDelayP95Ms: int  # noqa: N815 - the seed's own words
    triggerDelayLimitMs: int = Field(description="Above which p95 it is DEGRADED.")  # noqa: N815
    successRate10m: float  # noqa: N815
    retryBacklog: int  # noqa: N815
    dlqGrowthPerMin: int  # noqa: N815
    backlog: int
    fires10m: int
    cellsDown: list[str] = []  # noqa: N815
    countedUntil: datetime | None = Field(  # noqa: N815
        None,
        description="Processes write what they counted once a minute; all of it is in here up to this minute. "
        "Null: nothing was written in the last ten.",
    )


class PointView(Shown):
    """Some minutes together: what was counted in them, and the most that waited at once."""

    at: datetime = Field(description="When it begins.")
    triggerDelayP95Ms: int  # noqa: N815
    fires: int
    success: int
    failed: int = Field(description="Attempts that failed and are tried again.")
    dead: int
    skipped: int
    retryBacklog: int  # noqa: N815
    backlog: int

    @classmethod
    def of(cls, one: Stretch) -> "PointView":
        """A stretch of time as it is shown."""
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


class SeriesView(Shown):
    """The last hours in stretches of equal length, oldest first."""

    stepSeconds: int  # noqa: N815
    points: list[PointView]
    cellsDown: list[str] = []  # noqa: N815

    @classmethod
    def of(cls, told: Series) -> "SeriesView":
        """A series as it is shown."""
        return cls(
            stepSeconds=int(told.step.total_seconds()),
            points=[PointView.of(one) for one in told.stretches],
            cellsDown=told.cells_down,
        )


class NodeView(Shown):
    """A node in one cell, by what it holds there; ages in seconds."""

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
        """A node as it is shown."""
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


class NodesView(Shown):
    """Every node in every cell; cells that do not answer are named."""

    nodes: list[NodeView]
    cells_down: list[str]


class ShardView(Shown):
    """A shard: where, in which state and epoch, and who leases it."""

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
        """A shard as it is shown."""
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


class NewCalendar(Told):
    """A set of days, known from first to last: some weekdays (1 is Monday), plus single days, minus single days."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"first": "2026-01-01", "last": "2026-12-31", "weekdays": [1, 2, 3, 4, 5], "removed": ["2026-10-01"]}
            ]
        }
    )

    first: Day
    last: Day
    weekdays: Annotated[list[Annotated[int, Field(strict=True, ge=1, le=7)]], Field(max_length=7)] = []
    added: Days = []
    removed: Days = []

    def to_domain(self, name: str) -> Calendar:
        """In the words of the domain."""
        return Calendar(
            name=name,
            first=self.first,
            last=self.last,
            weekdays=frozenset(self.weekdays),
            added=frozenset(self.added),
            removed=frozenset(self.removed),
        )


class CalendarView(Shown):
    """A calendar."""

    name: str
    first: date
    last: date
    weekdays: list[int]
    added: list[date]
    removed: list[date]

    @classmethod
    def of(cls, one: Calendar) -> "CalendarView":
        """A calendar as it is shown, its days in order."""
        return cls(
            name=one.name,
            first=one.first,
            last=one.last,
            weekdays=sorted(one.weekdays),
            added=sorted(one.added),
            removed=sorted(one.removed),
        )


class CalendarPut(CalendarView):
    """A calendar as it was put, and the jobs whose next fire moved."""

    moved: list[str]


class WorstSecond(Shown):
    """A second with many fires, and the first of the jobs behind them, by name."""

    at: datetime
    fires: int
    jobs: list[str] = []


class ForecastView(Shown):
    """Fires of the coming hours: in all, in each minute, and the worst seconds.

    `jobs` are counted. `complete` is false where the tenant has more, or busier ones, than are counted at once.
    """

    since: datetime
    jobs: int
    complete: bool
    total: int
    per_minute: list[int]
    worst: list[WorstSecond]

    @classmethod
    def of(cls, made: Foreseen) -> "ForecastView":
        """A forecast as it is shown."""
        one = made.forecast
        worst = [WorstSecond(at=at, fires=fires, jobs=jobs[:NAMED]) for at, fires, jobs in made.worst]
        return cls(
            since=one.since,
            jobs=made.jobs,
            complete=made.complete,
            total=one.total,
            per_minute=one.per_minute,
            worst=worst,
        )


class NewTrial(Told):
    """A test request. Its payload counts for it alone; the job's own where it is left out."""

    payload: Payload = None


class TrialView(Shown):
    """What was sent, its secrets hidden, and what came back."""

    outcome: str
    detail: dict[str, Any]
    status: int | None = None
    headers: dict[str, str]
    sent: str | None = None
    answer: str | None = None
    duration_ms: int

    @classmethod
    def of(cls, tried: Tried) -> "TrialView":
        """A test request as it is shown."""
        return cls(
            outcome=type(tried.outcome).__name__.lower(),
            detail=msgspec.to_builtins(tried.outcome),
            status=tried.status,
            headers=tried.headers,
            sent=tried.sent,
            answer=tried.answer,
            duration_ms=tried.duration_ms,
        )

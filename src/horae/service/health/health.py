"""Health from the signals of the last minutes, and which node leases which shards."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.errors import Unavailable
from horae.domain.health.causes import (
    HealthCause,
    HealthFigures,
    budget_causes,
    cell_causes,
    figure_causes,
    in_order,
    mode_of,
    target_causes,
)
from horae.domain.health.delay_causes import DelayCause, newest_late_minute
from horae.domain.health.growth import Growth
from horae.domain.health.service_level import DEFAULT_OBJECTIVE_SHARE
from horae.domain.health.signals import (
    DEGRADED_DELAY_MS,
    HealthMode,
    Signal,
    SignalSpan,
    add_signals,
    percentile_ms,
    signal_spans,
)
from horae.domain.ids import Prefix, public
from horae.domain.incidents.incidents import Incident, IncidentGrade, RecoveryStep
from horae.domain.limits.holds import Hold
from horae.domain.measures.measures import PLATFORM_SCOPE, MeasureAction, MeasureName
from horae.service.context import CallerContext
from horae.service.health.delay_causes import explain_delays
from horae.store.connections.each_cell import ask_by_statement, ask_each
from horae.store.health import growth, service_level, signals
from horae.store.health.signals import BacklogCount
from horae.store.incidents import incidents
from horae.store.limits import holds
from horae.store.nodes import leases, shards
from horae.store.nodes.leases import NodeRow
from horae.store.nodes.shards import ShardRow
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.row_level_security import PLATFORM, restrict
from horae.store.tx import Tx

__all__ = [
    "CellGrowth",
    "CellNodes",
    "CellShards",
    "Health",
    "NodeRow",
    "Series",
    "ShardRow",
    "growth_of",
    "health",
    "nodes",
    "series",
    "shards_of",
]
DELAYS_SPAN: Final = timedelta(minutes=5)
"""The span of time for trigger delays."""
SUCCESS_RATE_SPAN: Final = timedelta(minutes=10)
"""The span of time for success rate and number of fires."""
MAX_SIGNALS_AGE: Final = timedelta(minutes=3)
"""The age up to which a minute of signals counts as current."""
MINUTE: Final = timedelta(minutes=1)
P95: Final = 0.95
WORDS: Final = {
    "trigger_delay_p95_ms": "triggerDelayP95Ms",
    "trigger_delay_limit_ms": "triggerDelayLimitMs",
    "counted_until": "countedUntil",
    "success_rate_10m": "successRate10m",
    "retry_backlog": "retryBacklog",
    "dlq_growth_per_min": "dlqGrowthPerMin",
    "fires_10m": "fires10m",
    "cells_down": "cellsDown",
    "delay_causes": "delayCauses",
}


class HealthMeasure(msgspec.Struct, frozen=True):
    """A protective measure that is in force: for everybody, or for one tenant. It ends at `until` unless renewed."""

    name: MeasureName
    scope: str
    since: datetime
    until: datetime
    actions: tuple[MeasureAction, ...]
    value: float
    overridden_by: str | None = None


class HealthIncident(msgspec.Struct, frozen=True):
    """The open incident: since when, how bad it is, and what recovery does next."""

    id: str
    grade: IncidentGrade
    since: datetime
    step: RecoveryStep


class Health(msgspec.Struct, frozen=True, rename=WORDS):
    """Health of the scheduler: delays of the last 5 minutes, rates of the last 10, growth of the newest minute.

    It is DEGRADED while it has causes, and NORMAL otherwise. Processes write their counts once a minute: the counts up
    to `counted_until` are included, and None means that there are none.
    """

    mode: HealthMode
    trigger_delay_p95_ms: int
    trigger_delay_limit_ms: int
    success_rate_10m: float
    retry_backlog: int
    dlq_growth_per_min: int
    backlog: int
    fires_10m: int
    cells_down: tuple[str, ...] = ()
    counted_until: datetime | None = None
    causes: tuple[HealthCause, ...] = ()
    measures: tuple[HealthMeasure, ...] = ()
    incident: HealthIncident | None = None
    delay_causes: tuple[DelayCause, ...] = ()


class CellHealth(NamedTuple):
    """The signals of one cell, its holds at targets, and how many of its shards nobody holds."""

    now: datetime
    counted: list[tuple[datetime, Signal]]
    waiting: BacklogCount
    holds: list[Hold]
    unheld: int
    burns: bool
    incidents: list[Incident]

    @property
    def newest(self) -> list[Signal]:
        """The signals of the newest minute, unless it is older than `MAX_SIGNALS_AGE`."""
        last = max((minute for minute, _ in self.counted if minute > self.now - MAX_SIGNALS_AGE), default=None)
        return [signal for minute, signal in self.counted if minute == last]


class Series(NamedTuple):
    """The last hours in spans of equal length. Cells that are down are named and left out."""

    step: timedelta
    spans: list[SignalSpan]
    cells_down: list[str]


class CellNodes(NamedTuple):
    """The nodes of one cell at its time; None when the cell does not answer."""

    cell: str
    now: datetime
    nodes: list[NodeRow] | None


class CellGrowth(NamedTuple):
    """How one cell grows; None before the first measurement, and when the cell does not answer."""

    cell: str
    answers: bool
    growth: Growth | None


class CellShards(NamedTuple):
    """Some shards of one cell at its time."""

    cell: str
    now: datetime
    shards: list[ShardRow]


async def health(
    ctx: CallerContext, tenant_id: UUID | None = None, objective: float = DEFAULT_OBJECTIVE_SHARE
) -> Health:
    """Returns the health of everything, or of one tenant, with its causes. A cell that is down is one of them."""

    async def look(tx: Tx) -> CellHealth:
        return CellHealth(
            tx.now,
            await signals.since(tx, tx.now - SUCCESS_RATE_SPAN - MINUTE, tenant_id),
            await signals.backlog(tx, tx.now - MAX_SIGNALS_AGE, tenant_id),
            await holds.at_targets(tx, tenant_id),
            await shards.unheld(tx),
            any(level.burning for level in (await service_level.read(tx, tenant_id, objective)).values()),
            await incidents.unfinished(tx),
        )

    cells = (restrict(ctx.store, PLATFORM) if tenant_id is None else ctx.store).cells
    seen = await ask_each(cells, partial(ask_by_statement, look))
    answers, down = list(seen.found.values()), tuple(seen.down)
    if not answers:
        raise Unavailable("no cell answers now; nothing is known of the scheduler's health")
    newest = [counted for one in answers for counted in one.counted if counted[0] > one.now - DELAYS_SPAN - MINUTE]
    recent = add_signals([signal for _, signal in newest])
    long = add_signals([signal for one in answers for _, signal in one.counted])
    grown = add_signals([signal for one in answers for signal in one.newest])
    figures = HealthFigures(
        trigger_delay_p95_ms=percentile_ms(recent.delays, P95),
        success_rate=round(long.success_rate, 5),
        retry_backlog=sum(one.waiting.retry_backlog for one in answers),
        dead_letters_per_min=grown.dead,
    )
    causes = in_order(
        [
            *cell_causes(down, {cell.name: one.unheld for cell, one in seen.found.items()}),
            *target_causes(hold for one in answers for hold in one.holds),
            *figure_causes(figures),
            *budget_causes(cell.name for cell, one in seen.found.items() if one.burns),
        ]
    )
    counted_until = max((minute for one in answers for minute, _ in one.counted), default=None)
    explained: list[DelayCause] = []
    late_minute = newest_late_minute(newest, DEGRADED_DELAY_MS)
    if tenant_id is None and late_minute is not None and figures.trigger_delay_p95_ms > DEGRADED_DELAY_MS:
        explained = await explain_delays(cells, late_minute, DEGRADED_DELAY_MS)
    return Health(
        mode=mode_of(causes),
        trigger_delay_p95_ms=figures.trigger_delay_p95_ms,
        trigger_delay_limit_ms=DEGRADED_DELAY_MS,
        success_rate_10m=figures.success_rate,
        retry_backlog=figures.retry_backlog,
        dlq_growth_per_min=figures.dead_letters_per_min,
        backlog=sum(one.waiting.backlog for one in answers),
        fires_10m=long.fires,
        cells_down=down,
        counted_until=counted_until,
        causes=causes,
        measures=_measures(ctx.store, tenant_id),
        incident=_incident(one for answer in answers for one in answer.incidents),
        delay_causes=tuple(explained),
    )


def _incident(found: Iterable[Incident]) -> HealthIncident | None:
    """Returns the open incident; None if there is none."""
    one = min(found, key=lambda one: one.started_at, default=None)
    return None if one is None else HealthIncident(public(Prefix.INCIDENT, one.id), one.grade, one.started_at, one.step)


def _measures(store: StoreProtocol, tenant_id: UUID | None) -> tuple[HealthMeasure, ...]:
    """Returns the measures in force that this process knows of: all, or those that concern one tenant."""
    now, found = store.clock.now(), store.cells[0].measures.in_force.measures
    return tuple(
        HealthMeasure(
            state.name,
            "platform" if state.tenant_id == PLATFORM_SCOPE else "tenant",
            state.since or state.judged_until,
            state.until_at(now),
            tuple(sorted(actions)),
            state.value,
            None if (override := state.override_at(now)) is None else override.actor,
        )
        for state, actions in found
        if tenant_id is None or state.tenant_id in (PLATFORM_SCOPE, tenant_id)
    )


async def series(ctx: CallerContext, tenant_id: UUID | None = None, *, hours: int, points: int) -> Series:
    """Returns the counts of the last hours, of everything or of one tenant. A span is a whole number of minutes."""
    step = timedelta(minutes=max(1, -(-hours * 60 // points)))
    cells = (restrict(ctx.store, PLATFORM) if tenant_id is None else ctx.store).cells
    last = max(cell.clock.now() for cell in cells if cell.clock.was_read).replace(second=0, microsecond=0)
    many = -(-timedelta(hours=hours) // step)
    since = last + MINUTE - step * many

    async def look(tx: Tx) -> signals.Minutes:
        if tenant_id is None:
            return await signals.minutes(tx, since, last)
        return await signals.minutes_of(tx, since, last, tenant_id)

    seen = await ask_each(cells, partial(ask_by_statement, look))
    if not seen.found:
        raise Unavailable("no cell answers now; nothing is known of the last hours")
    counted = [one for answers in seen.found.values() for one in answers]
    return Series(step, signal_spans(counted, since, step, many), seen.down)


async def nodes(ctx: CallerContext) -> list[CellNodes]:
    """Returns every node of every cell, with the number of shards that it leases."""
    store = ctx.store
    found = (await ask_each(store.cells, partial(ask_by_statement, leases.nodes))).found
    return [CellNodes(cell.name, _now(store, cell), found.get(cell)) for cell in store.cells]


async def growth_of(ctx: CallerContext) -> list[CellGrowth]:
    """Returns how each cell grows, by the last measurement of a node."""
    found = (await ask_each(ctx.store.cells, partial(ask_by_statement, growth.read))).found
    return [CellGrowth(cell.name, cell in found, found.get(cell)) for cell in ctx.store.cells]


async def shards_of(ctx: CallerContext, *, after: int = -1, limit: int = 500) -> list[CellShards]:
    """Returns the next shards `after` a number with their leases, `limit` of all cells that answer together."""

    async def look(tx: Tx) -> list[ShardRow]:
        return await shards.listing(tx, after, limit)

    found, down = await ask_each(ctx.store.cells, partial(ask_by_statement, look))
    if not found:
        raise Unavailable("no cell answers now; nothing is known of its shards")
    ctx.cells_down.update(down)
    kept = set(sorted(row.shard for rows in found.values() for row in rows)[:limit])
    return [
        CellShards(cell.name, cell.clock.now(), [row for row in rows if row.shard in kept])
        for cell, rows in found.items()
    ]


def _now(store: StoreProtocol, cell: CellProtocol) -> datetime:
    """Returns the time of a cell. If the cell never answered, returns that of another cell, which is close."""
    return (cell.clock if cell.clock.was_read else store.clock).now()

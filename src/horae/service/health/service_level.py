"""Service levels of all cells: how many due times were served in time, and whose error budget burns too fast."""

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple
from uuid import UUID

from horae.domain.errors import Unavailable
from horae.domain.health.service_level import SPANS, LevelCount, ServiceLevel
from horae.domain.instances.instances import Priority
from horae.service.context import Context
from horae.store.connections.each_cell import ask_by_statement, ask_each
from horae.store.health import service_level
from horae.store.protocol import StoreProtocol
from horae.store.row_level_security import PLATFORM, restrict
from horae.store.tx import Tx


class CellLevel(NamedTuple):
    """The service level of one priority in one cell."""

    cell: str
    priority: Priority
    level: ServiceLevel


class ServiceLevels(NamedTuple):
    """The service levels of all cells that answer, and their sum. Cells that are down are named and left out."""

    total: ServiceLevel
    parts: list[CellLevel]
    cells_down: list[str]


class BurningBudget(NamedTuple):
    """An error budget that burns too fast, and the rule that says so: `fast`, `slow` or `steady`."""

    cell: str
    priority: Priority
    rule: str
    long_rate: float
    short_rate: float
    budget_remaining: float


async def levels_of(ctx: Context, tenant_id: UUID | None) -> ServiceLevels:
    """Returns the service levels for a caller, by the objective of its deployment."""
    return await service_levels(ctx.store, tenant_id, ctx.memory.objective)


async def service_levels(store: StoreProtocol, tenant_id: UUID | None, objective: float) -> ServiceLevels:
    """Returns the service levels of one tenant, or of all tenants together. Classes without due times are left out."""

    async def look(tx: Tx) -> dict[Priority, ServiceLevel]:
        return await service_level.read(tx, tenant_id, objective)

    cells = (restrict(store, PLATFORM) if tenant_id is None else store).cells
    seen = await ask_each(cells, partial(ask_by_statement, look))
    if not seen.found:
        raise Unavailable("no cell answers now; nothing is known of the service level")
    parts = [
        CellLevel(cell.name, priority, level)
        for cell, found in seen.found.items()
        for priority, level in found.items()
        if any(level.count_of(span).expected for span in SPANS)
    ]
    return ServiceLevels(_sum((part.level for part in parts), objective), parts, seen.down)


async def burning_budgets(store: StoreProtocol, tenant_id: UUID | None, objective: float) -> list[BurningBudget]:
    """Returns the error budgets of one tenant, or of all tenants together, that burn too fast now. For alerts."""
    found = await service_levels(store, tenant_id, objective)
    return [
        BurningBudget(
            cell=cell,
            priority=priority,
            rule=rule.name,
            long_rate=level.burn_rate(rule.long),
            short_rate=level.burn_rate(rule.short),
            budget_remaining=level.budget_remaining,
        )
        for cell, priority, level in found.parts
        for rule in level.burning
    ]


def _sum(levels: Iterable[ServiceLevel], objective: float) -> ServiceLevel:
    counts = dict.fromkeys(SPANS, LevelCount())
    overdue = 0
    for level in levels:
        overdue += level.overdue
        for span in SPANS:
            counts[span] = counts[span].plus(level.counts.get(span, LevelCount()))
    return ServiceLevel(objective, counts, overdue)

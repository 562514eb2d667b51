"""Reads the service level of every cell for the metrics of this process."""

from collections.abc import Iterator
from typing import Final

from prometheus_client.core import Metric

from horae.domain.health.service_level import SPANS, ServiceLevel
from horae.domain.instances.instances import Priority
from horae.runtime.metrics import Labels, MetricFacts, MetricKind
from horae.store.connections.each_cell import Visits
from horae.store.health import service_level
from horae.store.protocol import CellProtocol, StoreProtocol

CLASS: Final = ("cell", "priority")
OBJECTIVE: Final = MetricFacts(
    "horae_service_level_objective_ratio",
    MetricKind.GAUGE,
    "The part of all due times that is to be in time (`HORAE_SERVICE_LEVEL`).",
)
DUE_TIMES: Final = MetricFacts(
    "horae_due_times",
    MetricKind.GAUGE,
    "Due times of the last 30 days, by whether they were in time or late.",
    (*CLASS, "verdict"),
)
OVERDUE: Final = MetricFacts(
    "horae_due_times_overdue",
    MetricKind.GAUGE,
    "Schedules and tasks that are overdue in shards that no node holds. A schedule counts once.",
    CLASS,
)
BUDGET: Final = MetricFacts(
    "horae_error_budget_remaining_ratio",
    MetricKind.GAUGE,
    "The part of the error budget of 30 days that is left; negative if it is overdrawn.",
    CLASS,
)
BURN_RATE: Final = MetricFacts(
    "horae_error_budget_burn_rate",
    MetricKind.GAUGE,
    "How many times faster than allowed the error budget burns, by span of time.",
    (*CLASS, "span"),
)
SERVED: Final = MetricFacts(
    "horae_due_times_served",
    MetricKind.COUNTER,
    "Due times that this process has counted, by whether they were in time or late.",
    (*CLASS, "verdict"),
)
LEVEL_FAMILIES: Final = (OBJECTIVE, DUE_TIMES, OVERDUE, BUDGET, BURN_RATE, SERVED)


class LevelReader:
    """A duty, and a source of metrics. A cell that does not answer has no sample of what its rows say."""

    def __init__(self, store: StoreProtocol, objective: float) -> None:
        self.store = store
        self.objective = objective
        self.latest: dict[str, dict[Priority, ServiceLevel]] = {}
        self._visits = Visits("levelreader")

    async def once(self) -> int:
        """Visit each cell once. Returns 0: the next round can wait."""
        return await self._visits.each(self.store.cells, self._read)

    async def _read(self, cell: CellProtocol) -> None:
        self.latest.pop(cell.name, None)
        async with cell.statement() as tx:
            self.latest[cell.name] = await service_level.read(tx, None, self.objective)

    def collect(self) -> Iterator[Metric]:
        """Yields the families."""
        levels: dict[Labels, ServiceLevel] = {
            (cell, priority.name.lower()): level
            for cell, found in self.latest.items()
            for priority, level in found.items()
        }
        yield OBJECTIVE.sample(self.objective)
        due_times: dict[Labels, float] = {}
        for class_, level in levels.items():
            counted = level.count_of("30d")
            due_times |= {(*class_, "in_time"): counted.in_time, (*class_, "late"): counted.late}
        yield DUE_TIMES.samples(due_times)
        yield OVERDUE.samples({class_: level.overdue for class_, level in levels.items()})
        yield BUDGET.samples({class_: level.budget_remaining for class_, level in levels.items()})
        rates = {(*class_, span): level.burn_rate(span) for class_, level in levels.items() for span in SPANS}
        yield BURN_RATE.samples(rates)
        yield SERVED.samples(dict(self._served()))

    def _served(self) -> Iterator[tuple[Labels, float]]:
        for cell in self.store.cells:
            for priority, counted in cell.level_counts.totals().items():
                class_ = (cell.name, Priority(priority).name.lower())
                yield (*class_, "in_time"), counted.in_time
                yield (*class_, "late"), counted.late

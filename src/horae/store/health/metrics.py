"""Metrics of the cells, as one process sees them: attempts and delays, reachability, clock and connections."""

from collections.abc import Iterable, Iterator
from typing import Final

from prometheus_client.core import Metric

from horae.domain.health.signals import BOUNDS_MS, AttemptResult
from horae.domain.instances.instances import Lane, Priority
from horae.runtime.metrics import Labels, MetricFacts, MetricKind
from horae.store.cells import Cell
from horae.store.health.counters import FIRST_BUCKET, FIRST_SHIFT
from horae.store.store import Store

CLASS: Final = ("cell", "priority", "lane")
BOUNDS_S: Final = tuple(bound / 1000 for bound in BOUNDS_MS)
ATTEMPTS: Final = MetricFacts(
    "horae_attempts", MetricKind.COUNTER, "Attempts whose result this process has recorded.", (*CLASS, "result")
)
TRIGGER_DELAY: Final = MetricFacts(
    "horae_trigger_delay_seconds",
    MetricKind.HISTOGRAM,
    "How late first attempts were sent or handed to a worker, without the time for which gates held them back.",
    CLASS,
)
WHOLE_DELAY: Final = MetricFacts(
    "horae_trigger_delay_with_held_seconds",
    MetricKind.HISTOGRAM,
    "How late first attempts were sent or handed to a worker, with the time for which gates held them back.",
    CLASS,
)
CELL_UP: Final = MetricFacts(
    "horae_cell_up", MetricKind.GAUGE, "1 while the cell answers this process, 0 while it does not.", ("cell",)
)
CLOCK_AGE: Final = MetricFacts(
    "horae_cell_clock_age_seconds", MetricKind.GAUGE, "Seconds since the clock of the cell was read.", ("cell",)
)
CLOCK_AHEAD: Final = MetricFacts(
    "horae_cell_clock_ahead_seconds",
    MetricKind.GAUGE,
    "How far the clock of the cell has jumped ahead of the time that is used; 0 while it is trusted.",
    ("cell",),
)
CLOCK_TRUSTED: Final = MetricFacts(
    "horae_cell_clock_trusted", MetricKind.GAUGE, "0 while the clock of the cell has jumped and is not used.", ("cell",)
)
CONNECTIONS: Final = MetricFacts(
    "horae_cell_connections",
    MetricKind.GAUGE,
    "Pooled connections to the cell, by state: idle, or in use.",
    ("cell", "state"),
)
MAX_CONNECTIONS: Final = MetricFacts(
    "horae_cell_connections_max", MetricKind.GAUGE, "The most pooled connections that this process may open.", ("cell",)
)
POOL_WAITS: Final = MetricFacts(
    "horae_pool_waits",
    MetricKind.COUNTER,
    "How often a pooled connection was not there within a millisecond.",
    ("cell",),
)
POOL_WAIT_SECONDS: Final = MetricFacts(
    "horae_pool_wait_seconds", MetricKind.COUNTER, "The sum of the waits for a pooled connection.", ("cell",)
)
POOL_TIMEOUTS: Final = MetricFacts(
    "horae_pool_timeouts", MetricKind.COUNTER, "How often no pooled connection could be had in time.", ("cell",)
)
SHARDS: Final = MetricFacts("horae_cell_shards", MetricKind.GAUGE, "Shards that belong to the cell.", ("cell",))
CELL_FAMILIES: Final = (
    ATTEMPTS,
    TRIGGER_DELAY,
    WHOLE_DELAY,
    CELL_UP,
    CLOCK_AGE,
    CLOCK_AHEAD,
    CLOCK_TRUSTED,
    CONNECTIONS,
    MAX_CONNECTIONS,
    POOL_WAITS,
    POOL_WAIT_SECONDS,
    POOL_TIMEOUTS,
    SHARDS,
)


class CellMetrics:
    """The metrics of all cells of a process.

    `others` are stores that reach the same cells with other roles, and share the counters of the first one. Their
    pools are added up, and a cell is up where every store reaches it.
    """

    def __init__(self, store: Store, *others: Store) -> None:
        self._store = store
        self._others = others

    def collect(self) -> Iterator[Metric]:
        """Yields the families."""
        cells = self._store.cells
        yield from self._counted(cells)
        pools = [*cells, *(cell for other in self._others for cell in other.cells)]
        lost = {cell.name for cell in pools if not cell.is_open or cell.reach.is_down}
        yield CELL_UP.samples({(cell.name,): float(cell.name not in lost) for cell in cells})
        read = [cell for cell in cells if cell.clock.was_read]
        yield CLOCK_AGE.samples({(cell.name,): cell.clock.age() for cell in read})
        yield CLOCK_AHEAD.samples({(cell.name,): cell.clock.ahead.total_seconds() for cell in cells})
        yield CLOCK_TRUSTED.samples({(cell.name,): float(cell.clock.trusted) for cell in cells})
        yield CONNECTIONS.samples(_sums(self._connections(pools)))
        yield MAX_CONNECTIONS.samples(_sums(((cell.name,), cell.connections) for cell in pools))
        yield POOL_WAITS.samples(_sums(((cell.name,), cell.pool_waits.waits) for cell in pools))
        yield POOL_WAIT_SECONDS.samples(_sums(((cell.name,), cell.pool_waits.seconds) for cell in pools))
        yield POOL_TIMEOUTS.samples(_sums(((cell.name,), cell.pool_waits.timeouts) for cell in pools))
        yield SHARDS.samples({(cell.name,): len(self._store.shards_of(cell)) for cell in cells})

    def _counted(self, cells: list[Cell]) -> Iterator[Metric]:
        attempts: dict[Labels, float] = {}
        delays: dict[Labels, tuple[list[int], float]] = {}
        whole: dict[Labels, tuple[list[int], float]] = {}
        for cell in cells:
            for (priority, lane), row in cell.signal_counts.totals().items():
                class_ = (cell.name, Priority(priority).name.lower(), Lane(lane).name.lower())
                attempts |= {(*class_, result.name.lower()): row[result] for result in AttemptResult}
                delays[class_] = row[FIRST_BUCKET:FIRST_SHIFT], cell.signal_counts.delay_sum_s(priority, lane)
                whole[class_] = cell.signal_counts.delays_with_held(priority, lane, row[FIRST_BUCKET:FIRST_SHIFT])
        yield ATTEMPTS.samples(attempts)
        yield TRIGGER_DELAY.histograms(BOUNDS_S, delays)
        yield WHOLE_DELAY.histograms(BOUNDS_S, whole)

    def _connections(self, cells: list[Cell]) -> Iterator[tuple[Labels, float]]:
        for cell in cells:
            if cell.is_open:
                idle = cell.pool.get_idle_size()
                yield (cell.name, "idle"), idle
                yield (cell.name, "in_use"), cell.pool.get_size() - idle


def _sums(samples: Iterable[tuple[Labels, float]]) -> dict[Labels, float]:
    """The sum of the samples with the same labels."""
    sums: dict[Labels, float] = {}
    for labels, value in samples:
        sums[labels] = sums.get(labels, 0) + value
    return sums

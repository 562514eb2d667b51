"""Reads the backlog, dead letters, partitions and lags of every cell for the metrics of this process."""

from collections.abc import Iterator
from typing import Final

from prometheus_client.core import Metric

from horae.runtime.metrics import MetricFacts, MetricKind
from horae.store.connections.each_cell import Visits
from horae.store.health import gauges
from horae.store.health.gauges import CellGauges
from horae.store.protocol import CellProtocol, StoreProtocol

CELL: Final = ("cell",)
BACKLOG: Final = MetricFacts(
    "horae_backlog_instances", MetricKind.GAUGE, "Instances that are due and not claimed, as counted each minute.", CELL
)
RETRY_BACKLOG: Final = MetricFacts(
    "horae_retry_backlog_instances", MetricKind.GAUGE, "Instances that wait for a retry, as counted each minute.", CELL
)
DEAD_LETTERS: Final = MetricFacts(
    "horae_dead_letters_open",
    MetricKind.GAUGE,
    "Dead letters that nobody has replayed or discarded, up to 100,000.",
    CELL,
)
DAYS_AHEAD: Final = MetricFacts(
    "horae_partition_days_ahead",
    MetricKind.GAUGE,
    "Days for which the tables of history and events exist already.",
    CELL,
)
DAYS_KEPT: Final = MetricFacts(
    "horae_partition_days_kept", MetricKind.GAUGE, "Days since the oldest day of history.", CELL
)
FEED_LAG: Final = MetricFacts(
    "horae_feed_lag_seconds", MetricKind.GAUGE, "How far the subscription that is furthest behind lags.", CELL
)
GAUGE_FAMILIES: Final = (BACKLOG, RETRY_BACKLOG, DEAD_LETTERS, DAYS_AHEAD, DAYS_KEPT, FEED_LAG)


class GaugeReader:
    """A duty, and a source of metrics. A cell that does not answer has no sample."""

    def __init__(self, store: StoreProtocol) -> None:
        self.store = store
        self.latest: dict[str, CellGauges] = {}
        self._visits = Visits("gaugereader")

    async def once(self) -> int:
        """Visit each cell once. Returns 0: the next round can wait."""
        return await self._visits.each(self.store.cells, self._read)

    async def _read(self, cell: CellProtocol) -> None:
        self.latest.pop(cell.name, None)
        async with cell.statement() as tx:
            self.latest[cell.name] = await gauges.read(tx)

    def collect(self) -> Iterator[Metric]:
        """Yields the families."""
        found = self.latest.items()
        yield BACKLOG.samples({(cell,): one.backlog for cell, one in found})
        yield RETRY_BACKLOG.samples({(cell,): one.retry_backlog for cell, one in found})
        yield DEAD_LETTERS.samples({(cell,): one.dead_letters for cell, one in found})
        yield DAYS_AHEAD.samples({(cell,): one.days_ahead for cell, one in found})
        yield DAYS_KEPT.samples({(cell,): one.days_kept for cell, one in found})
        yield FEED_LAG.samples({(cell,): one.feed_lag_s for cell, one in found if one.feed_lag_s is not None})

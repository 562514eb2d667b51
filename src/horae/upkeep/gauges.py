"""Reads the backlog, dead letters, partitions and lags of every cell for the metrics of this process."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Final

from prometheus_client.core import Metric

from horae.runtime.metrics import Labels, MetricFacts, MetricKind
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
DAYS_BEHIND: Final = MetricFacts(
    "horae_partition_days_behind",
    MetricKind.GAUGE,
    "Days of history that are over their term and not dropped yet.",
    CELL,
)
ARCHIVE_LAG: Final = MetricFacts(
    "horae_archive_lag_seconds",
    MetricKind.GAUGE,
    "Seconds since the end of the oldest day that is not archived; 0 if none is. Only with an archive.",
    CELL,
)
RELAY_LAG: Final = MetricFacts(
    "horae_relay_lag_seconds",
    MetricKind.GAUGE,
    "Seconds since the oldest compensation was requested that is not a task yet; 0 if all are.",
    CELL,
)
INTAKE_WAITING: Final = MetricFacts(
    "horae_intake_waiting_messages",
    MetricKind.GAUGE,
    "Messages that wait in the topics of intakes, as far as their brokers say.",
    CELL,
)
SOURCE_DRIFT: Final = MetricFacts(
    "horae_source_drift_tasks",
    MetricKind.GAUGE,
    "Tasks that differ from the lists of their sources, by the last round of each source.",
    CELL,
)
AUDIT_FINDINGS: Final = MetricFacts(
    "horae_audit_findings_open",
    MetricKind.GAUGE,
    "Open findings of the audit of fires: fires that are missing, doubled or wrong, and cursors that stand still.",
    CELL,
)
AUDIT_LAG: Final = MetricFacts(
    "horae_audit_lag_seconds", MetricKind.GAUGE, "Seconds since the last fire that the audit of fires has judged.", CELL
)
WAL_ARCHIVE_LAG: Final = MetricFacts(
    "horae_wal_archive_lag_seconds",
    MetricKind.GAUGE,
    "Seconds since a WAL file was last archived: what a restore would lose now. Only where the server archives WAL.",
    CELL,
)
SESSIONS: Final = MetricFacts(
    "horae_database_sessions", MetricKind.GAUGE, "Sessions of the cell's database, by state.", ("cell", "state")
)
DATABASE_BYTES: Final = MetricFacts(
    "horae_database_size_bytes", MetricKind.GAUGE, "The size of the cell's database when it was last measured.", CELL
)
DISK_BYTES: Final = MetricFacts(
    "horae_database_disk_bytes", MetricKind.GAUGE, "The space for the cell's database, where a setting says it.", CELL
)
GAUGE_FAMILIES: Final = (
    BACKLOG,
    RETRY_BACKLOG,
    DEAD_LETTERS,
    DAYS_AHEAD,
    DAYS_KEPT,
    DAYS_BEHIND,
    ARCHIVE_LAG,
    FEED_LAG,
    RELAY_LAG,
    INTAKE_WAITING,
    SOURCE_DRIFT,
    AUDIT_FINDINGS,
    AUDIT_LAG,
    WAL_ARCHIVE_LAG,
    SESSIONS,
    DATABASE_BYTES,
    DISK_BYTES,
)


class GaugeReader:
    """A duty, and a source of metrics. A cell that does not answer has no sample.

    `kept`: how long days of history are kept. `archives`: whether days are archived. `relayed_from` returns the
    transaction of a cell from which on compensations may still have to be relayed; 0 where that is not known.
    """

    def __init__(
        self, store: StoreProtocol, kept: timedelta, relayed_from: Callable[[str], int], *, archives: bool
    ) -> None:
        self.store = store
        self._kept = kept
        self._relayed_from = relayed_from
        self._archives = archives
        self.latest: dict[str, CellGauges] = {}
        self._visits = Visits("gaugereader")

    async def once(self) -> int:
        """Visit each cell once. Returns 0: the next round can wait."""
        return await self._visits.each(self.store.cells, self._read)

    async def _read(self, cell: CellProtocol) -> None:
        self.latest.pop(cell.name, None)
        async with cell.statement() as tx:
            self.latest[cell.name] = await gauges.read(tx, self._kept, self._relayed_from(cell.name))

    def collect(self) -> Iterator[Metric]:
        """Yields the families."""
        found = self.latest.items()
        yield BACKLOG.samples({(cell,): one.backlog for cell, one in found})
        yield RETRY_BACKLOG.samples({(cell,): one.retry_backlog for cell, one in found})
        yield DEAD_LETTERS.samples({(cell,): one.dead_letters for cell, one in found})
        yield DAYS_AHEAD.samples({(cell,): one.days_ahead for cell, one in found})
        yield DAYS_KEPT.samples({(cell,): one.days_kept for cell, one in found})
        yield DAYS_BEHIND.samples({(cell,): one.days_behind for cell, one in found})
        if self._archives:
            yield ARCHIVE_LAG.samples({(cell,): one.archive_lag_s for cell, one in found})
        yield FEED_LAG.samples({(cell,): one.feed_lag_s for cell, one in found if one.feed_lag_s is not None})
        yield RELAY_LAG.samples({(cell,): one.relay_lag_s for cell, one in found if one.relay_lag_s is not None})
        waiting: dict[Labels, float] = {
            (cell,): one.intake_waiting for cell, one in found if one.intake_waiting is not None
        }
        yield INTAKE_WAITING.samples(waiting)
        yield SOURCE_DRIFT.samples({(cell,): one.source_drift for cell, one in found})
        yield AUDIT_FINDINGS.samples({(cell,): one.audit_findings for cell, one in found})
        yield AUDIT_LAG.samples({(cell,): one.audit_lag_s for cell, one in found if one.audit_lag_s is not None})
        wal: dict[Labels, float] = {
            (cell,): one.wal_archive_lag_s for cell, one in found if one.wal_archive_lag_s is not None
        }
        yield WAL_ARCHIVE_LAG.samples(wal)
        yield SESSIONS.samples({(cell, state): many for cell, one in found for state, many in one.sessions.items()})
        yield DATABASE_BYTES.samples({(cell,): one.database_bytes for cell, one in found if one.database_bytes})
        yield DISK_BYTES.samples({(cell,): one.disk_bytes for cell, one in found if one.disk_bytes})

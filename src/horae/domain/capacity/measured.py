"""The kinds of figures that benchmarks measure. `source` is the report and its commit."""

from typing import NamedTuple


class CallCost(NamedTuple):
    """One fire over HTTP: CPU time of a node and of PostgreSQL, and how late it is on a quiet machine."""

    source: str
    node_cpu_ms: float
    postgresql_cpu_ms: float
    quiet_p95_ms: float


class StoreRates(NamedTuple):
    """What one PostgreSQL on two cores takes, without nodes."""

    source: str
    fires_per_s: int
    tasks_per_s: int
    task_postgresql_cpu_ms: float


class RowSizes(NamedTuple):
    """Bytes of one fire: kept for each day, WAL, the live row, the ledger of keys, and in the archive."""

    source: str
    each_day_bytes: float
    wal_bytes: float
    live_bytes: float
    key_bytes: float
    archived_bytes: float


class MemoryUse(NamedTuple):
    """Memory of a node that serves so many jobs."""

    source: str
    jobs: int
    node_mb: int

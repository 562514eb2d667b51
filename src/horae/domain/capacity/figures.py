"""Measured figures with report and commit. Written by `tools/figures.py`: change nothing here."""

from typing import Final

from horae.domain.capacity.measured import CallCost, MemoryUse, RowSizes, StoreRates

CALLS: Final = CallCost(
    source="push.json at c2e5b415",
    node_cpu_ms=0.2078,
    postgresql_cpu_ms=0.0987,
    quiet_p95_ms=12.5,
)
STORE: Final = StoreRates(
    source="store.json at fcef195",
    fires_per_s=13329,
    tasks_per_s=2291,
    task_postgresql_cpu_ms=0.5308,
)
FIRE_ROWS: Final = RowSizes(
    source="rows.json at 11a0aa53",
    each_day_bytes=354.2,
    wal_bytes=1482,
    live_bytes=408.9,
    key_bytes=0.0,
    archived_bytes=17.6,
)
TASK_ROWS: Final = RowSizes(
    source="rows.json at 11a0aa53",
    each_day_bytes=1186.5,
    wal_bytes=4605,
    live_bytes=1054.5,
    key_bytes=491.5,
    archived_bytes=17.6,
)
TASK_PAYLOAD_BYTES: Final = 300
"""The payload of the tasks that were measured."""
MEMORY: Final = MemoryUse(
    source="million.json at c526e1f+",
    jobs=3000000,
    node_mb=171,
)

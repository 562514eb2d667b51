"""Writes src/horae/domain/capacity/figures.py from the reports of the benchmarks: `python tools/figures.py`."""

import json
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
REPORTS: Final = ROOT / "benchmarks" / "reports"
MODULE: Final = ROOT / "src" / "horae" / "domain" / "capacity" / "figures.py"
TEXT: Final = '''"""Measured figures with report and commit. Written by `tools/figures.py`: change nothing here."""

from typing import Final

from horae.domain.capacity.measured import CallCost, MemoryUse, RowSizes, StoreRates

CALLS: Final = CallCost(
    source="{push_source}",
    node_cpu_ms={push[node_cpu_ms_per_fire]},
    postgresql_cpu_ms={push[pg_cpu_ms_per_fire]},
    quiet_p95_ms={push[quiet_p95_ms]},
)
STORE: Final = StoreRates(
    source="{store_source}",
    fires_per_s={store[rate]},
    tasks_per_s={store[task_rate]},
    task_postgresql_cpu_ms={store[task_pg_cpu_ms]},
)
FIRE_ROWS: Final = RowSizes(
    source="{rows_source}",
    each_day_bytes={cron[each_day_bytes_per_fire]},
    wal_bytes={cron[wal_bytes_per_fire]},
    live_bytes={cron[instance_live][bytes]},
    key_bytes=0.0,
    archived_bytes={rows[archived_bytes]},
)
TASK_ROWS: Final = RowSizes(
    source="{rows_source}",
    each_day_bytes={task[each_day_bytes_per_fire]},
    wal_bytes={task[wal_bytes_per_fire]},
    live_bytes={task[instance_live][bytes]},
    key_bytes={task[task_key][bytes]},
    archived_bytes={rows[archived_bytes]},
)
TASK_PAYLOAD_BYTES: Final = 300
"""The payload of the tasks that were measured."""
MEMORY: Final = MemoryUse(
    source="{million_source}",
    jobs={million[jobs]},
    node_mb={million[rss_mb]},
)
'''


def text() -> str:
    """The module as the reports of now give it."""
    reports = {
        name: json.loads((REPORTS / f"{name}.json").read_text()) for name in ("push", "store", "rows", "million")
    }
    sources = {f"{name}_source": f"{name}.json at {report['commit']}" for name, report in reports.items()}
    kinds: dict[str, Any] = reports["rows"]["kinds"]
    return TEXT.format(**reports, **sources, cron=kinds["cron"], task=kinds["task"])


if __name__ == "__main__":
    MODULE.write_text(text())

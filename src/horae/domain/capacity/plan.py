"""Computes cells, nodes, CPU, memory, connections, WAL, disk and network for a load.

The plan loads no part with more than `MAX_LOAD_SHARE` of what was measured. With a tight latency target it loads less:
a part at load ρ is taken to answer 1 / (1 - ρ) times as late as a quiet one.
"""

import math
from typing import Final, NamedTuple

from horae.domain.capacity.figures import CALLS, FIRE_ROWS, MEMORY, STORE, TASK_PAYLOAD_BYTES, TASK_ROWS
from horae.domain.capacity.measured import RowSizes
from horae.domain.errors import Invalid

MAX_LOAD_SHARE: Final = 0.7
MIN_LOAD_SHARE: Final = 0.2
"""Below this load a plan would buy machines for a latency that nothing measured supports."""
SECONDS_A_DAY: Final = 86_400
DISK_FACTOR: Final = 1.5
"""A third of the disk stays free: vacuum, new indexes and a day that is held back need room."""
NODE_CONNECTIONS: Final = 17
"""Of a node to each cell: a pool of 10, lease, listener, wakes and quotas, and 3 for upkeep."""
API_CONNECTIONS: Final = 12
"""Of an API process to each cell: a pool of 10, listener and wakes."""
API_PROCESSES: Final = 2
MIN_NODES: Final = 2
MIN_CORES: Final = 2
STANDBYS: Final = 2
SHARED_BUFFERS_BYTES: Final = 4_000_000_000
"""What PostgreSQL had in every measurement."""
MEMORY_PER_BUFFERS: Final = 4
"""`shared_buffers` are a quarter of the memory of a server."""
CALL_BYTES: Final = 1_000
"""Request line, headers and answer of one call; assumed, not measured."""


class Demand(NamedTuple):
    """What a deployment must carry. With a payload, fires are tasks of a business key."""

    jobs: int
    fires_per_s: float
    peak_per_s: float
    payload_bytes: int = 0
    hot_days: int = 14
    cold_days: int = 90
    p95_ms: int = 2_000


class Need(NamedTuple):
    """One line of a plan: an amount with its unit, and what it was computed from."""

    name: str
    amount: float
    unit: str
    basis: str


class PayloadCost(NamedTuple):
    """What one fire of the demand costs a cell."""

    rows: RowSizes
    cell_rate: int
    postgresql_cpu_ms: float
    cpu_source: str


def plan(demand: Demand) -> list[Need]:
    """The needs of a demand. Raises `Invalid` where no measurement supports it."""
    _check(demand)
    load = load_for(demand.p95_ms)
    cost = _cost(demand.payload_bytes)
    by_rate = math.ceil(demand.peak_per_s / (cost.cell_rate * load))
    by_jobs = math.ceil(demand.jobs / MEMORY.jobs)
    cells = max(1, by_rate, by_jobs)
    nodes = max(MIN_NODES, math.ceil(demand.peak_per_s * CALLS.node_cpu_ms / 1000 / load) + 1)
    cores = max(MIN_CORES, math.ceil(demand.peak_per_s / cells * cost.postgresql_cpu_ms / 1000 / load))
    return [
        Need("load of each part", round(load * 100), "%", f"at most {MAX_LOAD_SHARE:.0%}; quiet p95 of {CALLS.source}"),
        Need("cells", cells, "", f"{cost.cell_rate:,}/s by {STORE.source}; {MEMORY.jobs:,} jobs by {MEMORY.source}"),
        Need("nodes", nodes, "processes", f"{CALLS.node_cpu_ms} ms of a core a fire by {CALLS.source}; one may fail"),
        Need("CPU of nodes", nodes, "cores", "a process uses one core"),
        Need(
            "CPU of PostgreSQL, each cell", cores, "cores", f"{cost.postgresql_cpu_ms} ms a fire by {cost.cpu_source}"
        ),
        Need("memory of nodes", nodes * MEMORY.node_mb * 1e6, "B", f"{MEMORY.node_mb} MB each by {MEMORY.source}"),
        *_memory_and_connections(demand, cost.rows, cells, nodes),
        *_volumes(demand, cost.rows, cells),
    ]


def load_for(p95_ms: float) -> float:
    """The share of its measured capacity that a part may be loaded with."""
    load = min(MAX_LOAD_SHARE, 1 - CALLS.quiet_p95_ms / p95_ms)
    if load < MIN_LOAD_SHARE:
        least = math.ceil(CALLS.quiet_p95_ms / (1 - MIN_LOAD_SHARE))
        raise Invalid(f"no measurement supports a p95 of {p95_ms:g} ms; {least} ms is the least ({CALLS.source})")
    return load


def _check(demand: Demand) -> None:
    if min(demand.jobs, demand.fires_per_s, demand.p95_ms) <= 0 or min(demand[3:6]) < 0:
        raise Invalid("jobs, fires and p95 must be above 0, and nothing may be below it")
    if demand.peak_per_s < demand.fires_per_s:
        raise Invalid("the peak is below the average rate of fires")


def _cost(payload_bytes: int) -> PayloadCost:
    """A payload beyond the measured one is kept once in history; WAL has it with the live row, too."""
    if not payload_bytes:
        return PayloadCost(FIRE_ROWS, STORE.fires_per_s, CALLS.postgresql_cpu_ms, CALLS.source)
    more = payload_bytes - TASK_PAYLOAD_BYTES
    rows = TASK_ROWS._replace(
        each_day_bytes=TASK_ROWS.each_day_bytes + more,
        wal_bytes=TASK_ROWS.wal_bytes + 2 * more,
        live_bytes=TASK_ROWS.live_bytes + more,
        archived_bytes=TASK_ROWS.archived_bytes + payload_bytes,
    )
    return PayloadCost(rows, STORE.tasks_per_s, STORE.task_postgresql_cpu_ms, STORE.source)


def _memory_and_connections(demand: Demand, rows: RowSizes, cells: int, nodes: int) -> list[Need]:
    live = demand.jobs / cells * (rows.live_bytes + rows.key_bytes) if demand.payload_bytes else 0.0
    buffers = max(SHARED_BUFFERS_BYTES, live)
    connections = nodes * NODE_CONNECTIONS + API_PROCESSES * API_CONNECTIONS
    return [
        Need(
            "memory of PostgreSQL, each cell",
            buffers * MEMORY_PER_BUFFERS,
            "B",
            "shared_buffers of the measurements, or the live rows; a quarter of the memory",
        ),
        Need(
            "connections, each cell",
            connections,
            "",
            f"{NODE_CONNECTIONS} of each node, {API_CONNECTIONS} of {API_PROCESSES} API processes: max_connections",
        ),
    ]


def _volumes(demand: Demand, rows: RowSizes, cells: int) -> list[Need]:
    fires_a_day = demand.fires_per_s * SECONDS_A_DAY
    wal_at_peak = demand.peak_per_s * rows.wal_bytes / cells
    kept = fires_a_day * rows.each_day_bytes * demand.hot_days + demand.jobs * rows.key_bytes
    cold = fires_a_day * rows.archived_bytes * demand.cold_days
    a_fire = f"bytes of a fire by {rows.source}"
    return [
        Need("WAL at the peak, each cell", wal_at_peak, "B/s", a_fire),
        Need("WAL a day, all cells", fires_a_day * rows.wal_bytes, "B", a_fire),
        Need(f"disk for {demand.hot_days} days, each cell", kept / cells * DISK_FACTOR, "B", f"{a_fire}; a third free"),
        Need(f"archive for {demand.cold_days} days, all cells", cold, "B", a_fire),
        Need("replication at the peak, each cell", wal_at_peak * STANDBYS, "B/s", f"WAL to {STANDBYS} standbys"),
        Need(
            "calls at the peak, all nodes",
            demand.peak_per_s * (CALL_BYTES + demand.payload_bytes),
            "B/s",
            f"the payload, and {CALL_BYTES:,} B of headers and answer (assumed)",
        ),
    ]


def amount_text(need: Need) -> str:
    """The amount as a person reads it, bytes in decimal units."""
    if need.unit not in {"B", "B/s"}:
        return f"{need.amount:,.0f} {need.unit}".rstrip()
    return f"{volume(need.amount)}{need.unit.removeprefix('B')}"


def volume(size: float) -> str:
    """A size in decimal units, with three digits at most."""
    for unit, bytes_ in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= bytes_:
            return f"{size / bytes_:.3g} {unit}"
    return f"{size:.0f} B"

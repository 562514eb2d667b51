"""The engine alone: a node whose target answers inside the process, beside `bench store` in the same run."""

import time
from typing import Any

from benchmarks import psql, push, store
from benchmarks.data import fresh
from benchmarks.measure import Slice, alternate, middle
from benchmarks.meter import Meter
from benchmarks.nodes import node
from benchmarks.server import SETTINGS, Server, running

SLICE, SLICES, WARM = 5.0, 5, 1.0


def engine(server: Server, database: str, length: float) -> Slice:
    """One slice: history rows per second while more is due than can be done."""
    first = push.due(server, database, push.OFFERED, WARM + length + 1)
    with node(server, database, program=("benchmarks.noop",)) as process:
        time.sleep(max(0.0, first + WARM - time.time()))
        before, began, cpu = _rows(server, database), time.time(), process.cpu_seconds()
        with Meter(server, database).measuring() as cost:
            time.sleep(length)
            cpu = process.cpu_seconds() - cpu
        many, took = _rows(server, database) - before, time.time() - began
    return Slice(many, took, cost.pg_cpu, cpu, cost.wal_bytes, cost.transactions)


def _rows(server: Server, database: str) -> int:
    """Fires so far: each moves its cursor once."""
    return int(psql.value(server, database, "select count(*) from job_cursor where fired > 0")) + _again(
        server, database
    )


def _again(server: Server, database: str) -> int:
    return int(psql.value(server, database, "select coalesce(sum(fired - 1), 0) from job_cursor where fired > 1"))


def main(seconds: float) -> dict[str, Any]:
    """The engine and the store in turn."""
    length = min(SLICE, max(1.5, seconds / 14))
    with running() as server:
        ours_db, store_db = (fresh(server, push.JOBS, name) for name in ("bench_engine", "bench_engine_store"))
        push.park(server, ours_db)
        meter = Meter(server, store_db)
        ours, stored = alternate(
            SLICES,
            lambda _: engine(server, ours_db, length),
            lambda _: store.ours(server, store_db, meter, length),
        )
        fires = int(psql.value(server, ours_db, "select sum(fired) from job_cursor"))
        rows = int(psql.value(server, ours_db, "select count(*) from instance_history"))
    rate, store_rate = (middle(side, lambda one: one.rate) for side in (ours, stored))
    found = {
        "settings": {"jobs": push.JOBS, "slice_s": length, "slices": SLICES, "postgresql": SETTINGS},
        "rate": round(rate),
        "store": round(store_rate),
        "ratio": round(rate / store_rate, 3),
        "node_cpu_ms_per_fire": round(middle(ours, lambda one: one.per_fire(one.client_cpu) * 1000), 4),
        "pg_cpu_ms_per_fire": round(middle(ours, lambda one: one.per_fire(one.pg_cpu) * 1000), 4),
        "tx_per_fire": round(middle(ours, lambda one: one.per_fire(one.transactions)), 4),
        "fires": fires,
        "rows_in_history": rows,
        "rates": [round(one.rate) for one in ours],
        "store_rates": [round(one.rate) for one in stored],
    }
    return found | {"ok": found["ratio"] >= 0.6 and fires == rows}

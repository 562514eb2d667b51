"""The engine alone: a node whose target answers inside the process, beside `bench store` in the same run."""

import time
from typing import Any

from benchmarks import psql, push, store
from benchmarks.data import fresh
from benchmarks.measure import Bound, Size, Slice, alternate, judged, middle, per_fire
from benchmarks.meter import Meter
from benchmarks.nodes import node
from benchmarks.server import SETTINGS, Server, running

WARM = 1.0
BOUNDS = (Bound("ratio", least=0.6), Bound("fires", equals="rows"))


def engine(server: Server, database: str, size: Size) -> Slice:
    """One slice: history rows per second while more is due than can be done."""
    first = push.due(server, database, push.OFFERED, WARM + size.slice_s + 1, size)
    with node(server, database, program=("benchmarks.noop",)) as process:
        time.sleep(max(0.0, first + WARM - time.time()))
        before, began, cpu = _rows(server, database), time.time(), process.cpu_seconds()
        with Meter(server, database).measuring() as cost:
            time.sleep(size.slice_s)
            cpu = process.cpu_seconds() - cpu
        many, took = _rows(server, database) - before, time.time() - began
    return cost.slice(many, took, cpu)


def _rows(server: Server, database: str) -> int:
    """Fires so far: each moves its cursor once."""
    return int(psql.value(server, database, "select count(*) from job_cursor where fired > 0")) + _again(
        server, database
    )


def _again(server: Server, database: str) -> int:
    return int(psql.value(server, database, "select coalesce(sum(fired - 1), 0) from job_cursor where fired > 1"))


def main(seconds: float) -> dict[str, Any]:
    """The full size."""
    return run(Size.lasting(seconds, 14))


def run(size: Size) -> dict[str, Any]:
    """The engine and the store in turn."""
    with running() as server:
        ours_db, store_db = (fresh(server, size.jobs, name) for name in ("bench_engine", "bench_engine_store"))
        push.park(server, ours_db)
        meter = Meter(server, store_db)
        ours, stored = alternate(
            size.slices,
            lambda _: engine(server, ours_db, size),
            lambda _: store.ours(server, store_db, meter, size.slice_s),
        )
        fires, rows = push.counts_of(server, ours_db)
        live = int(psql.value(server, ours_db, "select count(*) from instance_live"))
    rate, store_rate = (middle(side, lambda one: one.rate) for side in (ours, stored))
    found = {
        "settings": {"jobs": size.jobs, "slice_s": size.slice_s, "slices": size.slices, "postgresql": SETTINGS},
        "rate": round(rate),
        "store": round(store_rate),
        "ratio": round(rate / store_rate, 3),
        "node_cpu_ms_per_fire": round(middle(ours, lambda one: one.per_fire(one.client_cpu) * 1000), 4),
        "pg_cpu_ms_per_fire": round(middle(ours, lambda one: one.per_fire(one.pg_cpu) * 1000), 4),
        "store_cpu_ms_per_fire": round(middle(stored, lambda one: one.per_fire(one.client_cpu) * 1000), 4),
        "store_pg_cpu_ms_per_fire": round(middle(stored, lambda one: one.per_fire(one.pg_cpu) * 1000), 4),
        **per_fire(ours),
        "fires": fires,
        "rows": rows,
        "rows_in_history": rows - live,
        "rows_live": live,
        "rates": [round(one.rate) for one in ours],
        "store_rates": [round(one.rate) for one in stored],
    }
    return judged(found, BOUNDS)

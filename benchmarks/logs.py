"""What logging costs the workers of `bench workers`: they run beside handlers that log, and beside handlers that wait.

There are a hundred handlers, and each logs ten lines a second; every line must be in the database afterwards.
"""

import asyncio
from dataclasses import replace
from statistics import median
from typing import Any

from benchmarks import logging_workers, psql
from benchmarks.api_server import doors
from benchmarks.data import fresh
from benchmarks.measure import Bound, Size, Slice, alternate, judged, middle
from benchmarks.nodes import Process
from benchmarks.server import SETTINGS, running
from benchmarks.workers import CONCURRENCY, JOBS, PROCESSES, Bench, make_type

TYPE = "BENCH_LOG"
HANDLERS, LINES_PER_SECOND = 100, 10
BOUNDS = (Bound("cost", most=0.05), Bound("lines", equals="lines_in_database"))


class LogBench(Bench):
    """Workers that drain, beside handlers that log or wait."""

    lines = 0

    def beside(self, port: int, process: Process, lines_per_second: int) -> Slice:
        """A slice of the drain beside the handlers."""
        self.fill(TYPE, HANDLERS)
        plan = logging_workers.Plan(port, self.prepared.key, TYPE, HANDLERS, lines_per_second)
        with logging_workers.running(plan) as logged:
            drained = self.ours(port, process)
        self.lines += sum(logged)
        return drained


def main(seconds: float) -> dict[str, Any]:
    """Both sides in turn."""
    size = replace(Size.lasting(seconds, 18), jobs=JOBS, slices=9 if seconds >= 20 else 2)
    with running() as server:
        bench = LogBench(server, fresh(server, size.jobs, "bench_logs"), size.slice_s)
        asyncio.run(make_type(bench.cell, bench.prepared.tenant, TYPE))
        with doors(server, bench.database) as (port, process):
            logging, waiting = alternate(
                size.slices,
                lambda _: bench.beside(port, process, LINES_PER_SECOND),
                lambda _: bench.beside(port, process, 0),
            )
        stored = int(psql.value(server, bench.database, "select coalesce(sum(lines), 0) from log_batch"))
    settings = {
        "slice_s": size.slice_s, "slices": size.slices, "api_processes": 1, "worker_processes": PROCESSES,
        "concurrency": CONCURRENCY, "handlers": HANDLERS, "lines_per_second": LINES_PER_SECOND, "postgresql": SETTINGS,
    }  # fmt: skip
    found = _beside(logging, waiting) | {"lines": bench.lines, "lines_in_database": stored}
    return judged({"settings": settings, **found}, BOUNDS)


def _beside(logging: list[Slice], waiting: list[Slice]) -> dict[str, Any]:
    rate, quiet_rate = (middle(side, lambda one: one.rate) for side in (logging, waiting))
    pg, quiet_pg = (middle(side, lambda one: one.per_fire(one.pg_cpu) * 1000) for side in (logging, waiting))
    client, quiet_client = (
        middle(side, lambda one: one.per_fire(one.client_cpu) * 1000) for side in (logging, waiting)
    )
    shares = [one.rate / other.rate for one, other in zip(logging, waiting, strict=True)]
    return {
        "cost": round(1 - median(shares), 3),
        "rate": round(rate),
        "rate_without": round(quiet_rate),
        "cpu_ms_per_task": round(client, 4),
        "cpu_ms_per_task_without": round(quiet_client, 4),
        "pg_cpu_ms_per_task": round(pg, 4),
        "pg_cpu_ms_per_task_without": round(quiet_pg, 4),
        "rates": [round(one.rate) for one in logging],
        "rates_without": [round(one.rate) for one in waiting],
    }

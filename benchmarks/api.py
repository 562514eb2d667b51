"""What the doors cost: one API process beside the bare framework and beside the bare SQL, then at half of its load.

PUT of one task and of a hundred, a page of history, and a worker that claims a hundred and finishes them. Every kind is
asked over eight connections, as eight clients of pgbench write and read the same rows with nothing around them.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import psql
from benchmarks.api_server import Prepared, constant, doors
from benchmarks.bare import api as bare
from benchmarks.bare.pgbench import run as run_pgbench
from benchmarks.caller import JOB, QUEUE, Called, Plan, call
from benchmarks.data import fresh
from benchmarks.measure import Bound, Size, Slice, alternate, judged, middle, per_fire
from benchmarks.meter import Meter
from benchmarks.nodes import Process
from benchmarks.server import SETTINGS, Server, running

JOBS, BATCH, CONNECTIONS, PAGE = 10_000, 100, 8, 50
FASTEST_WORK = 30_000  # instances a second that the queue must hold for a slice
BOUNDS = (
    Bound("batch_put_ratio", least=0.45),
    Bound("p99_ms", most=50),
    Bound("batch_put_bare_pg_cpu_ms", most=0.10),  # a bare side slower than this would flatter us
    Bound("put_answered", equals="tasks_in_ledger"),
)


class Kind(NamedTuple):
    """What is asked, how much one request of it does, how large an answer is, and the bare script."""

    name: str
    asks: str
    each: int
    size: int
    script: Path


class Bench:
    """One database, one API process; every side works on the same tables."""

    def __init__(self, server: Server, database: str, length: float) -> None:
        self.server, self.database, self.length = server, database, length
        self.meter = Meter(server, database)
        self.prepared = Prepared(server, database)
        self.put = 0

    def kinds(self) -> list[Kind]:
        """All that is measured."""
        tenant = self.prepared.tenant.id
        past = bare.history(tenant, *self.prepared.job(JOB), PAGE + 1)
        return [
            Kind("single_put", "put_one", 1, 120, bare.put(tenant, 1)),
            Kind("batch_put", "put_batch", BATCH, 13_000, bare.put(tenant, BATCH)),
            Kind("history", "history", 1, 25_000, past),
            Kind("workers", "work", BATCH, 20_000, bare.work(tenant, QUEUE, BATCH)),
        ]

    def ours(self, kind: Kind, port: int, process: Process, rate: float = 0.0) -> tuple[Slice, Called]:
        """A slice through the door."""
        self._fill(kind)
        cpu = process.cpu_seconds()
        with self.meter.measuring() as cost:
            called = call(self._plan(kind, port, rate))
        if kind.asks.startswith("put"):
            self.put += called.warm + called.done
        spent = process.cpu_seconds() - cpu
        return cost.slice(called.done, called.seconds, spent), called

    def framework(self, kind: Kind) -> Slice:
        """A slice of the framework alone; counted as if every answer were right."""
        with constant(kind.size) as (port, process):
            cpu = process.cpu_seconds()
            called = call(self._plan(kind, port))
            return Slice(called.done, called.seconds, 0.0, process.cpu_seconds() - cpu)

    def bare(self, kind: Kind) -> Slice:
        """A slice of the bare SQL."""
        self._fill(kind)
        return run_pgbench(self.database, [(kind.script, 1)], CONNECTIONS, self.length, self.meter, kind.each)

    def tasks(self) -> int:
        """How many tasks the door has written."""
        counted = f"select count(*) from task_key where job_id <> {bare.TYPE}"
        return int(psql.value(self.server, self.database, counted))

    def _plan(self, kind: Kind, port: int, rate: float = 0.0) -> Plan:
        return Plan(port, kind.asks, self.prepared.key, self.length, BATCH, CONNECTIONS * (4 if rate else 1), rate)

    def _fill(self, kind: Kind) -> None:
        if kind.asks == "work":
            self.prepared.wait_for(int(FASTEST_WORK * (self.length + 1)))


def main(seconds: float) -> dict[str, Any]:
    """Each kind in turn: ours, the framework and the SQL alternating, then ours at half of what it did."""
    size = replace(Size.lasting(seconds, 72), jobs=JOBS)
    return _report(run(size, whole=True), size)


def run(size: Size, *, whole: bool) -> dict[str, Any]:
    """Every kind, ours beside the SQL; the whole has the framework and half of the load, too."""
    found: dict[str, Any] = {}
    with running() as server:
        bench = Bench(server, fresh(server, size.jobs, "bench_api"), size.slice_s)
        with doors(server, bench.database) as (port, process):
            for kind in bench.kinds():
                figures = _measure(bench, kind, port, process, size.slices, whole=whole)
                found |= {f"{kind.name}_{name}": figure for name, figure in figures.items()}
        found |= {"put_answered": bench.put, "tasks_in_ledger": bench.tasks()}
    return found


def _measure(bench: Bench, kind: Kind, port: int, process: Process, slices: int, *, whole: bool) -> dict[str, Any]:
    sides: list[Callable[[int], Slice]] = [lambda _: bench.ours(kind, port, process)[0], lambda _: bench.bare(kind)]
    if not whole:
        return _beside_sql(*alternate(slices, *sides))
    our, below, alone = alternate(slices, *sides, lambda _: bench.framework(kind))
    figures = _beside_sql(our, below)
    _, half = bench.ours(kind, port, process, figures["rate"] / kind.each / 2)
    return figures | _beside_framework(our, alone) | _at_half(half)


def _beside_sql(our: list[Slice], below: list[Slice]) -> dict[str, Any]:
    rate, sql = (middle(side, lambda one: one.rate) for side in (our, below))
    counted = per_fire(our)
    return {
        "rate": round(rate),
        "bare": round(sql),
        "ratio": round(rate / sql, 3),
        "cpu_ratio": round(_pg_ms(below) / (_pg_ms(our) + _own_ms(our)), 3),
        "api_cpu_ms": round(_own_ms(our), 4),
        "pg_cpu_ms": round(_pg_ms(our), 4),
        "bare_pg_cpu_ms": round(_pg_ms(below), 4),
        "tx": counted["tx_per_fire"],
        "writes": counted["writes_per_fire"],
        "statements": counted["statements_per_fire"],
        "wal_bytes": counted["wal_bytes_per_fire"],
        "rates": [round(one.rate) for one in our],
        "bare_rates": [round(one.rate) for one in below],
    }


def _beside_framework(our: list[Slice], alone: list[Slice]) -> dict[str, Any]:
    rate, framework = (middle(side, lambda one: one.rate) for side in (our, alone))
    return {
        "framework": round(framework),
        "framework_ratio": round(rate / framework, 3),
        "framework_cpu_ms": round(_own_ms(alone), 4),
    }


def _at_half(half: Called) -> dict[str, Any]:
    return {"p50_ms": half.p50_ms, "p99_ms": half.p99_ms, "half_rate": round(half.done / half.seconds)}


def _own_ms(side: list[Slice]) -> float:
    return middle(side, lambda one: one.per_fire(one.client_cpu) * 1000)


def _pg_ms(side: list[Slice]) -> float:
    return middle(side, lambda one: one.per_fire(one.pg_cpu) * 1000)


def _report(found: dict[str, Any], size: Size) -> dict[str, Any]:
    settings = {
        "slice_s": size.slice_s, "slices": size.slices, "connections": CONNECTIONS, "batch": BATCH, "page": PAGE,
        "postgresql": SETTINGS,
    }  # fmt: skip
    worst = max(figure for name, figure in found.items() if name.endswith("_p99_ms"))
    return judged({"settings": settings, "p99_ms": worst, **found}, BOUNDS)

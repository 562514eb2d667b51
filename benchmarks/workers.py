"""Workers: no-op tasks through poll and finish, beside the bare drain of the same rows and beside PgQueuer.

Ours is the SDK's own worker over real HTTP, in as many processes as PgQueuer has, and one API process; a task counts
when the server said `done`, after its commit. The bare drain claims and ends the same tasks by the same statements,
with nothing around.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from benchmarks import psql, pulling
from benchmarks.api_server import Prepared, doors, id_of_shard
from benchmarks.bare import api as bare
from benchmarks.bare import neighbour
from benchmarks.bare.pgbench import run as run_pgbench
from benchmarks.data import fresh
from benchmarks.measure import Bound, Size, Slice, alternate, judged, middle
from benchmarks.meter import Meter
from benchmarks.nodes import Process
from benchmarks.server import SETTINGS, Server, running
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import KeyedTrigger
from horae.domain.targets.targets import QueueTarget
from horae.domain.tenants.tenants import Tenant
from horae.runtime.settings import CellSettings
from horae.service.context import Context
from horae.service.jobs import jobs
from horae.store.store import Store

JOBS, CLIENTS, BATCH, CONCURRENCY = 10_000, 8, 100, 2000
PROCESSES = 2
PGQUEUER = {"processes": PROCESSES, "batch_size": 100}
BOUNDS = (Bound("ratio", least=0.85), Bound("vs_pgqueuer", least=1.5))
TYPE = "BENCH_WORK"
FASTEST = 30_000  # tasks a second that must wait for a slice
FILL = """
    with made as materialized (
        select n % 4096 as shard_id, 'w' || nextval('bench_work') as key, {id} as id
        from generate_series(1, {number}) n),
    ledger as (
        insert into task_key (shard_id, tenant_id, job_id, business_key, generation, instance_id, decisions, updated_at)
        select shard_id, '{tenant}', '{job}', key, 1, id, '[]', now() from made)
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, queue, state, business_key, generation, payload)
    select shard_id, id, '{tenant}', '{job}', 1, '{job}:t:' || key || ':1', now(), now(), now(), 1, 0, 60000, '{type}',
           'INIT', key, 1, '{{"n": 1}}' from made"""


async def make_type(cell: CellSettings, tenant: Tenant, name: str) -> None:
    """A type whose tasks wait in a queue of its name."""
    async with Store.of([cell]) as store:
        definition = Definition(trigger=KeyedTrigger(), target=QueueTarget(name, claim_seconds=60))
        await jobs.create(Context.of(store, tenant, "bench"), name, definition)


class Bench:
    """One server; every side drains tasks of its own making."""

    def __init__(self, server: Server, database: str, length: float) -> None:
        self.server, self.database, self.length = server, database, length
        self.meter = Meter(server, database)
        self.prepared = Prepared(server, database)
        self.cell = CellSettings(name=database, dsn=server.dsn(database))
        asyncio.run(make_type(self.cell, self.prepared.tenant, TYPE))
        psql.run(server, database, "create sequence bench_work")
        psql.run(server, "postgres", "drop database if exists bench_pgqueuer", "create database bench_pgqueuer")
        self.drain = bare.work(self.prepared.tenant.id, TYPE, BATCH)
        self.done = self.late = 0

    def ours(self, port: int, process: Process) -> Slice:
        """A slice through the SDK and the door."""
        self._fill_up()
        cpu = process.cpu_seconds()
        before = self._successes()
        with self.meter.measuring() as cost:
            pulled = pulling.run(pulling.Plan(port, self.prepared.key, TYPE, self.length, CONCURRENCY, PROCESSES))
        written = self._successes() - before
        assert written == pulled.all, f"{pulled} but {written} are in history"
        self.done, self.late = self.done + pulled.all, self.late + pulled.late
        share = pulled.done / max(1, pulled.all)
        spent = (process.cpu_seconds() - cpu) * share + pulled.cpu
        return Slice(
            pulled.done, pulled.seconds, cost.pg_cpu * share, spent, int(cost.wal_bytes * share),
            statements=int(cost.statements * share), writes=int(cost.writes * share),
        )  # fmt: skip

    def bare(self) -> Slice:
        """A slice of the bare drain."""
        self._fill_up()
        return run_pgbench(self.database, [(self.drain, 1)], CLIENTS, self.length, self.meter, BATCH)

    def pgqueuer(self) -> Slice:
        """A slice of the neighbour."""
        dsn = self.server.dsn("bench_pgqueuer")
        asyncio.run(neighbour.fill(dsn, int(FASTEST * (self.length + 2))))
        done, seconds = asyncio.run(neighbour.measure(dsn, self.length, *PGQUEUER.values()))
        return Slice(done, seconds)

    def fill(self, name: str, number: int) -> None:
        """So many tasks of a type, due now."""
        _, job = self.prepared.job(name)
        facts = {"id": id_of_shard("n % 4096"), "number": number, "tenant": self.prepared.tenant.id, "job": job}
        psql.run(self.server, self.database, FILL.format(type=name, **facts), "vacuum analyze instance_live, task_key")

    def _fill_up(self) -> None:
        """As many tasks as a slice can take, whatever is left from before."""
        waiting = int(
            psql.value(self.server, self.database, f"select count(*) from instance_live where queue = '{TYPE}'")
        )
        self.fill(TYPE, max(0, int(FASTEST * (self.length + 2)) - waiting))

    def _successes(self) -> int:
        _, job = self.prepared.job(TYPE)
        counted = f"select count(*) from instance_history where job_id = '{job}' and state = 'SUCCESS'"
        return int(psql.value(self.server, self.database, counted))


def main(seconds: float) -> dict[str, Any]:
    """The three sides in turn."""
    size = replace(Size.lasting(seconds, 15), jobs=JOBS, slices=5 if seconds >= 20 else 2)
    return _report(run(size, neighbours=True), size)


def run(size: Size, *, neighbours: bool) -> dict[str, Any]:
    """Ours and the bare drain in turn, with the neighbours where asked."""
    with running() as server:
        bench = Bench(server, fresh(server, size.jobs, "bench_workers"), size.slice_s)
        with doors(server, bench.database) as (port, process):
            sides: list[Callable[[int], Slice]] = [lambda _: bench.ours(port, process), lambda _: bench.bare()]
            if neighbours:
                sides.append(lambda _: bench.pgqueuer())
            ours, drain, *theirs = alternate(size.slices, *sides)
    found = _beside_bare(ours, drain) | {"done": bench.done, "late": bench.late}
    return found | (_beside_pgqueuer(ours, *theirs) if neighbours else {})


def _beside_bare(ours: list[Slice], drain: list[Slice]) -> dict[str, Any]:
    rate, bare_rate = (middle(side, lambda one: one.rate) for side in (ours, drain))
    return {
        "rate": round(rate),
        "bare": round(bare_rate),
        "ratio": round(rate / bare_rate, 3),
        "cpu_ms_per_task": round(middle(ours, lambda one: one.per_fire(one.client_cpu) * 1000), 4),
        "pg_cpu_ms_per_task": round(middle(ours, lambda one: one.per_fire(one.pg_cpu) * 1000), 4),
        "bare_pg_cpu_ms_per_task": round(middle(drain, lambda one: one.per_fire(one.pg_cpu) * 1000), 4),
        "writes_per_task": round(middle(ours, lambda one: one.per_fire(one.writes)), 4),
        "statements_per_task": round(middle(ours, lambda one: one.per_fire(one.statements)), 4),
        "wal_bytes_per_task": round(middle(ours, lambda one: one.per_fire(one.wal_bytes))),
        "rates": [round(one.rate) for one in ours],
        "bare_rates": [round(one.rate) for one in drain],
    }


def _beside_pgqueuer(ours: list[Slice], theirs: list[Slice]) -> dict[str, Any]:
    rate, their_rate = (middle(side, lambda one: one.rate) for side in (ours, theirs))
    return {
        "pgqueuer": round(their_rate),
        "vs_pgqueuer": round(rate / their_rate, 3),
        "pgqueuer_rates": [round(one.rate) for one in theirs],
    }


def _report(found: dict[str, Any], size: Size) -> dict[str, Any]:
    settings = {
        "slice_s": size.slice_s, "slices": size.slices, "api_processes": 1, "worker_processes": PROCESSES,
        "concurrency": CONCURRENCY,
        "bare": {"clients": CLIENTS, "batch": BATCH}, "pgqueuer": {"version": neighbour.VERSION, **PGQUEUER},
        "seen_before": json.loads(SEEN), "postgresql": SETTINGS,
    }  # fmt: skip
    return judged({"settings": settings, **found}, BOUNDS)


SEEN = '{"graphile-worker": 15500, "Dramatiq": 4050, "Celery": 650, "Procrastinate": 320}'
"""Of others on two such cores, in earlier runs that were not repeated here."""

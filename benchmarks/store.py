"""The lifecycle through `store/`, beside pgbench on the same tables and statements.

Fire (cursor moved, instance born RUNNING), then end (live row becomes history), 100 at a time, fence in every
transaction. Each worker owns a fourth of the 4,096 shards, so a batch spans about 95 of them.
"""

import asyncio
import time
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import uvloop

from benchmarks import psql, tasks
from benchmarks.bare import tasks as bare_tasks
from benchmarks.bare.lifecycle import Scripts
from benchmarks.bare.pgbench import run as run_pgbench
from benchmarks.data import fresh
from benchmarks.measure import Bound, Size, Slice, alternate, judged, middle, own_cpu, per_fire
from benchmarks.meter import Meter
from benchmarks.server import ROLE, SETTINGS, Server, running
from horae.domain.instances import idempotency_keys
from horae.domain.instances.instances import Instance, Lane, Priority
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import InstanceEnd
from horae.domain.placement import SHARDS, Run
from horae.domain.schedules.timers import Timer
from horae.runtime.randomness import new_id, new_token
from horae.store.cells import SESSION, use_json
from horae.store.instances import instances
from horae.store.instances.instances import Attempt, EndRow
from horae.store.nodes.scans import BEGINNING, ScanMark, ScanRange
from horae.store.schedules import cursors
from horae.store.schedules.cursors import FireRow
from horae.store.tx import Tx

BATCH, WORKERS, PERIOD = 100, 8, 60
BOUNDS = (
    Bound("ratio", least=0.60),
    Bound("pg_cpu_ratio", most=1.15),
    Bound("client_cpu_ms_per_fire", most=0.05),
    Bound("wal_bytes_per_fire", most=2000),
    Bound("tx_per_fire", most=0.05),
    Bound("bare_vs_single_table", least=1.2),
    Bound("bare_pg_cpu_ms_per_fire", most=0.10),
    Bound("fires", equals="rows_in_history"),
)
DONE = InstanceEnd(State.SUCCESS, 0)


class Worker:
    """One connection that fires and ends what is due in its shards; time is the due front's, not the wall's."""

    def __init__(self, number: int) -> None:
        self.run = Run(SHARDS * number // WORKERS, SHARDS * (number + 1) // WORKERS - 1)
        self.owner = new_token()
        self.mark = ScanMark(Priority.NORMAL, Lane.FIRST)
        self.fires = 0

    async def work(self, dsn: str, until: float) -> None:
        """Batch after batch until the wall clock says stop; one at least, however busy the machine is."""
        connection = await asyncpg.connect(dsn, server_settings=SESSION)
        await use_json(connection)
        try:
            while not self.fires or time.monotonic() < until:
                tx = Tx(connection, datetime.now(UTC))
                found = await cursors.due(tx, self.run, ScanRange(FAR, limit=BATCH), [self.mark])
                self.mark, tx.now = self.mark.at_timer(found[-1]), found[-1].at
                self.fires += await lifecycle(tx, found, self.owner)
        finally:
            await connection.close()


FAR = datetime(2100, 1, 1, tzinfo=UTC)
EVERY = timedelta(seconds=PERIOD)
TENANT = new_id(0, BEGINNING)


async def lifecycle(tx: Tx, found: list[Timer], owner: Any) -> int:
    """Fire a batch and end it."""
    mark = new_token()
    fires = [
        FireRow(timer.shard, timer.id, timer.version, timer.at, timer.at + EVERY, new_id(timer.shard, tx.now),
             idempotency_keys.recurring_key(timer.id, timer.at), timer.at, mark, 13_000)
        for timer in sorted(found)
    ]  # fmt: skip
    born = await cursors.fire(tx, Priority.NORMAL, fires, owner)
    endings = [EndRow(_ran(fire), DONE, Attempt(1, 200, None, 3, None), 2) for fire in fires if fire.id in born]
    return len(await instances.end(tx, endings))


def _ran(fire: FireRow) -> Instance:
    return Instance(
        shard=fire.shard, id=fire.id, tenant_id=TENANT, job_id=fire.job_id, job_version=1, idem_key=fire.idem_key,
        fire_time=fire.fire_time, due_at=fire.due_at, state=State.RUNNING, attempt=1, token=fire.token,
    )  # fmt: skip


def ours(
    server: Server, database: str, meter: Meter, seconds: float, beside: Coroutine[Any, Any, None] | None = None
) -> Slice:
    """One slice of the store; with something running beside it, if asked."""
    workers = [Worker(number) for number in range(WORKERS)]

    async def work() -> None:
        neighbour = asyncio.create_task(beside) if beside is not None else None
        until = time.monotonic() + seconds
        await asyncio.gather(*(worker.work(server.dsn(database, ROLE), until) for worker in workers))
        if neighbour is not None:
            neighbour.cancel()

    with meter.measuring() as cost:
        began, cpu = time.monotonic(), own_cpu()
        uvloop.run(work())
        took, cpu = time.monotonic() - began, own_cpu() - cpu
    fires = sum(worker.fires for worker in workers)
    return cost.slice(fires, took, cpu)


def main(seconds: float) -> dict[str, Any]:
    """The full size; a test asks for less than a second and a half a slice."""
    return run(Size.lasting(seconds, 22, shortest_s=0.0))


def run(size: Size) -> dict[str, Any]:
    """Ours, the bare lifecycle, a bare single table and the append-only limit in turn; then tasks, ours and bare."""
    with running() as server:
        bench = Bench(server, size)
        sides = alternate(size.slices, bench.ours, bench.bare, bench.single)
        written = bench.written()
        limit = bench.append_only()
        task_sides = alternate(3, bench.tasks, bench.bare_tasks)
    return _report(sides, task_sides, limit, written, size)


class Bench:
    """A database for each kind of rows; ours and the bare lifecycle work on the same one."""

    def __init__(self, server: Server, size: Size) -> None:
        self.server, self.length = server, size.slice_s
        names = ("bench_store", "bench_single", "bench_task")
        self.database, self.single_db, self.task_db = (fresh(server, size.jobs, name) for name in names)
        self.meters = {name: Meter(server, name) for name in names}
        self.scripts = Scripts(WORKERS, BATCH, PERIOD)
        self.single_script = self.scripts.single(server, self.single_db)
        self.rows_before = _rows(server, self.database)
        for name in names:
            psql.run(server, name, "alter table instance_live set (autovacuum_enabled = off)")
            psql.run(server, name, "alter table job_cursor set (autovacuum_enabled = off)")

    def ours(self, _: int = 0) -> Slice:
        """A slice through the store."""
        return self._tidy(self.database, ours(self.server, self.database, self.meters[self.database], self.length))

    def bare(self, _: int = 0) -> Slice:
        """A slice of the same statements with nothing around."""
        return self._tidy(self.database, self._bare(self.database, [(self.scripts.lifecycle(), 1)], BATCH))

    def single(self, _: int = 0) -> Slice:
        """A slice on one table that is updated."""
        return self._tidy(self.single_db, self._bare(self.single_db, [(self.single_script, 1)], BATCH))

    def append_only(self) -> Slice:
        """What cannot be left out, for twice as long."""
        script = [(self.scripts.append(), 1)]
        return run_pgbench(self.single_db, script, WORKERS, 2 * self.length, self.meters[self.single_db], BATCH)

    def tasks(self, _: int = 0) -> Slice:
        """A slice of tasks through the store."""
        return tasks.ours(self.server, self.task_db, self.meters[self.task_db], self.length, WORKERS)

    def bare_tasks(self, _: int = 0) -> Slice:
        """The same rows with nothing around."""
        puts = [(bare_tasks.put(), BATCH), (bare_tasks.drain(BATCH, SHARDS // WORKERS), 1)]
        return self._bare(self.task_db, puts, 1)

    def written(self) -> int:
        """History rows since the beginning."""
        return _rows(self.server, self.database) - self.rows_before

    def _bare(self, database: str, scripts: list[tuple[Path, int]], fires_each: int) -> Slice:
        return run_pgbench(database, scripts, WORKERS, self.length, self.meters[database], fires_each)

    def _tidy(self, name: str, one: Slice) -> Slice:
        """What upkeep does, outside of what is measured: every slice begins alike."""
        psql.run(self.server, name, "vacuum instance_live", "vacuum job_cursor")
        return one


def _rows(server: Server, database: str) -> int:
    return int(psql.value(server, database, "select count(*) from instance_history"))


def _report(
    sides: list[list[Slice]], task_sides: list[list[Slice]], limit: Slice, written: int, size: Size
) -> dict[str, Any]:
    our, bare, single = sides
    our_tasks, bare_tasks_ = task_sides

    def pg_ms(side: list[Slice]) -> float:
        return middle(side, lambda s: s.per_fire(s.pg_cpu) * 1000)

    rate, bare_rate, single_rate = (middle(side, lambda s: s.rate) for side in (our, bare, single))
    task_rate, bare_task_rate = (middle(side, lambda s: s.rate) for side in task_sides)
    found = {
        "settings": {
            "jobs": size.jobs, "batch": BATCH, "workers": WORKERS, "slice_s": size.slice_s, "slices": len(our),
            "postgresql": SETTINGS,
        },
        "rate": round(rate),
        "bare": round(bare_rate),
        "single_table": round(single_rate),
        "ratio": round(rate / bare_rate, 3),
        "bare_vs_single_table": round(bare_rate / single_rate, 3),
        "pg_cpu_ms_per_fire": round(pg_ms(our), 4),
        "bare_pg_cpu_ms_per_fire": round(pg_ms(bare), 4),
        "single_pg_cpu_ms_per_fire": round(pg_ms(single), 4),
        "pg_cpu_ratio": round(pg_ms(our) / pg_ms(bare), 3),
        "client_cpu_ms_per_fire": round(middle(our, lambda s: s.per_fire(s.client_cpu) * 1000), 4),
        **per_fire(our),
        "bare_wal_bytes_per_fire": round(middle(bare, lambda s: s.per_fire(s.wal_bytes))),
        "single_wal_bytes_per_fire": round(middle(single, lambda s: s.per_fire(s.wal_bytes))),
        "append_only_rate": round(limit.rate),
        "append_only_wal_bytes_per_fire": round(limit.per_fire(limit.wal_bytes)),
        "append_only_pg_cpu_ms_per_fire": round(limit.per_fire(limit.pg_cpu) * 1000, 4),
        "bare_vs_append_only": round(bare_rate / limit.rate, 3),
        "task_rate": round(task_rate),
        "task_bare": round(bare_task_rate),
        "task_ratio": round(task_rate / bare_task_rate, 3),
        "task_pg_cpu_ms": round(pg_ms(our_tasks), 4),
        "task_bare_pg_cpu_ms": round(pg_ms(bare_tasks_), 4),
        "task_client_cpu_ms": round(middle(our_tasks, lambda s: s.per_fire(s.client_cpu) * 1000), 4),
        "task_wal_bytes": round(middle(our_tasks, lambda s: s.per_fire(s.wal_bytes))),
        "fires": sum(s.fires for s in (*our, *bare)),
        "rows_in_history": written,
        "rates": [round(s.rate) for s in our],
        "bare_rates": [round(s.rate) for s in bare],
    }  # fmt: skip
    return judged(found, BOUNDS)

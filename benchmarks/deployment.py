"""Some cells and some real nodes on this machine, and what a stretch of load costs them.

Every cell is a database of its own with its part of the shards, all of them on one PostgreSQL: statements, connections
and leases are counted by database, as if each cell had a server. The CPU of PostgreSQL is that of all cells together.
"""

import asyncio
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks import psql
from benchmarks.data import TENANT, insert_jobs, tenant_row
from benchmarks.measure import percentile
from benchmarks.nodes import Process, node
from benchmarks.push import park, rest, wake
from benchmarks.server import Server
from benchmarks.target import Arrival, Target
from horae.runtime.settings import CellSettings
from horae.store import migrations

PERIOD_S: Final = 60
OWN_SHARD: Final = "(select array_agg(shard_id) from shard where state = 'ACTIVE')[1 + n % {shards}]"
MOST_STARTING_S: Final = 90.0
SETTLED_S: Final = 2.0
"""Seconds for which the leases must not change before anything is measured, and nothing be fired after it."""
STARTED_S: Final = 8.0
"""Seconds after the leases are settled in which nodes still do what they do only once."""
MOST_DRAINING_S: Final = 60.0
WARM_S: Final = 1.0
COUNTERS: Final = """
select coalesce(sum(calls), 0),
       coalesce(sum(calls) filter (where query ~ 'update job_cursor' and query ~ 'insert into instance_live'), 0),
       coalesce(sum(calls) filter (where query ~ 'insert into instance_history'), 0),
       coalesce(sum(calls) filter (where query ~ 'insert into node |delete from node |set owner'), 0)
from pg_stat_statements s join pg_database d on d.oid = s.dbid where d.datname = '{database}'
"""


class StatementCounts(NamedTuple):
    """Statements of a database so far: all, those that fire, those that write results, and those of leases."""

    statements: float
    fires: float
    results: float
    leases: float


class Stretch(NamedTuple):
    """What one stretch of load did and cost, over all nodes and cells. Times are seconds, lateness milliseconds.

    `others_cpu_s` is what the rest of the machine did meanwhile: it disturbs rates and lateness.
    """

    seconds: float
    fires: int
    node_cpu_s: float
    postgresql_cpu_s: float
    target_cpu_s: float
    others_cpu_s: float
    statements: float
    fire_statements: float
    result_statements: float
    lease_statements: float
    connections: int
    late_ms: Sequence[float]

    def figures(self) -> dict[str, Any]:
        """The figures for a report."""
        found = self._asdict()
        late = found.pop("late_ms")
        shown = {name: round(value, 3) for name, value in found.items()}
        if not late:
            return shown
        return shown | {f"p{which}_ms": round(percentile(late, which), 1) for which in (50, 95, 99)}


class Deployment:
    """Cells with jobs that are due when a stretch asks for it, and a target that answers at once."""

    def __init__(self, server: Server, target: Target, cells: int, jobs: int) -> None:
        self.server, self.target = server, target
        self.jobs = jobs // cells
        self.databases = [f"bench_cell_{number + 1}_of_{cells}" for number in range(cells)]
        self._create()
        psql.run(server, "postgres", "create extension if not exists pg_stat_statements")

    def _create(self) -> None:
        for name in self.databases:
            psql.run(self.server, "postgres", f"drop database if exists {name} with (force)", f"create database {name}")
        settings = [CellSettings(name=name, dsn=self.server.dsn(name)) for name in self.databases]
        asyncio.run(migrations.migrate(settings, "test"))
        for name in self.databases:
            shards = psql.value(self.server, name, "select count(*) from shard where state = 'ACTIVE'")
            jobs = insert_jobs(self.jobs, PERIOD_S, OWN_SHARD.format(shards=shards))
            psql.run(self.server, name, tenant_row(TENANT), jobs, "vacuum (analyze)")
            park(self.server, name)

    @contextmanager
    def running(self, nodes: int) -> Iterator[list[Process]]:
        """So many nodes over all cells, which have divided the shards among themselves."""
        with ExitStack() as stack:
            processes = [stack.enter_context(node(self.server, *self.databases)) for _ in range(nodes)]
            self.wait_for_leases(nodes)
            time.sleep(STARTED_S)
            yield processes

    def wait_for_leases(self, nodes: int) -> None:
        """Wait until so many nodes have divided the shards of every cell."""
        deadline, seen, since = time.monotonic() + MOST_STARTING_S, None, time.monotonic()
        while time.monotonic() < deadline:
            found = [self._owners(name) for name in self.databases]
            if found != seen:
                seen, since = found, time.monotonic()
            elif all(len(one) == nodes for one in found) and time.monotonic() - since >= SETTLED_S:
                return
            time.sleep(0.2)
        raise RuntimeError(f"the nodes did not divide the shards within {MOST_STARTING_S:g} s")

    def _owners(self, database: str) -> dict[str, str]:
        """How many shards each owner has; a shard without an owner counts as an owner of its own."""
        owners = "select coalesce(owner::text, shard_id::text) as owner from shard where state = 'ACTIVE'"
        rows = psql.value(
            self.server, database, f"select owner || ' ' || count(*) from ({owners}) o group by owner order by owner"
        )
        return dict(line.split() for line in rows.splitlines())

    def load(self, processes: Sequence[Process], rate: float, seconds: float, lead_s: float = 4.0) -> Stretch:
        """A stretch in which fires are due at this rate, evenly over the cells."""
        first = self._make_due(rate, WARM_S + seconds + 1, lead_s)
        self.target.reset()
        _sleep(first + WARM_S)
        found = self._measure(processes, seconds)
        arrivals = self.target.arrivals()
        for name in self.databases:
            rest(self.server, name)
        self._wait_until_idle()
        return _with_arrivals(found, arrivals, first + WARM_S)

    def _wait_until_idle(self) -> None:
        """Wait until no node tries to fire any more: after an overload they still know what is not due any more."""
        deadline, seen, since = time.monotonic() + MOST_DRAINING_S, -1.0, time.monotonic()
        while time.monotonic() < deadline and time.monotonic() - since < SETTLED_S:
            found = sum(one.fires for one in self._counts().values())
            if found != seen:
                seen, since = found, time.monotonic()
            time.sleep(0.2)

    def idle(self, processes: Sequence[Process], seconds: float) -> Stretch:
        """A stretch in which nothing is due."""
        return self._measure(processes, seconds)

    def _make_due(self, rate: float, seconds: float, lead_s: float) -> float:
        """Make cursors due from a moment on, at this rate over all cells; returns the moment."""
        each = rate / len(self.databases)
        most = min(self.jobs, int(each * seconds))
        for longer in (1, 2, 4, 8):
            first = time.time() + longer * lead_s
            for name in self.databases:
                psql.run(
                    self.server,
                    name,
                    f"""update job_cursor c set next_fire_at = to_timestamp({first}) + o.n * interval '1 s' / {each}
                        from (select shard_id, job_id, row_number() over () as n
                              from (select shard_id, job_id from job_cursor order by job_id limit {most}) chosen) o
                        where c.shard_id = o.shard_id and c.job_id = o.job_id""",
                    "vacuum job_cursor",
                )
            if time.time() < first - 1:
                for name in self.databases:
                    wake(self.server, name, first, first + seconds)
                return first
        raise RuntimeError("preparing took too long")

    def _measure(self, processes: Sequence[Process], seconds: float) -> Stretch:
        before, cpu = self._counts(), self._cpu(processes)
        began, machine_s = time.time(), _machine_cpu_s()
        time.sleep(seconds / 2)
        connections = self._connections()
        _sleep(began + seconds)
        machine_s = _machine_cpu_s() - machine_s
        after, spent = self._counts(), self._cpu(processes)
        counted = [sum(one) for one in zip(*(_difference(after[name], before[name]) for name in before), strict=True)]
        node_cpu_s, postgresql_cpu_s, target_cpu_s = (now - then for now, then in zip(spent, cpu, strict=True))
        others_cpu_s = max(0.0, machine_s - node_cpu_s - postgresql_cpu_s - target_cpu_s)
        took = time.time() - began
        return Stretch(took, 0, node_cpu_s, postgresql_cpu_s, target_cpu_s, others_cpu_s, *counted, connections, ())

    def _counts(self) -> Mapping[str, StatementCounts]:
        """By database. The counters are read in another database, so that reading them is not counted."""
        return {
            name: StatementCounts(
                *map(float, psql.value(self.server, "postgres", COUNTERS.format(database=name)).split("|"))
            )
            for name in self.databases
        }

    def _cpu(self, processes: Sequence[Process]) -> tuple[float, float, float]:
        nodes = sum(one.cpu_seconds() for one in processes)
        return nodes, self.server.cpu_seconds(), self.target.cpu_seconds()

    def _connections(self) -> int:
        names = ", ".join(f"'{name}'" for name in self.databases)
        counted = (
            f"select count(*) from pg_stat_activity where datname in ({names}) and backend_type = 'client backend'"
        )
        return int(psql.value(self.server, "postgres", counted))


def _machine_cpu_s() -> float:
    """Processor time of the whole machine, with what its host took away."""
    fields = list(map(int, Path("/proc/stat").read_text().splitlines()[0].split()[1:9]))
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")  # without idle and waiting for a disk


def _difference(after: StatementCounts, before: StatementCounts) -> list[float]:
    return [now - then for now, then in zip(after, before, strict=True)]


def _with_arrivals(found: Stretch, arrivals: Sequence[Arrival], begin: float) -> Stretch:
    """The stretch with what the target saw of it."""
    seen = [one.late_ms for one in arrivals if begin <= one.at < begin + found.seconds]
    return found._replace(fires=len(seen), late_ms=seen)


def _sleep(until: float) -> None:
    time.sleep(max(0.0, until - time.time()))

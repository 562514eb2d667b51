"""3 M jobs: how soon a node fires, what a fire costs beside 10,000 jobs, and what a node asks while nothing is due."""

import time
from statistics import median
from typing import Any

from benchmarks import psql
from benchmarks.data import fresh
from benchmarks.measure import Bound, judged
from benchmarks.meter import Meter
from benchmarks.nodes import node
from benchmarks.server import SETTINGS, Server, running
from benchmarks.target import Target, receiving

SMALL, LARGE = 10_000, 3_000_000
RATE = 3_000
WARM, IDLE = 6.0, 60.0
"""Seconds: a minute has a round of every duty that counts."""
MAX_IDLE_PER_S = 2.0
"""Statements of an idle node in one cell, heartbeats and upkeep included."""
ROUNDS = 3
BOUNDS = (
    Bound("ready_s", most=15),
    Bound("rss_mb", most=1024),
    Bound("cpu_growth", most=1.1),
    Bound("rate", least=0.99 * RATE),
    Bound("idle_queries_per_s", most=MAX_IDLE_PER_S),
)


def spread(server: Server, database: str, jobs: int) -> None:
    """`RATE` fires a second from the first job on; the few jobs come round again, the many do not within a run."""
    psql.run(
        server,
        database,
        f"""update job_cursor c set next_fire_at = clock_timestamp() + interval '1 h' + o.n * interval '1 s' / {RATE}
            from (select shard_id, job_id, row_number() over () as n from job_cursor) o
            where c.shard_id = o.shard_id and c.job_id = o.job_id""",
        "vacuum (analyze) job_cursor",
    )
    if jobs == SMALL:
        every = f"jsonb_set(definition, '{{trigger,every}}', '{jobs / RATE:.6f}')"
        psql.run(server, database, f"update job_version set definition = {every}", "vacuum job_version")


def now_due(server: Server, database: str) -> None:
    """Move the cell's time, instead of three million rows, to a second before the first fire that is left."""
    psql.run(
        server,
        database,
        """update clock_offset set offset_ms = (select extract(epoch from min(next_fire_at) - clock_timestamp()) * 1000
                                                from job_cursor where next_fire_at > clock_timestamp()) - 4000""",
    )


class Bench:
    """A database with many jobs, or with few."""

    def __init__(self, server: Server, target: Target, jobs: int) -> None:
        self.server = server
        self.target = target
        self.database = fresh(server, jobs, f"bench_million_{jobs}")
        spread(server, self.database, jobs)

    def fires(self, seconds: float) -> dict[str, float]:
        """Start a node, wait for its first fire, then measure."""
        now_due(self.server, self.database)
        self.target.reset()
        began = time.time()
        with node(self.server, self.database) as process:
            while not self.target.count():
                time.sleep(0.1)
            ready = time.time() - began
            time.sleep(WARM)
            before, cpu = self.target.count(), process.cpu_seconds()
            with Meter(self.server, self.database).measuring() as cost:
                time.sleep(seconds)
                cpu, many = process.cpu_seconds() - cpu, self.target.count() - before
            rss = process.rss_mb()
        return {
            "ready_s": ready,
            "rss_mb": rss,
            "rate": many / seconds,
            "cpu_ms": (cpu + cost.pg_cpu) / max(many, 1) * 1000,
            "node_ms": cpu / max(many, 1) * 1000,
        }

    def idle_queries(self) -> float:
        """Statements a second of a node with its upkeep, in one cell in which nothing is due for 50 minutes.

        Time does not go back beyond the making of the rows: they would count as changed just now.
        """
        psql.run(
            self.server,
            self.database,
            """update clock_offset
               set offset_ms = (select extract(epoch from min(next_fire_at) - clock_timestamp()) * 1000 from job_cursor)
                               - 3000000""",
        )
        psql.run(self.server, "postgres", "create extension if not exists pg_stat_statements")
        calls = f"""select coalesce(sum(calls), 0) from pg_stat_statements s join pg_database d on d.oid = s.dbid
                    where d.datname = '{self.database}'"""
        with node(self.server, self.database):
            time.sleep(WARM)
            before = int(psql.value(self.server, "postgres", calls))
            time.sleep(IDLE)
            return (int(psql.value(self.server, "postgres", calls)) - before) / IDLE


def main(seconds: float) -> dict[str, Any]:
    """Few and many in turn."""
    length = min(10.0, max(2.0, seconds / 8))
    with running() as server, receiving() as target:
        small, large = Bench(server, target, SMALL), Bench(server, target, LARGE)
        few, many = [], []
        for _ in range(ROUNDS):
            few.append(small.fires(length))
            many.append(large.fires(length))
        idle = large.idle_queries()

    def middle(side: list[dict[str, float]], name: str) -> float:
        return median(one[name] for one in side)

    found = {
        "settings": {"few": SMALL, "rate": RATE, "slice_s": length, "postgresql": SETTINGS},
        "jobs": LARGE,
        "ready_s": round(max(one["ready_s"] for one in many), 2),
        "rss_mb": round(max(one["rss_mb"] for one in many)),
        "rate": round(middle(many, "rate")),
        "rate_few": round(middle(few, "rate")),
        "cpu_ms_per_fire": round(middle(many, "cpu_ms"), 4),
        "cpu_ms_per_fire_few": round(middle(few, "cpu_ms"), 4),
        "node_cpu_ms_per_fire": round(middle(many, "node_ms"), 4),
        "node_cpu_ms_per_fire_few": round(middle(few, "node_ms"), 4),
        "cpu_growth": round(middle(many, "cpu_ms") / middle(few, "cpu_ms"), 3),
        "idle_queries_per_s": round(idle, 2),
    }
    return judged(found, BOUNDS)

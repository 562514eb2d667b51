"""Everybody at the same second: 10,000, 20,000 and 100,000 jobs at once, and critical fires beside the largest herd."""

import time
from statistics import median
from typing import Any

from benchmarks import psql, push
from benchmarks.data import fresh
from benchmarks.nodes import node
from benchmarks.push import LEAD, park
from benchmarks.server import SETTINGS, Server, running
from benchmarks.target import Arrival, Target, receiving

SIZES = (10_000, 20_000, 100_000)
CRITICAL_RATE = 500
LONGEST = 60.0


def gather(server: Server, database: str, size: int, critical: int) -> float:
    """So many cursors at one moment, and so many critical ones a second from then on. Returns the moment."""
    first = time.time() + LEAD + 8
    psql.run(
        server,
        database,
        f"""update job_cursor c
            set priority = case when o.n <= {size} then 1 else 0 end,
                next_fire_at = to_timestamp({first})
                    + case when o.n <= {size} then 0 else (o.n - {size}) end * interval '1 s' / {max(critical, 1)}
            from (select shard_id, job_id, row_number() over () as n from job_cursor
                  limit {size + int(critical * LONGEST / 2)}) o
            where c.shard_id = o.shard_id and c.job_id = o.job_id""",
        "vacuum job_cursor",
        "vacuum instance_live",
    )
    return first


def drain(server: Server, database: str, target: Target, size: int, critical: int = 0) -> list[Arrival]:
    """Let a node serve the herd; returns what arrived."""
    first = gather(server, database, size, critical)
    target.reset()
    with node(server, database):
        deadline = first + LONGEST
        waiting = 1
        while waiting and time.time() < deadline:
            time.sleep(0.5)
            waiting = int(
                psql.value(
                    server,
                    database,
                    f"select count(*) from job_cursor where priority = 1 and next_fire_at <= to_timestamp({first + 1})",
                )
            )
        time.sleep(1)
        found = target.arrivals()
    park(server, database)
    return found


def main(seconds: float) -> dict[str, Any]:
    """The rate of `push` first, in this very run: a herd's bound follows from it."""
    with running() as server, receiving() as target:
        bench = push.Bench(server, target, min(5.0, max(1.5, seconds / 10)))
        with node(server, bench.ours_db) as process:
            bench.ours(process)
            rate = median(bench.ours(process)[0].rate for _ in range(3))
        database = fresh(server, push.JOBS, "bench_herd")
        park(server, database)
        herds = {size: drain(server, database, target, size) for size in SIZES}
        mixed = drain(server, database, target, SIZES[-1], CRITICAL_RATE)
    return _report(rate, herds, mixed)


def _report(rate: float, herds: dict[int, list[Arrival]], mixed: list[Arrival]) -> dict[str, Any]:
    late = {size: [seen.late_ms for seen in arrivals] for size, arrivals in herds.items()}
    herd_time = min(seen.fire_time for seen in mixed)
    critical = [seen.late_ms for seen in mixed if seen.fire_time > herd_time]
    found: dict[str, Any] = {"settings": {"jobs": push.JOBS, "postgresql": SETTINGS}, "push_rate": round(rate)}
    for size, values in late.items():
        name = f"{size // 1000}k"
        found[f"p95_{name}_ms"] = round(push._percentile(values, 95))
        found[f"bound_{name}_ms"] = round(1.2 * 0.95 * size / rate * 1000)
        found[f"drained_{name}_s"] = round(max(values) / 1000, 2)
        found[f"arrived_{name}"] = len(values)
    found["critical"] = len(critical)
    found["critical_p95_ms"] = round(push._percentile(critical, 95), 1)
    held = all(found[f"p95_{size // 1000}k_ms"] <= found[f"bound_{size // 1000}k_ms"] for size in SIZES[1:])
    whole = all(len(values) == size for size, values in late.items())
    ok = whole and held and found["p95_10k_ms"] < 2000 and found["critical_p95_ms"] < 2000
    return found | {"ok": ok}

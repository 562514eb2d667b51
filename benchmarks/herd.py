"""Everybody at the same second: 10,000, 20,000 and 100,000 jobs at once, and critical fires beside the largest herd."""

import time
from statistics import median
from typing import Any

from benchmarks import psql, push
from benchmarks.data import fresh
from benchmarks.measure import Bound, Size, judged, percentile
from benchmarks.nodes import node
from benchmarks.push import park
from benchmarks.server import SETTINGS, Server, running
from benchmarks.target import Arrival, Target, receiving

SIZES = (10_000, 20_000, 100_000)
CRITICAL_RATE = 500
COUPONS_P95_MS = 1800.0
"""What example 1 of seed 002 asks of coupons that are due every five minutes, all at one moment."""
LONGEST = 60.0
START_S = 8.0  # a node starts within it, beside the lead


def gather(server: Server, database: str, size: int, critical: int, lead_s: float) -> float:
    """So many cursors at one moment, and so many critical ones a second from then on. Returns the moment."""
    first = time.time() + lead_s
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


def drain(server: Server, database: str, target: Target, size: int, lead_s: float, critical: int = 0) -> list[Arrival]:
    """Let a node serve the herd; returns what arrived."""
    first = gather(server, database, size, critical, lead_s)
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
    """The rate of `push` first, in this very run: a herd's bound follows from it. Then the herds, then both."""
    size = Size.lasting(seconds, 10)
    lead_s = size.lead_s + START_S
    with running() as server, receiving() as target:
        bench = push.Bench(server, target, size)
        with node(server, bench.ours_db) as process:
            bench.ours(process)
            rate = median(bench.ours(process)[0].rate for _ in range(3))
        database = fresh(server, size.jobs, "bench_herd")
        park(server, database)
        late = {herd: drain(server, database, target, herd, lead_s) for herd in SIZES}
        mixed = drain(server, database, target, SIZES[-1], lead_s, CRITICAL_RATE)
    return _report(size, rate, late, mixed)


def _report(size: Size, rate: float, herds: dict[int, list[Arrival]], mixed: list[Arrival]) -> dict[str, Any]:
    found: dict[str, Any] = {"settings": {"jobs": size.jobs, "postgresql": SETTINGS}, "push_rate": round(rate)}
    bounds = []
    for herd, arrivals in herds.items():
        values, name = [seen.late_ms for seen in arrivals], f"{herd // 1000}k"
        most = COUPONS_P95_MS if herd == SIZES[0] else round(1.2 * 0.95 * herd / rate * 1000) if rate else 0.0
        found[f"p95_{name}_ms"] = round(percentile(values, 95), 1)
        found[f"bound_{name}_ms"] = most
        found[f"drained_{name}_s"] = round(max(values, default=0.0) / 1000, 2)
        found[f"arrived_{name}"] = len(values)
        bounds += [Bound(f"arrived_{name}", least=herd, most=herd), Bound(f"p95_{name}_ms", most=most)]
    largest = f"drained_{SIZES[-1] // 1000}k_s"
    found[f"bound_{largest}"] = round(1.1 * SIZES[-1] / rate, 2) if rate else 0.0
    bounds.append(Bound(largest, most=found[f"bound_{largest}"]))
    herd_time = min((seen.fire_time for seen in mixed), default=None)
    critical = [seen.late_ms for seen in mixed if seen.fire_time != herd_time]
    found |= {"critical": len(critical), "critical_p95_ms": round(percentile(critical, 95), 1)}
    return judged(found, [*bounds, Bound("critical_p95_ms", most=2000)])

"""Fires through real HTTP to a trivial server, beside the bare pusher; then how late at half of that and at 200/s.

Each slice begins alike: every cursor is put ahead, due one after the other at a rate above what the machine can do.
What counts is what the target saw in the middle of the slice.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from benchmarks import psql, wrapped
from benchmarks.data import fresh
from benchmarks.measure import Bound, Size, Slice, alternate, judged, middle, per_fire, percentile
from benchmarks.meter import Meter
from benchmarks.nodes import Process, node
from benchmarks.server import FOLDER, SETTINGS, Server, running
from benchmarks.target import Arrival, Target, receiving
from horae.domain.nodes.wakes import Wake, encode
from horae.store.nodes.wakes import CHANNEL

OFFERED = 20_000
WARM = 1.0
QUIET = 200
STEPPED, STEPPED_LEAD_S, STEPPED_MOST_S = 20_000, 8.0, 60.0
BOUNDS = (
    Bound("ratio", least=0.75),
    Bound("cpu_beside_bare", most=1.73),  # 0.18 ms where the bare pusher needs 0.104: 8,000/s on two cores of its own
    Bound("p95_ms", most=100),
    Bound("p99_ms", most=250),
    Bound("quiet_p95_ms", most=10),
    Bound("fires", equals="rows_in_history"),
)


def due(server: Server, database: str, rate: float, seconds: float, size: Size) -> float:
    """Put cursors ahead: from a moment on, so many a second for so long. Returns the moment.

    A machine that needs longer for it is given more time.
    """
    most = min(size.jobs, int(rate * seconds))
    psql.run(server, database, "vacuum job_cursor", "vacuum instance_live")
    for more in (1, 2, 4):
        first = time.time() + more * size.lead_s
        psql.run(
            server,
            database,
            f"""update job_cursor c set next_fire_at = to_timestamp({first}) + o.n * interval '1 s' / {rate}
                from (select shard_id, job_id, row_number() over () as n
                      from (select shard_id, job_id from job_cursor order by job_id limit {most}) chosen) o
                where c.shard_id = o.shard_id and c.job_id = o.job_id""",
            "vacuum job_cursor",
        )
        if time.time() < first - 1:
            wake(server, database, first, first + seconds)
            return first
    raise RuntimeError("preparing took too long")


def wake(server: Server, database: str, since: float, until: float) -> None:
    """Tell the nodes, as the service does after a commit."""
    told = Wake(None, datetime.fromtimestamp(since, UTC), datetime.fromtimestamp(until, UTC))
    psql.run(server, database, f"select pg_notify('{CHANNEL}', '{encode(told).decode()}')")


def rest(server: Server, database: str) -> None:
    """What is still due is not due any more."""
    psql.run(
        server,
        database,
        """begin; lock table job_cursor in share row exclusive mode;
           update job_cursor set next_fire_at = '2100-01-01' where next_fire_at < '2100-01-01'; commit""",
    )


def park(server: Server, database: str) -> None:
    """Nothing is due for long, and nobody fires again within a run."""
    psql.run(
        server,
        database,
        "update job_cursor set next_fire_at = '2100-01-01'",
        """update job_version set definition = jsonb_set(jsonb_set(definition, '{trigger,every}', '86400'),
                                                         '{trigger,anchor}', '"2026-01-01T00:00:00Z"')""",
        "vacuum (analyze) job_cursor",
        "vacuum (analyze) job_version",
    )


class Bench:
    """One server, one target, a database for each side; and our node, which runs all the time and is mostly idle."""

    def __init__(self, server: Server, target: Target, size: Size) -> None:
        self.server = server
        self.target = target
        self.size = size
        self.length = size.slice_s
        self.ours_db, self.bare_db = (fresh(server, size.jobs, name) for name in ("bench_push", "bench_push_bare"))
        for name in (self.ours_db, self.bare_db):
            park(server, name)

    def due(self, database: str, offered: float) -> float:
        """What a slice needs comes due at this rate. Returns the moment of the first."""
        return due(self.server, database, offered, WARM + self.length + 1, self.size)

    def ours(self, process: Process, offered: float = OFFERED) -> tuple[Slice, list[Arrival]]:
        """A slice of a real node."""
        first = self.due(self.ours_db, offered)
        self.target.reset()
        one = self._measure(self.ours_db, first, process.cpu_seconds)
        arrivals = self.target.arrivals()
        rest(self.server, self.ours_db)
        return self._counted(one, arrivals, first)

    def bare(self) -> Slice:
        """A slice of the bare pusher."""
        first = self.due(self.bare_db, OFFERED)
        self.target.reset()
        command = [sys.executable, "-m", "benchmarks.bare.push", self.server.dsn(self.bare_db)]
        pusher = subprocess.Popen([*command, str(first + WARM + self.length + 0.5)], stdout=subprocess.PIPE, text=True)
        one = self._measure(self.bare_db, first, Process(pusher.pid).cpu_seconds)
        out, _ = pusher.communicate()
        assert json.loads(out)["fires"] > 0
        rest(self.server, self.bare_db)
        return self._counted(one, self.target.arrivals(), first)[0]

    def _measure(self, database: str, first: float, cpu: Callable[[], float]) -> Slice:
        _sleep(first + WARM)
        began = cpu()
        with Meter(self.server, database).measuring() as cost:
            _sleep(first + WARM + self.length)
        return cost.slice(0, self.length, cpu() - began)

    def _counted(self, one: Slice, arrivals: list[Arrival], first: float) -> tuple[Slice, list[Arrival]]:
        window = [seen for seen in arrivals if first + WARM <= seen.at < first + WARM + self.length]
        return replace(one, fires=len(window)), window


def main(seconds: float) -> dict[str, Any]:
    """The full size."""
    with running() as server, receiving() as target:
        return measure(Bench(server, target, Size.lasting(seconds, 14)))


def measure(bench: Bench, *, quiet: bool = True) -> dict[str, Any]:
    """Ours and bare in turn at full load, then ours at half of it; where asked at 200/s, too."""
    with node(bench.server, bench.ours_db) as process:
        bench.ours(process)  # the first slice knows no job yet; a node fires the same ones again and again
        our, bare = alternate(bench.size.slices, lambda _: bench.ours(process)[0], lambda _: bench.bare())
        rate = middle(our, lambda one: one.rate)
        _, half = bench.ours(process, max(1.0, rate / 2))
        few = bench.ours(process, QUIET)[1] if quiet else []
    return _report(our, bare, half, few, counts_of(bench.server, bench.ours_db), bench.size)


def count_steps(server: Server, target: Target, size: Size) -> dict[str, float]:
    """Executed lines of the engine per fire, while thousands have come due at once and wait."""
    database = fresh(server, size.jobs, "bench_steps")
    park(server, database)
    path = FOLDER / "steps.json"
    path.unlink(missing_ok=True)
    first = due(server, database, OFFERED, STEPPED / OFFERED, replace(size, lead_s=STEPPED_LEAD_S))
    with node(server, database, inside={wrapped.STEPS: str(path)}):
        _sleep(first - 1)
        before = wrapped.steps_in(path)
        while (fires := target.count()) < STEPPED and time.time() < first + STEPPED_MOST_S:
            time.sleep(0.5)
        time.sleep(2 * wrapped.TOLD_EVERY_S)
        steps = wrapped.steps_in(path)
    steps.subtract(before)
    admission = sum(many for name, many in steps.items() if name.startswith("admission"))
    each = Slice(fires, 1.0)
    return {
        "fires": fires,
        "admission_steps_per_fire": round(each.per_fire(admission), 1),
        "engine_steps_per_fire": round(each.per_fire(sum(steps.values())), 1),
    }


def counts_of(server: Server, database: str) -> tuple[int, int]:
    """Cursors moved, and what is written about it: every fire has one history row, or is still live."""
    fired = psql.value(server, database, "select coalesce(sum(fired), 0) from job_cursor")
    ended = psql.value(
        server, database, "select (select count(*) from instance_history) + (select count(*) from instance_live)"
    )
    return int(fired), int(ended)


def _report(
    our: list[Slice],
    bare: list[Slice],
    half: list[Arrival],
    quiet: list[Arrival],
    counts: tuple[int, int],
    size: Size,
) -> dict[str, Any]:
    rate, bare_rate = (middle(side, lambda one: one.rate) for side in (our, bare))
    late, quiet_late = ([seen.late_ms for seen in side] for side in (half, quiet))
    found = {
        "settings": {
            "jobs": size.jobs, "offered": OFFERED, "slice_s": size.slice_s, "slices": len(our), "postgresql": SETTINGS,
        },
        "rate": round(rate),
        "bare": round(bare_rate),
        "ratio": round(rate / bare_rate, 3),
        "p50_ms": round(percentile(late, 50), 1),
        "p95_ms": round(percentile(late, 95), 1),
        "p99_ms": round(percentile(late, 99), 1),
        "quiet_p50_ms": round(percentile(quiet_late, 50), 1),
        "quiet_p95_ms": round(percentile(quiet_late, 95), 1),
        "fires": counts[0],
        "rows_in_history": counts[1],
        "node_cpu_ms_per_fire": round(_cpu_ms(our), 4),
        "pg_cpu_ms_per_fire": round(middle(our, lambda one: one.per_fire(one.pg_cpu) * 1000), 4),
        "bare_cpu_ms_per_fire": round(_cpu_ms(bare), 4),
        "bare_pg_cpu_ms_per_fire": round(middle(bare, lambda one: one.per_fire(one.pg_cpu) * 1000), 4),
        "cpu_beside_bare": round(_cpu_ms(our) / _cpu_ms(bare), 3),
        "half_served": round(len(half) / (rate / 2 * size.slice_s), 3) if rate else 0.0,
        **per_fire(our),
        "rates": [round(one.rate) for one in our],
        "bare_rates": [round(one.rate) for one in bare],
    }  # fmt: skip
    return judged(found, BOUNDS)


def _cpu_ms(side: list[Slice]) -> float:
    return middle(side, lambda one: one.per_fire(one.client_cpu) * 1000)


def _sleep(until: float) -> None:
    time.sleep(max(0.0, until - time.time()))

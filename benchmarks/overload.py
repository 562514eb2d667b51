"""Overload: three times what a node can send for a minute, then half of it until the backlog is gone.

Four variants: plain; a target that slows from 5 ms to 2 s and back; 200,000 retries that wait; PostgreSQL at half
speed. What a node can send is measured first, in each run. Beside the load, critical fires and a quiet tenant have
little to do.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import psql, wrapped
from benchmarks.api_server import id_of_shard
from benchmarks.data import SPREAD_JOBS, TARGET_PORT, fresh, make_jobs
from benchmarks.measure import judged
from benchmarks.nodes import node
from benchmarks.overloaded import BOUNDS, FULL_S, LEAST_CALM, OVER, VARIANTS, Plan, Stream, Variant, figures
from benchmarks.push import park, wake
from benchmarks.runs import RUNS, KeptRuns, Run
from benchmarks.server import FOLDER, SETTINGS, Server, running
from benchmarks.speed import SpeedGauge
from benchmarks.stopped import processes_of, send_all
from benchmarks.target import Target, receiving
from horae.domain.placement import SHARDS
from horae.runtime.picture import COLOURS, Bar, Panel, draw

TEMPLATE_JOBS = 10_000
FAR_ABOVE = 12_000.0  # fires a second: more than any node has sent here
BUSY, QUIET_TENANT = "00000000-0000-7000-8000-00000000000a", "00000000-0000-7000-8000-00000000000b"
SLOW_S, SWIFT_S = 2.0, 0.005
STOPPED_S = 0.05
TRIES = 3
DOUBTS = ("lease.expired", "lease.not_renewed", "node.stuck")


class Bench:
    """One server, one target, jobs for each stream."""

    def __init__(self, server: Server, target: Target, variant: Variant) -> None:
        self.server, self.target, self.variant = server, target, variant
        self.gauge = SpeedGauge()
        self.database = fresh(server, TEMPLATE_JOBS, "bench_overload")
        park(server, self.database)
        for name, tenant in (("normal", BUSY), ("critical", BUSY), ("quiet", QUIET_TENANT)):
            url = {"kind": "http", "url": f"http://127.0.0.1:{TARGET_PORT}/{name}"}
            make_jobs(server, self.database, tenant, name, url)

    def best(self, seconds: float) -> tuple[float, float]:
        """What the node can send while far more is due, and the machine's speed then.

        Both are medians of the later seconds: the first ones are cold.
        """
        first = self.fill([Stream("normal", FAR_ABOVE, 0.0, seconds)], seconds)
        self.target.reset()
        with self._halved():
            _sleep(first + seconds)
        seen = [int(one.at - first) for one in self.target.arrivals()]
        self._drain(time.time() + 10 + 4 * seconds)
        half = int(seconds) // 2
        best = median(seen.count(second) for second in range(half, int(seconds)))
        return float(max(1.0, best)), self.gauge.speed(first + half, first + seconds)

    def _drain(self, until: float) -> None:
        """Let the node send what is left, so that it begins with nothing; what takes too long is deleted."""
        live = "select count(*) from instance_live"
        while int(psql.value(self.server, self.database, live)) and time.time() < until:
            time.sleep(0.5)
        psql.run(self.server, self.database, "delete from instance_live")

    def fill(self, streams: Sequence[Stream], end_s: float, retries: int = 0) -> float:
        """Put the instances down, due from a moment on; returns the moment. A busy machine is given more time."""
        rows = int(sum(one.rate * (one.end_s - one.begin_s) for one in streams)) + retries
        for more in (1, 2, 4, 8):
            first = time.time() + more * (4 + rows / 15_000)
            self._insert_all(streams, retries, first)
            if time.time() < first - 1:
                wake(self.server, self.database, first, first + end_s)
                return first
            self._drain(time.time())
        raise RuntimeError("preparing took too long")

    def _insert_all(self, streams: Sequence[Stream], retries: int, first: float) -> None:
        for one in streams:
            many = int(one.rate * (one.end_s - one.begin_s))
            priority = 0 if one.name == "critical" else 1
            at = f"to_timestamp({first + one.begin_s}) + n * interval '1 s' / {one.rate}"
            self._insert(one.name, many, at, priority)
        if retries:
            self._insert("normal", retries, f"to_timestamp({first})", 1, retry=True)
        psql.run(self.server, self.database, "vacuum (analyze) instance_live")

    def _insert(self, name: str, many: int, at: str, priority: int, *, retry: bool = False) -> None:
        state, count, lane = ("FAIL", 1, 1) if retry else ("INIT", 0, 0)
        psql.run(
            self.server,
            self.database,
            f"""insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at,
                                           changed_at, priority, lane, slot_ms, state, attempt, retry_count)
                select j.shard_id, {id_of_shard("due.shard")}, j.tenant_id, j.id, 1, gen_random_uuid()::text, at, at,
                       now(), {priority}, {lane}, 13000, '{state}', {count}, {count}
                from (select n, {at} as at, n % {SPREAD_JOBS} * {SHARDS // SPREAD_JOBS} as shard
                      from generate_series(1, {many}) n) due
                join job j on j.shard_id = due.shard and j.name like '{name}-%'""",
        )

    def run(self, over_s: float) -> dict[str, Any]:
        """One run, from a fresh node to its figures."""
        log, facts = FOLDER / "node.log", FOLDER / "callbacks.json"
        facts.unlink(missing_ok=True)
        began = log.stat().st_size if log.exists() else 0
        self.target.slow("/normal", SWIFT_S if self.variant.slow_target else 0.0)
        inside = {wrapped.CALLBACKS: str(facts)}
        tenants = (BUSY, QUIET_TENANT)
        with self.gauge.sampling(), node(self.server, self.database, inside=inside, secrets=tenants):
            best, speed = self.best(max(4.0, over_s / 6))
            plan = Plan(best, over_s, self.variant)
            first = self.fill(plan.streams(), plan.end_s, plan.retries)
            self.target.reset()
            with self._disturbed(plan, first):
                end_s = self._watch(plan, first)
            arrivals = self.target.arrivals()
            callback_ms, turn_ms = wrapped.longest_since(facts, first)
            with log.open("rb") as file:
                file.seek(began)
                said = file.read().decode(errors="replace")
        beside, left = partial(self._beside, speed, first), partial(self._left, first)
        found = figures(plan, arrivals, first, end_s, beside, left) | {
            "lease_doubts": sum(said.count(word) for word in DOUBTS),
            "callback_cpu_ms": callback_ms,
            "turn_cpu_ms": turn_ms,
        }
        return judged(found, BOUNDS)

    def _watch(self, plan: Plan, first: float) -> float:
        """Wait until the backlog was gone for a while, or until the end of the plan; returns the seconds it took."""
        _sleep(first + plan.over_s)
        second = time.time() - first
        while second < plan.end_s and plan.all_due_by(second) - self.target.count() > plan.few:
            time.sleep(1)
            second = time.time() - first
        end_s = min(plan.end_s, second + plan.after_s)
        _sleep(first + end_s)
        return end_s

    def _beside(self, best: float, first: float, second: float) -> float:
        """The machine's speed at a second of the run beside another."""
        return self.gauge.speed(first + second, first + second + 1) / best

    def _left(self, first: float, begin_s: float, end_s: float) -> float:
        """The part of the machine that others left to us between two seconds of the run."""
        return self.gauge.left(first + begin_s, first + end_s)

    def _halved(self) -> AbstractContextManager[None]:
        return at_half_speed(self.server.pid) if self.variant.half_postgres else nullcontext()

    @contextmanager
    def _disturbed(self, plan: Plan, first: float) -> Iterator[None]:
        """What the variant does while the load comes."""
        with ExitStack() as stack:
            stack.enter_context(self._halved())
            if self.variant.slow_target:
                begin, end = plan.slow
                for second, wait in ((begin, SLOW_S), (end, SWIFT_S)):
                    timer = threading.Timer(first + second - time.time(), self.target.slow, ("/normal", wait))
                    timer.start()
                    stack.callback(timer.cancel)
            yield


@contextmanager
def at_half_speed(pid: int) -> Iterator[None]:
    """Stop and continue a PostgreSQL, all of its processes, every 50 ms."""
    over = threading.Event()

    def halve() -> None:
        while not over.wait(STOPPED_S):
            stopped = processes_of(pid)
            send_all(stopped, signal.SIGSTOP)
            over.wait(STOPPED_S)
            send_all(stopped, signal.SIGCONT)

    thread = threading.Thread(target=halve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def main(seconds: float) -> dict[str, Any]:
    """Every variant once, then every one again, five times in full size; what this commit has done is not repeated."""
    wanted = os.environ.get("HORAE_BENCH_VARIANTS", ",".join(one.name for one in VARIANTS)).split(",")
    kept = KeptRuns("overload", seconds)
    for number in range(RUNS if seconds >= FULL_S else 1):
        for variant in VARIANTS:
            if variant.name in wanted and kept.many(variant.name) <= number:
                kept.add(variant.name, _run(variant, seconds))
    return report(kept.done, seconds)


def _run(variant: Variant, seconds: float) -> Run:
    """A run in which others left enough of the machine; the last of some tries otherwise, which says so."""
    for left in reversed(range(TRIES if seconds >= FULL_S else 1)):
        with running() as server, receiving() as target:
            run = Bench(server, target, variant).run(seconds)
        if run["calm"] >= LEAST_CALM or not left:
            break
    return run


def report(done: dict[str, list[Run]], seconds: float) -> dict[str, Any]:
    """The worst of the runs of every variant, all that was missed, and a picture of each variant's last run."""
    found: dict[str, Any] = {"settings": {"over_s": seconds, "runs": {name: len(runs) for name, runs in done.items()},
                                          "postgresql": SETTINGS}}  # fmt: skip
    missed = []
    for name, runs in done.items():
        for bound in BOUNDS:
            worst = min if bound.least is not None else max
            found[f"{name}_{bound.figure}"] = worst(run[bound.figure] for run in runs)
        missed += [f"{name}, run {n + 1}: {said}" for n, run in enumerate(runs) for said in run["missed"]]
        found[f"{name}_runs"] = [
            {figure: value for figure, value in run.items() if figure not in ("timeline", "missed")} for run in runs
        ]
        if beside := os.environ.get("HORAE_BENCH_REPORT"):
            Path(beside).with_name(f"overload_{name}.svg").write_text(picture(name, runs[-1], seconds))
    return found | {"missed": missed, "ok": not missed}


def picture(name: str, run: dict[str, Any], over_s: float) -> str:
    """Rate and lateness over time, with the overload behind them."""
    labels = {
        "rate": "calls/s",
        "normal_p95_ms": "p95 late of the load, ms",
        "critical_p95_ms": "p95 late of critical fires, ms",
        "quiet_p95_ms": "p95 late of the quiet tenant, ms",
        "speed": "speed of the machine beside that of the best rate",
    }
    panels = []
    for colour, (figure, label) in zip(COLOURS, labels.items(), strict=False):
        values = run["timeline"][figure]
        most = max((value for value in values if value is not None), default=0)
        panels.append(Panel(f"{label}, at most {most:g}", values, colour))
    return draw(f"Overload: {name}", panels, [Bar(f"{OVER:g} times what it can send", 0.0, over_s)])


def _sleep(until: float) -> None:
    time.sleep(max(0.0, until - time.time()))

"""The stages of the gate: short forms of the benchmarks. `python -m benchmarks.gate.stages NAME` prints the figures.

Every ratio is higher where we are better: a rate beside the bare side's, or the bare side's CPU beside ours.
"""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks import api, cron, engine, herd, push, store, workers
from benchmarks.measure import Size, alternate, middle, per_fire
from benchmarks.server import running
from benchmarks.target import receiving

JOBS = 30_000
HERD = 10_000
PUSH = Size(JOBS, slices=3, slice_s=2.0, lead_s=3.0)
ENGINE = Size(JOBS, slices=2, slice_s=2.0, lead_s=6.0)
STORE = Size(JOBS, slices=3, slice_s=2.0)
DOORS = Size(JOBS, slices=2, slice_s=1.5)
WORKERS = Size(JOBS, slices=3, slice_s=1.5)
"""The middle of three: the first slice of a new API process is cold, and by a third slower than the others."""
HERD_LEAD_S = 8.0
Figures = dict[str, float]


def push_stage() -> Figures:
    """Fires over HTTP beside the bare pusher, far more due than can be sent; then half of what it sent."""
    with running() as server, receiving() as target:
        found = push.measure(push.Bench(server, target, PUSH), quiet=False)
    return {
        "ratio": found["ratio"],
        "cpu_ratio": _share(found["bare_cpu_ms_per_fire"], found["node_cpu_ms_per_fire"]),
        "half_served": found["half_served"],
        "lost": abs(found["fires"] - found["rows_in_history"]),
        **_counted(found),
    }


def overload_stage() -> Figures:
    """What the engine does for a fire while thousands wait: executed lines, not time."""
    with running() as server, receiving() as target:
        found = push.count_steps(server, target, PUSH)
    return {"lost": push.STEPPED - found.pop("fires"), **found}


def herd_stage() -> Figures:
    """Everybody at the same second, beside the bare pusher."""
    with running() as server, receiving() as target:
        bench = push.Bench(server, target, PUSH)
        bare = bench.bare().rate
        arrivals = herd.drain(server, bench.ours_db, target, HERD, HERD_LEAD_S)
    seconds = max((seen.late_ms for seen in arrivals), default=float("inf")) / 1000
    return {"ratio": round(HERD / seconds / bare, 3), "lost": abs(HERD - len(arrivals))}


def engine_stage() -> Figures:
    """The engine without a network, beside the store."""
    found = engine.run(ENGINE)
    return {
        "ratio": found["ratio"],
        "cpu_ratio": _share(found["store_cpu_ms_per_fire"], found["node_cpu_ms_per_fire"]),
        "lost": abs(found["fires"] - found["rows"]),
        **_counted(found),
    }


def store_stage() -> Figures:
    """The lifecycle and tasks through the store, beside the same statements alone."""
    with running() as server:
        bench = store.Bench(server, STORE)
        ours, bare = alternate(STORE.slices, bench.ours, bench.bare)
        lost = abs(bench.written() - sum(one.fires for one in (*ours, *bare)))
        tasks, bare_tasks = alternate(STORE.slices, bench.tasks, bench.bare_tasks)
    rates = [middle(side, lambda one: one.rate) for side in (ours, bare, tasks, bare_tasks)]
    cpu = [middle(side, lambda one: one.per_fire(one.pg_cpu)) for side in (ours, bare)]
    return {
        "ratio": _share(rates[0], rates[1]),
        "cpu_ratio": _share(cpu[1], cpu[0]),
        "task_ratio": _share(rates[2], rates[3]),
        "lost": lost,
        **_counted(per_fire(ours)),
        **{f"task_{name}": figure for name, figure in _counted(per_fire(tasks)).items()},
    }


def workers_stage() -> Figures:
    """No-op tasks through the client's workers, beside the bare drain."""
    found = workers.run(WORKERS, neighbours=False)
    ours = found["cpu_ms_per_task"] + found["pg_cpu_ms_per_task"]
    return {
        "ratio": found["ratio"],
        "cpu_ratio": _share(found["bare_pg_cpu_ms_per_task"], ours),
        **_counted(found, "task"),
    }


def api_stage() -> Figures:
    """PUT of one task and of a hundred, a page of history and a worker's turn, beside the bare SQL."""
    found = api.run(DOORS, whole=False)
    kinds = ("single_put", "batch_put", "history", "workers")
    figures = ("ratio", "cpu_ratio", "statements", "writes", "wal_bytes")
    lost = abs(found["put_answered"] - found["tasks_in_ledger"])
    return {f"{kind}_{name}": found[f"{kind}_{name}"] for kind in kinds for name in figures} | {"lost": lost}


def cron_stage() -> Figures:
    """Our next fire beside cronsim's."""
    return _only(cron.run(slices=3, length=1.0, jobs=JOBS), "ratio", "worst")


STAGES: Mapping[str, Callable[[], Figures]] = {
    "cron": cron_stage,
    "store": store_stage,
    "overload": overload_stage,
    "push": push_stage,
    "herd": herd_stage,
    "engine": engine_stage,
    "workers": workers_stage,
    "api": api_stage,
}


def _counted(found: Mapping[str, Any], each: str = "fire") -> Figures:
    return _only(found, f"statements_per_{each}", f"writes_per_{each}", f"wal_bytes_per_{each}")


def _only(found: Mapping[str, Any], *names: str) -> Figures:
    return {name: found[name] for name in names}


def _share(ours: float, beside: float) -> float:
    return round(ours / beside, 3) if beside else 0.0


if __name__ == "__main__":
    print(json.dumps({f"{sys.argv[1]}.{name}": figure for name, figure in STAGES[sys.argv[1]]().items()}))

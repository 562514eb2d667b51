"""Predicted beside measured on this machine: `python -m benchmarks.simulation validate`.

The simulation may be quoted only if it predicts what a real node does here: one node, one cell, both and the target on
the cores of this machine. First what the node can send at most is measured, while far more is due. Then come 50, 90
and 150 % of that, several runs each. Rate and processor time must be predicted within 15 %, and the predicted p95 must
lie within the span of the runs. A run beside which others used the machine is made again, some times; the report says
what others used. Each run is kept when it ends, so that a stopped validation goes on where it was.
"""

import os
import time
from collections.abc import Sequence
from statistics import median
from typing import Any, Final

from benchmarks.deployment import WARM_S, Deployment
from benchmarks.measure import commit, machine, percentile
from benchmarks.runs import RUNS, KeptRuns, Run
from benchmarks.server import running
from benchmarks.simulation.load import Stream
from benchmarks.simulation.scene import Plan, Scene, seeded
from benchmarks.simulation.service_times import ServiceTimes
from benchmarks.target import receiving

LOADS: Final = (0.5, 0.9, 1.5)
FAR_ABOVE: Final = 5000.0
"""Fires a second: more than any node has sent here."""
JOBS: Final = 60_000
STRETCH_S: Final = 6.0
MOST_OFF: Final = 0.15
LOCAL_ANSWER_S: Final = 0.0001
"""A target on the same machine answers at once; what it needs for a call is processor time."""
MOST_OTHERS: Final = 0.15
"""Cores that the rest of the machine may use in a run that counts as calm."""
TRIES: Final = 3
CALM_WAIT_S: Final = 10.0
FIGURES: Final = ("rate", "processor_s_per_s")


def validate(runs: int = RUNS, tries: int = TRIES, stretch_s: float = STRETCH_S) -> dict[str, Any]:
    """Measure, predict and compare."""
    kept = KeptRuns("validation", stretch_s)
    measure(kept, runs, tries, stretch_s)
    return compare(kept.done, ServiceTimes.read(), stretch_s)


def measure(kept: KeptRuns, runs: int, tries: int, stretch_s: float) -> None:
    """Make the runs that are missing."""
    wanted = ["capacity", *map(name_of, LOADS)]
    if all(kept.many(name) >= (1 if name == "capacity" else runs) for name in wanted):
        return
    with running() as server, receiving() as target:
        deployment = Deployment(server, target, 1, JOBS)
        with deployment.running(1) as processes:
            deployment.load(processes, FAR_ABOVE, stretch_s)  # the first calls find nothing in memory
            while not kept.many("capacity"):
                rates = [_calm_run(deployment, processes, FAR_ABOVE, stretch_s, tries)["rate"] for _ in range(3)]
                if not median(rates):
                    raise RuntimeError("the node sent nothing: the machine is too busy to measure on")
                kept.add("capacity", {"rate": median(rates), "rates": rates})
            capacity = kept.done["capacity"][0]["rate"]
            for number in range(runs):
                for load in LOADS:
                    if kept.many(name_of(load)) <= number:
                        kept.add(name_of(load), _calm_run(deployment, processes, load * capacity, stretch_s, tries))


def _calm_run(deployment: Deployment, processes: Sequence[Any], rate: float, stretch_s: float, tries: int) -> Run:
    """A run that others did not disturb; the calmest of some tries otherwise."""
    made: list[Run] = []
    for number in range(tries):
        made.append(_run(deployment, processes, rate, stretch_s))
        if made[-1]["others_s_per_s"] <= MOST_OTHERS:
            break
        if number + 1 < tries:
            time.sleep(CALM_WAIT_S)
    return min(made, key=lambda run: float(run["others_s_per_s"]))


def _run(deployment: Deployment, processes: Sequence[Any], rate: float, stretch_s: float) -> Run:
    found = deployment.load(processes, rate, stretch_s)
    spent_s = found.node_cpu_s + found.postgresql_cpu_s + found.target_cpu_s
    return {
        "offered": round(rate, 1),
        "rate": round(found.fires / found.seconds, 1),
        "processor_s_per_s": round(spent_s / found.seconds, 3),
        "node_s_per_s": round(found.node_cpu_s / found.seconds, 3),
        "postgresql_s_per_s": round(found.postgresql_cpu_s / found.seconds, 3),
        "p95_ms": round(percentile(found.late_ms, 95), 1),
        "statements": found.fire_statements + found.result_statements,
        "others_s_per_s": round(found.others_cpu_s / found.seconds, 2),
    }


def predict(rate: float, times: ServiceTimes, stretch_s: float) -> Run:
    """The same stretch in the simulation: what arrives in it, after a second in which the node warms up."""
    stream = Stream("load", rate, 0.0, WARM_S + stretch_s + 1)
    plan = Plan(1, 1, [stream], stream.end_s, shared_cores=os.cpu_count() or 2, answer_s=LOCAL_ANSWER_S)
    with seeded():
        scene = Scene(plan, times)
        scene.run_until(WARM_S)
        before_s, statements = scene.processor_s()[0], scene.cells[0].statements
        scene.run_until(WARM_S + stretch_s)
        spent_s, made = scene.processor_s()[0] - before_s, scene.cells[0].statements - statements
        scene.close()
    seen = scene.arrivals
    late = [
        late for due, late in zip(seen.due_s, seen.late_ms, strict=True)
        if WARM_S <= due + late / 1000 < WARM_S + stretch_s
    ]  # fmt: skip
    return {
        "rate": round(len(late) / stretch_s, 1),
        "processor_s_per_s": round(spent_s / stretch_s, 3),
        "p50_ms": round(percentile(late, 50), 1),
        "p95_ms": round(percentile(late, 95), 1),
        "statements": made,
    }


def compare(done: dict[str, list[Run]], times: ServiceTimes, stretch_s: float) -> dict[str, Any]:
    """Every load with its runs, the prediction, and what was missed."""
    capacity = done["capacity"][0]["rate"]
    loads: dict[str, Any] = {}
    missed: list[str] = []
    for load in LOADS:
        name, runs = name_of(load), done[name_of(load)]
        predicted = predict(load * capacity, times, stretch_s)
        loads[name] = {"predicted": predicted, "runs": runs}
        missed += [f"at {name} {said}" for said in misses(predicted, runs)]
    runs_made = min(len(done[name_of(load)]) for load in LOADS)
    if runs_made < RUNS:
        missed.append(f"{runs_made} runs of each load were made, {RUNS} are wanted")
    disturbed = sum(run["others_s_per_s"] > MOST_OTHERS for load in LOADS for run in done[name_of(load)])
    if disturbed:
        missed.append(f"others used the machine during {disturbed} runs")
    return {
        "commit": commit(),
        "machine": machine(),
        "capacity": capacity,
        "runs": runs_made,
        "loads": loads,
        "missed": missed,
        "passed": not missed,
    }


def misses(predicted: Run, runs: Sequence[Run]) -> list[str]:
    """A sentence for each figure that was not predicted well enough."""
    found = []
    for figure in FIGURES:
        measured = median(run[figure] for run in runs)
        off = predicted[figure] / measured - 1
        if abs(off) > MOST_OFF:
            found.append(f"{figure} was predicted as {predicted[figure]:g} and is {measured:g}: {off:+.0%}")
    least, most = (pick(run["p95_ms"] for run in runs) for pick in (min, max))
    if not least <= predicted["p95_ms"] <= most:
        found.append(f"p95 was predicted as {predicted['p95_ms']:g} ms and was {least:g} to {most:g} ms")
    return found


def name_of(load: float) -> str:
    """The name of a load in the report."""
    return f"{load:.0%}"

"""Measures the service times of the simulation on this machine: `python -m benchmarks.simulation calibrate`.

1. An idle node on one cell, and two on two: what nodes and PostgreSQL need beside calls, at all and for each pair.
2. One node at several rates. What is left is divided into a cost of each call and a cost of each statement:
   at low rates every call has a statement of its own, at high rates a statement carries many.
3. A node that sums the processor time of each step of a call, to divide the cost of a call.
4. The lateness of a call at the lowest rate that the simulation does not explain.
5. Commits that wait for the disk beside commits that do not, and a statement that does nothing.
"""

import asyncio
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

import asyncpg
import msgspec
from msgspec.structs import replace

from benchmarks import wrapped
from benchmarks.deployment import Deployment, Stretch
from benchmarks.measure import commit, machine, percentile
from benchmarks.nodes import node
from benchmarks.server import FOLDER, Server, running
from benchmarks.simulation.service_times import MEASURED, ServiceTimes
from benchmarks.simulation.stages import STAGES
from benchmarks.simulation.validation import predict
from benchmarks.target import receiving

JOBS: Final = 30_000
RATES: Final = (50.0, 200.0, 700.0, 1500.0)
PAIR_JOBS: Final = 1_000
STRETCH_S: Final = 6.0
IDLE_S: Final = 15.0
COMMITS: Final = 200


def calibrate(path: Path = MEASURED) -> dict[str, Any]:
    """Measure and write the times, with what they were measured on."""
    load_before = os.getloadavg()[0]
    with running() as server, receiving() as target:
        waits = asyncio.run(_waits(server))
        deployment = Deployment(server, target, 1, JOBS)
        with deployment.running(1) as processes:
            idle = deployment.idle(processes, IDLE_S)
            deployment.load(processes, RATES[-1], STRETCH_S)  # the first calls find nothing in memory
            stretches = [deployment.load(processes, rate, STRETCH_S) for rate in RATES]
        steps = _steps(server, deployment)
        pairs = Deployment(server, target, 2, PAIR_JOBS)
        with pairs.running(2) as processes:
            idle_pairs = pairs.idle(processes, IDLE_S)
    times = service_times(idle, idle_pairs, stretches, steps, *waits)
    unexplained_s = percentile(stretches[0].late_ms, 50) / 1000 - predict(RATES[0], times, STRETCH_S)["p50_ms"] / 1000
    times = replace(times, wake_up_s=max(0.0, unexplained_s))
    found = {
        "commit": commit(),
        "machine": machine(),
        "load_before": round(load_before, 2),
        "times": msgspec.to_builtins(times),
        "idle": idle.figures(),
        "idle_pairs": idle_pairs.figures(),
        "stretches": [one.figures() for one in stretches],
    }
    path.write_text(json.dumps(found, indent=2) + "\n")
    return found


def service_times(
    idle: Stretch,
    idle_pairs: Stretch,
    stretches: Sequence[Stretch],
    steps: dict[str, float],
    commit_s: float,
    round_trip_s: float,
) -> ServiceTimes:
    """The times that follow from the stretches. `steps` are seconds of a call in steps that were timed alone.

    A node on two cells needs its base and twice the share of a cell. One PostgreSQL with two cells of two nodes needs
    its base and four times the share of a node.
    """
    node_share, node_share_of_two = idle.node_cpu_s / idle.seconds, idle_pairs.node_cpu_s / idle_pairs.seconds / 2
    node_cell_share = min(node_share, max(0.0, node_share_of_two - node_share))
    share, share_of_four = (one.postgresql_cpu_s / one.seconds for one in (idle, idle_pairs))
    postgresql_node_share = min(share, max(0.0, (share_of_four - share) / 3))
    node_call_s, node_statement_s = _fit(stretches, lambda one: one.node_cpu_s, idle.node_cpu_s / idle.seconds)
    postgresql = _fit(stretches, lambda one: one.postgresql_cpu_s, idle.postgresql_cpu_s / idle.seconds)
    timed = sum(steps.values())
    scale = min(1.0, node_call_s / timed)
    rest_s = node_call_s - timed * scale
    return ServiceTimes(
        offer_s=steps["offer"] * scale,
        fire_s=steps["admit"] * scale + rest_s / 2,
        send_s=steps["send"] * scale,
        land_s=steps["land"] * scale,
        result_s=rest_s / 2,
        node_statement_s=node_statement_s,
        node_base_share=node_share - node_cell_share,
        node_cell_share=node_cell_share,
        postgresql_call_s=postgresql[0],
        postgresql_statement_s=postgresql[1],
        postgresql_base_share=share - postgresql_node_share,
        postgresql_node_share=postgresql_node_share,
        commit_s=commit_s,
        round_trip_s=round_trip_s,
        wake_up_s=0.0,
        target_s=median(one.target_cpu_s / one.fires for one in stretches[-2:]),
    )


def _fit(stretches: Sequence[Stretch], cost: Callable[[Stretch], float], idle_share: float) -> tuple[float, float]:
    """The cost of a call and of a statement that fit best; every stretch counts alike, by its relative error."""
    rows = []
    for one in stretches:
        left_s = max(1e-9, cost(one) - idle_share * one.seconds)
        rows.append((one.fires / left_s, (one.fire_statements + one.result_statements) / left_s))
    aa, ab, bb = (sum(row[i] * row[j] for row in rows) for i, j in ((0, 0), (0, 1), (1, 1)))
    a, b = (sum(row[i] for row in rows) for i in (0, 1))
    divisor = aa * bb - ab * ab
    call_s, statement_s = (a * bb - b * ab) / divisor, (b * aa - a * ab) / divisor
    if call_s < 0:
        return 0.0, b / bb
    return (call_s, statement_s) if statement_s >= 0 else (a / aa, 0.0)


def _steps(server: Server, deployment: Deployment) -> dict[str, float]:
    """Seconds of each step of a call, in a node that times them."""
    path = FOLDER / "stages.json"
    path.unlink(missing_ok=True)
    inside = {wrapped.PATCH: "benchmarks.simulation.stages", STAGES: str(path)}
    with node(server, *deployment.databases, inside=inside) as process:
        deployment.wait_for_leases(1)
        deployment.load([process], RATES[-1], STRETCH_S)
        before = json.loads(path.read_text())
        found = deployment.load([process], RATES[-1], STRETCH_S)
        time.sleep(2 * wrapped.TOLD_EVERY_S)
        after = json.loads(path.read_text())
    calls = found.fires * (1 + 2 / STRETCH_S)  # the file also holds the seconds before and after the stretch
    return {step: (after[step] - before.get(step, 0.0)) / calls for step in after}


async def _waits(server: Server) -> tuple[float, float]:
    """Seconds for which a commit waits for the disk, and of a statement that does nothing; medians."""
    connection = await asyncpg.connect(server.dsn("postgres"))
    await connection.execute("create table if not exists commits (n integer); truncate commits")

    async def timed(text: str) -> float:
        taken = []
        for _ in range(COMMITS):
            began = time.perf_counter()
            await connection.fetch(text)
            taken.append(time.perf_counter() - began)
        return median(taken)

    waiting_s = await timed("insert into commits values (1)")
    await connection.execute("set synchronous_commit = off")
    quick_s = await timed("insert into commits values (1)")
    nothing_s = await timed("select 1")
    await connection.close()
    return max(0.0, waiting_s - quick_s), nothing_s

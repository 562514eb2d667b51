"""What grows with nodes and cells: 1, 2 and 3 real nodes on 1, 2 and 4 cells of this machine, counted for each fire.

`python -m benchmarks.growth [--nodes 1,2,3] [--cells 1,2,4] [--seconds 6] [--out FILE | --page]`. Two cores bound the
rate, so the same rate is offered to every deployment, and rates are not compared. Idle statements, connections and
leases are counted and hardly depend on how busy the machine is. Processor time does, and so do the statements of a
fire: a node that gets no processor collects larger batches. Every deployment is written when it ends: a run that was
stopped goes on with the next one, and a deployment whose calls were late is measured again.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.deployment import Deployment, Stretch
from benchmarks.measure import commit, machine, percentile
from benchmarks.server import running
from benchmarks.target import receiving

PAGE: Final = Path(__file__).parents[1] / "docs" / "proof" / "growth.md"
MARK: Final = "<!-- written by `python -m benchmarks.growth --page`: change nothing below -->\n"
COLUMNS: Final = {
    "fire statements": lambda one: one["each_fire"]["fire_statements"],
    "result statements": lambda one: one["each_fire"]["result_statements"],
    "node CPU, ms": lambda one: one["each_fire"]["node_cpu_ms"],
    "PostgreSQL CPU, ms": lambda one: one["each_fire"]["postgresql_cpu_ms"],
    "idle statements/s": lambda one: one["each_second_idle"]["statements"],
    "lease statements/s": lambda one: one["each_second_idle"]["lease_statements"],
    "connections": lambda one: one["each_second_idle"]["connections"],
    "idle node CPU, ms/s": lambda one: one["each_second_idle"]["node_cpu_ms"],
    "idle PostgreSQL CPU, ms/s": lambda one: one["each_second_idle"]["postgresql_cpu_ms"],
}
"""The first four for each fire, the others for each node in each cell."""
REPORT: Final = Path(__file__).parents[1] / "docs" / "proof" / "growth.json"
NODES: Final = (1, 2, 3)
CELLS: Final = (1, 2, 4)
RATE: Final = 240.0
JOBS: Final = 8_000
STRETCH_S: Final = 6.0
CALM_P95_MS: Final = 60.0
"""A deployment whose calls were later than this did not get the processor time that it needed."""


def measure(deployment: Deployment, nodes: int, seconds: float) -> dict[str, Any]:
    """So many nodes: idle, then at the rate."""
    load_before, cells = os.getloadavg()[0], len(deployment.databases)
    with deployment.running(nodes) as processes:
        idle = deployment.idle(processes, seconds)
        deployment.load(processes, RATE, min(seconds, 2.0))  # the first calls find nothing in memory
        loaded = deployment.load(processes, RATE, seconds)
    return {
        "nodes": nodes,
        "cells": cells,
        "commit": commit(),
        "load_before": round(load_before, 2),
        "fires": loaded.fires,
        "calm": percentile(loaded.late_ms, 95) <= CALM_P95_MS,
        "idle": idle.figures(),
        "loaded": loaded.figures(),
        "each_fire": each_fire(loaded, idle),
        "each_second_idle": each_second(idle, nodes * cells),
    }


def each_fire(loaded: Stretch, idle: Stretch) -> dict[str, float]:
    """What a fire costs beyond what idle nodes cost."""
    passed = loaded.seconds / idle.seconds
    fires = max(1, loaded.fires)
    return {
        "fire_statements": round(loaded.fire_statements / fires, 3),
        "result_statements": round(loaded.result_statements / fires, 3),
        "other_statements": round(
            (loaded.statements - loaded.fire_statements - loaded.result_statements - idle.statements * passed) / fires,
            3,
        ),
        "node_cpu_ms": round((loaded.node_cpu_s - idle.node_cpu_s * passed) / fires * 1000, 3),
        "postgresql_cpu_ms": round((loaded.postgresql_cpu_s - idle.postgresql_cpu_s * passed) / fires * 1000, 3),
    }


def each_second(idle: Stretch, pairs: int) -> dict[str, float]:
    """What a node costs in each cell while nothing is due; `pairs` are nodes times cells."""
    return {
        "statements": round(idle.statements / idle.seconds / pairs, 2),
        "lease_statements": round(idle.lease_statements / idle.seconds / pairs, 2),
        "connections": round(idle.connections / pairs, 2),
        "node_cpu_ms": round(idle.node_cpu_s / idle.seconds / pairs * 1000, 2),
        "postgresql_cpu_ms": round(idle.postgresql_cpu_s / idle.seconds / pairs * 1000, 2),
    }


def run(nodes: Sequence[int], cells: Sequence[int], seconds: float, path: Path) -> dict[str, Any]:
    """Every deployment that has no calm measurement yet."""
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    done = {(one["nodes"], one["cells"]): one for one in found.get("deployments", [])}
    for cell_count in cells:
        missing = [one for one in nodes if not done.get((one, cell_count), {"calm": False})["calm"]]
        if not missing:
            continue
        with running() as server, receiving() as target:
            deployment = Deployment(server, target, cell_count, JOBS)
            for node_count in missing:
                print(f"growth: {node_count} nodes, {cell_count} cells", file=sys.stderr, flush=True)
                done[node_count, cell_count] = measure(deployment, node_count, seconds)
                ordered = sorted(done.values(), key=lambda one: (one["cells"], one["nodes"]))
                found = {"machine": machine(), "rate": RATE, "seconds": seconds, "deployments": ordered}
                path.write_text(json.dumps(found, indent=1) + "\n")
    return found


def main(words: Sequence[str]) -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(prog="benchmarks.growth")
    parser.add_argument("--nodes", type=_numbers, default=NODES)
    parser.add_argument("--cells", type=_numbers, default=CELLS)
    parser.add_argument("--seconds", type=float, default=STRETCH_S)
    parser.add_argument("--out", type=Path, default=REPORT)
    parser.add_argument("--page", action="store_true")
    chosen = parser.parse_args(words)
    if chosen.page:
        PAGE.write_text(PAGE.read_text().partition(MARK)[0] + MARK + table(json.loads(REPORT.read_text())))
        return
    run(chosen.nodes, chosen.cells, chosen.seconds, chosen.out)


def table(report: dict[str, Any]) -> str:
    """The table of the page: a row for each deployment."""
    lines = [
        "| nodes | cells | " + " | ".join(COLUMNS) + " | p95, ms | load average before | commit |",
        "|---:|---:|" + "---:|" * (len(COLUMNS) + 2) + "---|",
    ]
    for one in report["deployments"]:
        late = f"{one['loaded']['p95_ms']:,g}" + ("" if one["calm"] else " **starved**")
        shown = " | ".join(f"{column(one):g}" for column in COLUMNS.values())
        lines.append(
            f"| {one['nodes']} | {one['cells']} | {shown} | {late} | {one['load_before']:g} | `{one['commit']}` |"
        )
    return "\n" + "\n".join(lines) + "\n"


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


if __name__ == "__main__":
    main(sys.argv[1:])

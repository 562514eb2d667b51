"""The runs of the report: a deployment at the size that was asked for, and what happens to it."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from benchmarks.simulation.load import Stream
from benchmarks.simulation.scene import START, Plan, Scene, lateness, seeded
from benchmarks.simulation.service_times import ServiceTimes
from benchmarks.simulation.targets import Trouble
from horae.domain.instances.instances import Priority
from horae.domain.placement import SHARDS

CELLS: Final = 12
PEAK: Final = 55_556.0
"""Fires a second, as seed 002 asks for at the peak."""
NODES: Final = 40
CRITICAL_RATE: Final = 500.0
TARGETS: Final = 64
WARM_S: Final = 2.0
"""Seconds that no figure counts: nothing is under way at the beginning of a run."""
REST_S: Final = 2.0
"""Seconds after the last fire, in which calls still arrive."""
MOVE_PAUSE_S: Final = 0.027
"""For how long a shard is closed while it moves: the median of the trial in issue 23."""
MOVES_PER_S: Final = 20.0
HERD_S: Final = 1.0
"""The second whose fires are all due at its beginning."""
LATE_MS: Final = 2000.0
Figures = dict[str, Any]
Scenario = Callable[[ServiceTimes, float], Figures]


def steady(times: ServiceTimes, scale: float) -> Figures:
    """The peak without a pause."""
    plan = _plan(60 * scale)
    return _run(plan, times)


def by_nodes(times: ServiceTimes, scale: float) -> Figures:
    """The peak with fewer and more nodes."""
    return {f"{nodes}": _run(_plan(10 * scale, nodes=nodes), times) for nodes in (20, 26, 32, 48, 64)}


def cell_lost(times: ServiceTimes, scale: float) -> Figures:
    """One cell is down for half of the time, and comes back."""
    seconds = 60 * scale
    plan, down_s, back_s = _plan(seconds), seconds / 6, seconds * 4 / 6

    def happen(scene: Scene) -> None:
        scene.kernel.at(START + down_s, scene.lose_cell, 0)
        scene.kernel.at(START + back_s, scene.return_cell, 0)

    with seeded():
        scene = _simulate(plan, times, happen)
    lost = frozenset(scene.cells[0].owners)
    others = frozenset(range(SHARDS)) - lost
    gone = scene.arrivals.late_between(back_s - 1, back_s, shards=lost)
    return _figures(scene, plan) | {
        "down_s": round(back_s - down_s, 1),
        "others_p95_ms": lateness(scene.arrivals.late_between(down_s, back_s, shards=others))["p95_ms"],
        "back_p95_ms": lateness(scene.arrivals.late_between(seconds - 5 * scale, seconds, shards=lost))["p95_ms"],
        "caught_up_after_s": round(max(gone) / 1000, 1) if gone else None,
    }


def node_lost(times: ServiceTimes, scale: float) -> Figures:
    """A node is gone without a word: the others inherit its shards when its lease has run out."""
    seconds, at_s = 25 * scale, 4 * scale
    plan = _plan(seconds)
    with seeded():
        scene = _simulate(plan, times, lambda scene: scene.kernel.at(START + at_s, scene.kill_node, 0))
    late = scene.arrivals.late_between(at_s, seconds)
    return _figures(scene, plan) | {
        "late_beyond_2_s": sum(1 for one in late if one > LATE_MS),
        "longest_ms": round(max(late), 1),
        "repeated": scene.arrivals.repeated,
    }


def rebalancing(times: ServiceTimes, scale: float) -> Figures:
    """A cell is added, and a thirteenth of the shards of each cell move to it, one after the other."""
    seconds = 30 * scale
    plan = _plan(seconds)
    moved: list[int] = []

    def happen(scene: Scene) -> None:
        target = scene.add_cell()
        shards = [shard for cell in scene.cells[:CELLS] for shard in sorted(cell.owners)[:: CELLS + 1]]
        most = int((seconds - 2 * WARM_S) * MOVES_PER_S)
        for place, shard in enumerate(shards[:most]):
            moved.append(shard)
            scene.kernel.at(START + WARM_S + place / MOVES_PER_S, scene.move_shard, shard, target, MOVE_PAUSE_S)

    with seeded():
        scene = _simulate(plan, times, happen)
    return _figures(scene, plan) | {"moved": len(moved), "moves_per_s": MOVES_PER_S, "pause_s": MOVE_PAUSE_S}


def slow_targets(times: ServiceTimes, scale: float) -> Figures:
    """One target in eight answers after 2 s instead of 10 ms, and one in 64 not at all, for half of the time."""
    seconds = 30 * scale
    begin, end = seconds / 3, seconds * 5 / 6
    slow = {f"https://load-{n}.example/": Trouble(begin, end, 2.0) for n in range(0, TARGETS, 8)}
    hung = {"https://load-1.example/": Trouble(begin, end, 60.0)}
    plan = _plan(seconds, troubles=slow | hung)
    with seeded():
        scene = _simulate(plan, times)
    healthy = frozenset(shard for shard in range(SHARDS) if shard % TARGETS % 8 and shard % TARGETS != 1)
    late = scene.arrivals.late_between(begin, end, stream=0, shards=healthy)
    return _figures(scene, plan) | {"healthy_p95_ms": lateness(late)["p95_ms"]}


def herds(times: ServiceTimes, scale: float) -> Figures:
    """Everybody at the same moment, beside a fifth of the peak and critical fires."""
    found: Figures = {}
    for size in (55_556, 200_000, 500_000):
        streams = [
            Stream("load", PEAK / 5, 0.0, 30 * scale, targets=TARGETS, tenants=8),
            Stream("critical", CRITICAL_RATE, 0.0, 30 * scale, priority=Priority.CRITICAL),
            Stream("herd", size * scale, 3.0, 3.0 + HERD_S, targets=TARGETS, tenants=8, at_once=True),
        ]
        plan = Plan(CELLS, NODES, streams, 30 * scale)
        with seeded():
            scene = _simulate(plan, times)
        late = [scene.arrivals.late_between(0, plan.seconds, stream=number) for number in range(3)]
        found[f"{int(size * scale)}"] = {
            "offered": scene.offered,
            "arrived": len(scene.arrivals),
            "herd_p95_ms": lateness(late[2])["p95_ms"],
            "herd_gone_after_s": round(max(late[2]) / 1000, 2),
            "critical_p95_ms": lateness(late[1])["p95_ms"],
        }
    return found


def overload(times: ServiceTimes, scale: float) -> Figures:
    """Multiples of the peak, to see where it breaks."""
    multiples = (1.0, 1.25, 1.5, 2.0, 10.0)
    return {f"{one:g}": _run(_plan(6 * scale, rate=one * PEAK), times) for one in multiples}


SCENARIOS: Final[Mapping[str, Scenario]] = {
    "by_nodes": by_nodes,
    "steady": steady,
    "cell_lost": cell_lost,
    "node_lost": node_lost,
    "rebalancing": rebalancing,
    "slow_targets": slow_targets,
    "herds": herds,
    "overload": overload,
}


def _plan(
    seconds: float, *, nodes: int = NODES, rate: float = PEAK, troubles: Mapping[str, Trouble] | None = None
) -> Plan:
    streams = [
        Stream("load", rate - CRITICAL_RATE, 0.0, seconds, targets=TARGETS, tenants=8),
        Stream("critical", CRITICAL_RATE, 0.0, seconds, priority=Priority.CRITICAL),
    ]
    return Plan(CELLS, nodes, streams, seconds, troubles=troubles or {})


def _run(plan: Plan, times: ServiceTimes) -> Figures:
    with seeded():
        return _figures(_simulate(plan, times), plan)


def _simulate(plan: Plan, times: ServiceTimes, happen: Callable[[Scene], object] = lambda _scene: None) -> Scene:
    """Run a plan to its end; `happen` arranges what happens to the deployment."""
    scene = Scene(plan, times)
    happen(scene)
    scene.count_between(WARM_S, plan.seconds)
    scene.run_until(plan.seconds + REST_S)
    scene.close()
    return scene


def _figures(scene: Scene, plan: Plan) -> Figures:
    """What every run tells."""
    seen = scene.arrivals
    late = seen.late_between(WARM_S, plan.seconds)
    (nodes_s, cells_s), lasted_s = scene.counted_s, plan.seconds - WARM_S
    statements = sum(cell.statements for cell in scene.cells)
    arrived = len(seen)
    return {
        "nodes": plan.nodes,
        "offered": scene.offered,
        "arrived": arrived,
        "succeeded": seen.succeeded,
        "dead": seen.dead,
        "rate": round(seen.count_until(plan.seconds) / plan.seconds),
        **lateness(late),
        "critical_p95_ms": lateness(seen.late_between(WARM_S, plan.seconds, stream=1))["p95_ms"],
        "busy_share_of_nodes": round(nodes_s / lasted_s / plan.nodes, 3),
        "busy_share_of_cells": round(cells_s / lasted_s / len(scene.cells) / plan.cores_of_cell, 3),
        "statements_per_fire": round(statements / max(1, arrived), 3),
    }

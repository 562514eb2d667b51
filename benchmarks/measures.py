"""What signals and protective measures cost `bench push`: a node as it is beside one that counts and judges nothing.

The nodes take turns, each in a process of its own, on one database. No measure is in force.
"""

from collections.abc import Mapping
from dataclasses import replace
from statistics import median
from typing import Any

from benchmarks import wrapped
from benchmarks.measure import Bound, Size, Slice, alternate, judged, middle
from benchmarks.nodes import NOTHING, node
from benchmarks.push import OFFERED, Bench
from benchmarks.server import SETTINGS, running
from benchmarks.target import receiving

WITHOUT = {wrapped.PATCH: "benchmarks.unmeasured"}
PAIRS, FEWEST_PAIRS = 5, 2
SLICES_OF_A_PAIR = 4
BOUNDS = (Bound("cost", most=0.05), Bound("cpu_cost", most=0.05))


def main(seconds: float) -> dict[str, Any]:
    """Both nodes in turn."""
    pairs = PAIRS if seconds >= PAIRS * SLICES_OF_A_PAIR else FEWEST_PAIRS
    size = replace(Size.lasting(seconds, pairs * SLICES_OF_A_PAIR), slices=pairs)
    with running() as server, receiving() as target:
        bench = Bench(server, target, size)
        whole, without = alternate(pairs, lambda _: _slice(bench, NOTHING), lambda _: _slice(bench, WITHOUT))
    settings = {
        "jobs": size.jobs, "offered": OFFERED, "slice_s": size.slice_s, "slices": pairs, "postgresql": SETTINGS,
    }  # fmt: skip
    return judged({"settings": settings, **_costs(whole, without)}, BOUNDS)


def _slice(bench: Bench, inside: Mapping[str, str]) -> Slice:
    """The second slice of a node: in the first one it knows no job yet."""
    with node(bench.server, bench.ours_db, inside=inside) as process:
        bench.ours(process)
        return bench.ours(process)[0]


def _costs(whole: list[Slice], without: list[Slice]) -> dict[str, Any]:
    pairs = list(zip(whole, without, strict=True))
    return {
        "cost": round(1 - median(one.rate / other.rate for one, other in pairs), 3),
        "cpu_cost": round(median(_cpu_ms(one) / _cpu_ms(other) for one, other in pairs) - 1, 3),
        "rate": round(middle(whole, lambda one: one.rate)),
        "rate_without": round(middle(without, lambda one: one.rate)),
        "node_cpu_ms_per_fire": round(middle(whole, _cpu_ms), 4),
        "node_cpu_ms_per_fire_without": round(middle(without, _cpu_ms), 4),
        "rates": [round(one.rate) for one in whole],
        "rates_without": [round(one.rate) for one in without],
    }


def _cpu_ms(one: Slice) -> float:
    return one.per_fire(one.client_cpu) * 1000

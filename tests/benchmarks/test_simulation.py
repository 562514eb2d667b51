"""The simulation of a deployment: small forms of its runs. The figures follow from the seed alone."""

import json

import pytest
from benchmarks.simulation import report
from benchmarks.simulation.event_loop import NodeLoop
from benchmarks.simulation.kernel import Kernel
from benchmarks.simulation.load import Stream
from benchmarks.simulation.processors import OwnCore, SharedCores
from benchmarks.simulation.scene import START, Plan, Scene, lateness, seeded
from benchmarks.simulation.service_times import ServiceTimes
from benchmarks.simulation.targets import Trouble
from benchmarks.simulation.validation import misses

from benchmarks import growth
from horae.domain.placement import SHARDS

TIMES = ServiceTimes(
    offer_s=10e-6,
    fire_s=100e-6,
    send_s=80e-6,
    land_s=40e-6,
    result_s=80e-6,
    node_statement_s=2e-3,
    node_base_share=0.01,
    node_cell_share=0.01,
    postgresql_call_s=80e-6,
    postgresql_statement_s=0.9e-3,
    postgresql_base_share=0.01,
    postgresql_node_share=0.01,
    commit_s=1e-3,
    round_trip_s=0.2e-3,
    wake_up_s=2e-3,
    target_s=40e-6,
)
LATE_MS = 250.0


def simulate(plan: Plan, happen=lambda _scene: None) -> Scene:
    with seeded():
        scene = Scene(plan, TIMES)
        happen(scene)
        scene.run_until(plan.seconds + 2)
        scene.close()
    return scene


def small(seconds: float = 4.0, rate: float = 300.0, **more) -> Plan:
    return Plan(3, 3, [Stream("load", rate, 0.0, seconds, targets=8)], seconds, **more)


def test_every_fire_arrives_and_ends_and_two_runs_are_the_same():
    first, second = (simulate(small()) for _ in range(2))
    assert first.offered == len(first.arrivals) == first.arrivals.succeeded == 1200
    assert list(first.arrivals.late_ms) == list(second.arrivals.late_ms)
    assert lateness(first.arrivals.late_ms)["p95_ms"] < LATE_MS


def test_a_lost_cell_delays_its_own_shards_alone_and_loses_nothing():
    def happen(scene: Scene) -> None:
        scene.kernel.at(START + 1, scene.lose_cell, 0)
        scene.kernel.at(START + 3, scene.return_cell, 0)

    scene = simulate(small(6.0), happen)
    lost = frozenset(scene.cells[0].owners)
    others = frozenset(range(SHARDS)) - lost
    assert len(scene.arrivals) == scene.offered
    assert max(scene.arrivals.late_between(1, 6, shards=others)) < LATE_MS
    assert max(scene.arrivals.late_between(1, 3, shards=lost)) > 1000


def test_the_shards_of_a_node_that_is_gone_are_inherited_when_its_lease_has_run_out():
    scene = simulate(small(14.0, 60.0), lambda scene: scene.kernel.at(START + 1, scene.kill_node, 0))
    assert len(scene.arrivals) == scene.offered
    assert 6000 < max(scene.arrivals.late_ms) < 12_000
    assert max(scene.arrivals.late_between(13, 14)) < LATE_MS


def test_moved_shards_go_on_in_their_new_cell():
    moved = range(0, SHARDS, 64)

    def happen(scene: Scene) -> None:
        target = scene.add_cell()
        for place, shard in enumerate(moved):
            scene.kernel.at(START + 1 + place / 32, scene.move_shard, shard, target, 0.03)

    scene = simulate(small(6.0), happen)
    assert len(scene.arrivals) == scene.offered
    assert set(scene.cells[-1].owners) == set(moved)
    assert None not in scene.cells[-1].owners.values()


def test_a_target_that_hangs_is_retried_by_the_policy_and_delays_no_other():
    troubles = {"https://load-0.example/": Trouble(0.5, 2.5, 60.0)}
    scene = simulate(small(12.0, 100.0, troubles=troubles))
    healthy = frozenset(shard for shard in range(SHARDS) if shard % 8)
    assert len(scene.arrivals) == scene.offered
    assert scene.arrivals.repeated > 0
    assert max(scene.arrivals.late_between(0, 12, shards=healthy)) < LATE_MS


def test_more_than_the_processors_can_do_waits_and_is_told_by_the_lateness():
    scene = simulate(small(2.0, 12_000.0))
    assert lateness(scene.arrivals.late_ms)["p95_ms"] > LATE_MS


def test_threads_share_cores_equally():
    kernel, ended = Kernel(0.0), []
    cores = SharedCores(kernel, 2)
    for name, seconds in (("short", 1.0), ("long", 2.0), ("long too", 2.0)):
        cores.run(seconds, lambda name=name: ended.append((name, round(kernel.now, 6))))
    kernel.run_until(10.0)
    assert ended == [("short", 1.5), ("long", 2.5), ("long too", 2.5)]
    assert cores.busy_s == pytest.approx(5.0)


def test_a_callback_waits_for_the_processor_time_of_the_one_before():
    kernel, seen = Kernel(0.0), []
    loop = NodeLoop(kernel, OwnCore(kernel))

    def work() -> None:
        seen.append(kernel.now)
        loop.use(0.5)

    loop.call_soon(work)
    loop.call_soon(work)
    kernel.run_until(2.0)
    assert seen == [0.0, 0.5]


def run_of(rate: float, processor: float, p95: float) -> dict[str, float]:
    return {"rate": rate, "processor_s_per_s": processor, "p95_ms": p95}


def test_a_prediction_is_judged_by_rate_processor_time_and_the_span_of_the_lateness():
    runs = [run_of(1000, 1.0, p95) for p95 in (10, 12, 20)]
    assert not misses(run_of(1100, 0.9, 15), runs)
    assert len(misses(run_of(1200, 0.8, 21), runs)) == 3


def test_the_pages_have_the_figures_of_their_reports():
    page = report.PAGE.read_text()
    assert page == page.partition(report.MARK)[0] + report.MARK + report.text(report.read()), (
        "benchmarks.simulation page"
    )
    page = growth.PAGE.read_text()
    found = json.loads(growth.REPORT.read_text())
    assert page == page.partition(growth.MARK)[0] + growth.MARK + growth.table(found), "benchmarks.growth --page"


def test_a_validation_that_was_missed_is_told_on_the_page():
    missed = {"commit": "1", "runs": 1, "capacity": 1.0, "loads": {}, "missed": ["the rate was off"], "passed": False}
    assert report.NOT_QUOTED in report.text({})
    assert report.NOT_QUOTED in (said := report.text({"validation": missed}))
    assert "- the rate was off" in said
    assert report.NOT_QUOTED not in report.text({"validation": missed | {"missed": [], "passed": True}})

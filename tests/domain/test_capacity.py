"""Capacity follows from measured figures: each need by its rule, and no plan that no measurement supports."""

import pytest

from horae.domain.capacity.figures import CALLS, FIRE_ROWS, MEMORY, STORE, TASK_ROWS
from horae.domain.capacity.plan import Demand, Need, amount_text, load_for, plan, volume
from horae.domain.errors import Invalid

INTERNET = Demand(jobs=3_000_000, fires_per_s=9_260, peak_per_s=55_556)


def amounts(demand):
    return {need.name: need.amount for need in plan(demand)}


def test_a_small_deployment_has_one_cell_and_two_nodes():
    found = amounts(Demand(jobs=1000, fires_per_s=10, peak_per_s=50))
    assert (found["cells"], found["nodes"], found["CPU of PostgreSQL, each cell"]) == (1, 2, 2)


def test_cells_follow_the_rate_that_one_postgresql_takes_and_nodes_their_cpu():
    found = amounts(INTERNET)
    assert found["cells"] == -(-55_556 // (STORE.fires_per_s * 0.7))
    assert found["nodes"] == -(-55_556 * CALLS.node_cpu_ms / 1000 // 0.7) + 1
    assert found["CPU of PostgreSQL, each cell"] * found["cells"] >= 55_556 * CALLS.postgresql_cpu_ms / 1000


def test_many_jobs_that_seldom_fire_need_more_cells_too():
    assert amounts(Demand(jobs=10 * MEMORY.jobs, fires_per_s=1, peak_per_s=1))["cells"] == 10


def test_disk_and_wal_follow_the_bytes_of_a_fire():
    found = amounts(INTERNET)
    fires = 9_260 * 86_400
    assert found["WAL a day, all cells"] == fires * FIRE_ROWS.wal_bytes
    assert found["disk for 14 days, each cell"] * found["cells"] == pytest.approx(
        fires * FIRE_ROWS.each_day_bytes * 14 * 1.5
    )
    assert found["archive for 90 days, all cells"] == fires * FIRE_ROWS.archived_bytes * 90
    assert found["replication at the peak, each cell"] == 2 * found["WAL at the peak, each cell"]


def test_a_payload_makes_fires_tasks_and_each_byte_of_it_counts():
    small, large = (amounts(INTERNET._replace(payload_bytes=size)) for size in (300, 1300))
    assert small["cells"] > amounts(INTERNET)["cells"]
    fires = 9_260 * 86_400
    assert small["WAL a day, all cells"] == fires * TASK_ROWS.wal_bytes
    assert large["WAL a day, all cells"] - small["WAL a day, all cells"] == pytest.approx(fires * 2000)
    assert large["archive for 90 days, all cells"] - small["archive for 90 days, all cells"] == pytest.approx(
        fires * 1000 * 90
    )


def test_a_tight_latency_loads_each_part_less_until_nothing_measured_supports_it():
    assert load_for(2000) == 0.7
    assert load_for(CALLS.quiet_p95_ms * 2) == 0.5
    assert amounts(INTERNET._replace(p95_ms=CALLS.quiet_p95_ms * 2))["nodes"] > amounts(INTERNET)["nodes"]
    with pytest.raises(Invalid, match="no measurement supports a p95 of"):
        plan(INTERNET._replace(p95_ms=CALLS.quiet_p95_ms))


@pytest.mark.parametrize("wrong", [{"jobs": 0}, {"fires_per_s": 0}, {"peak_per_s": 1}, {"hot_days": -1}])
def test_a_demand_that_cannot_be_is_refused(wrong):
    with pytest.raises(Invalid):
        plan(INTERNET._replace(**wrong))


def test_each_need_names_what_it_was_computed_from():
    assert all(need.basis for need in plan(INTERNET))
    assert amount_text(Need("x", 1_500_000, "B/s", "")) == "1.5 MB/s"
    assert amount_text(Need("x", 26, "cores", "")) == "26 cores"
    assert [volume(size) for size in (12, 2e15)] == ["12 B", "2 PB"]

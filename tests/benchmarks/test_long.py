"""Full-size measurements that `make long` repeats. Run them alone: they measure."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from benchmarks.api_server import Prepared, doors
from benchmarks.caller import Called, Plan, call
from benchmarks.data import fresh
from benchmarks.measure import Size, percentile
from benchmarks.server import running
from benchmarks.target import receiving

from benchmarks import churn, herd, push, scale, snapshot


@pytest.mark.long
@pytest.mark.timeout(10_000)
@pytest.mark.parametrize("minutes", [3, 60])
def test_a_held_snapshot_costs_at_most_a_tenth(minutes):
    found = snapshot.main(minutes * 120)
    assert found["seconds_each"] >= minutes * 60
    assert found["ratio"] >= 0.9


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_million_lifecycles_leave_a_small_live_table():
    found = churn.main(20)
    assert found["lifecycles"] >= 1_000_000
    assert found["live_mb_largest"] < 64


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_no_scan_grows_with_the_number_of_jobs():
    found = scale.main(0)
    assert found["buffers_per_row_max"] <= 10
    assert found["growth"] <= 1.2


@pytest.mark.long
@pytest.mark.timeout(600)
def test_seed_002_example_1_coupons_every_five_minutes_keep_p95_below_1800_ms():
    size = Size.lasting(50, 10)
    with running() as server, receiving() as target:
        database = fresh(server, size.jobs, "bench_coupons")
        push.park(server, database)
        arrivals = herd.drain(server, database, target, 10_000, size.lead_s + herd.START_S)
    assert len(arrivals) == 10_000
    assert percentile([seen.late_ms for seen in arrivals], 95) < herd.COUPONS_P95_MS


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_hundred_thousand_jobs_at_one_second_delay_neither_critical_fires_nor_callers():
    """R-07: 500 critical fires a second, and 20 requests a second, while the herd is served."""
    size, herd_size, herd_s = Size.lasting(50, 10), herd.SIZES[-1], 30.0
    lead_s = size.lead_s + herd.START_S

    def ask_during_the_herd(port: int, key: str) -> Called:
        time.sleep(lead_s)
        return call(Plan(port, "history", key, herd_s, connections=4, rate=20))

    with running() as server, receiving() as target, ThreadPoolExecutor(1) as beside:
        database = fresh(server, size.jobs, "bench_crowd")
        prepared = Prepared(server, database)
        push.park(server, database)
        with doors(server, database) as (port, _):
            asked = beside.submit(ask_during_the_herd, port, prepared.key)
            arrivals = herd.drain(server, database, target, herd_size, lead_s, herd.CRITICAL_RATE)
            called = asked.result()
    herd_time = min(seen.fire_time for seen in arrivals)
    critical = [seen.late_ms for seen in arrivals if seen.fire_time != herd_time]
    assert len(arrivals) - len(critical) == herd_size
    assert len(critical) >= herd.CRITICAL_RATE
    assert percentile(critical, 95) < 2000
    assert called.requests >= 20 * herd_s * 0.9
    assert called.p99_ms < 1000

"""Two nodes and an API process under load: what Prometheus has is what happened, and every panel has data."""

import asyncio
from bisect import bisect_right
from signal import SIGCONT, SIGSTOP

import pytest
from tools.boards import BOARDS

from horae.domain.events.channels import Subscription, WebhookAddress
from horae.domain.targets.targets import HttpTarget
from horae.service.events import subscriptions
from horae.service.jobs import jobs
from horae.store.health.metrics import BOUNDS_S
from tests.monitoring.conftest import JOBS
from tests.monitoring.servers import LONG, receiving
from tests.steps import a_job, every, query, until

pytestmark = pytest.mark.timeout(400)
REQUESTS = 25
FIRES = 15 * JOBS
FINEST_S = 0.5
"""Below that, a bucket is narrower than the way from the node to the target's own log on a busy machine."""
NAMES = ("dead", *(f"job-{number}" for number in range(JOBS)))


def refuse_the_last(arrival):
    """One job dies each time, the others succeed."""
    return 400 if arrival.job == "dead" else 200


@pytest.fixture
async def sink():
    async with receiving() as sink:
        yield sink


@pytest.fixture
async def loaded(watched, sink):
    """Everything that boards show, except for faults."""
    archive = f"file://{watched.prometheus.folder}/archive"
    watched.settings |= {"HORAE_ARCHIVE": archive, "HORAE_DISK_BYTES": "100GiB"}
    watched.catcher.answer = refuse_the_last
    await watched.begin()
    await subscriptions.put(watched.ctx, "crm", Subscription(WebhookAddress(sink.url, "crm")))
    await a_job(watched.ctx, "dead", every(watched.ctx, 2, "dead"), target=HttpTarget(f"{watched.catcher.url}/dead"))
    await watched.fire_every_second(labels={"metrics": "on"})
    return watched


async def stop_all_nodes_for_seconds(watched):
    """Some fires are late."""
    nodes = [watched.children[name] for name in ("node-1", "node-2")]
    for node in nodes:
        node.signal(SIGSTOP)
    await asyncio.sleep(3)
    for node in nodes:
        node.signal(SIGCONT)


async def counted(watched, expression):
    return round(await watched.prometheus.value(expression) or 0)


async def rows(watched, state):
    found = await query(watched.store, "select count(*) as many from instance_history where state = $1", state)
    return sum(row["many"] for row in found)


async def test_metrics_are_what_happened_and_every_panel_has_data(loaded):
    for _ in range(REQUESTS):
        assert await loaded.get("/jobs") == 200
    await stop_all_nodes_for_seconds(loaded)
    await until(lambda: len(loaded.catcher.arrivals) >= FIRES, LONG)
    for name in NAMES:
        await jobs.pause(loaded.ctx, name)

    async def nothing_is_under_way():
        live = await query(loaded.store, "select count(*) as many from instance_live")
        return sum(row["many"] for row in live) == 0

    await until(nothing_is_under_way, LONG)
    await counters_equal_the_rows(loaded)
    await delays_equal_the_targets_log(loaded)
    for name in NAMES:
        await jobs.resume(loaded.ctx, name)
    for board in BOARDS:
        await every_panel_has_data(loaded, board)


NOT_HERE = {"horae_wal_archive_lag_seconds"}
"""Families of which this server has no sample: it archives no WAL. `tests/system/test_restore.py` has one that does."""


async def every_panel_has_data(watched, board):
    """Each query, with its variables set to a value that there is, and to all values."""
    chosen = {}
    for one in board.variables:
        await watched.sees(one.metric)
        chosen[one.name] = (await watched.prometheus.query(one.metric))[0]["metric"][one.name]
    for values in (chosen, dict.fromkeys(chosen, ".*")):
        for panel in board.panels:
            for expression, _ in panel.queries:
                if any(name in expression for name in NOT_HERE):
                    continue
                text = expression.replace("$__rate_interval", "1m")
                for name, value in values.items():
                    text = text.replace(f"${name}", value)
                try:
                    await watched.sees(text)
                except AssertionError:
                    pytest.fail(f"{board.name}: {panel.title}: no data for {text}")


async def counters_equal_the_rows(watched):
    """Results of attempts are rows of history; requests are those that were made."""
    expected = {state: await rows(watched, state) for state in ("SUCCESS", "DEAD")}
    assert min(expected.values()) > 0

    async def are_equal():
        by_result = 'sum(horae_attempts_total{result="%s"})'
        found = {state: await counted(watched, by_result % state.lower()) for state in expected}
        return found == expected

    await until(are_equal, LONG)
    assert await counted(watched, 'sum(horae_api_requests_total{route="/api/v1/jobs",status="200"})') == REQUESTS
    assert await counted(watched, "sum(horae_job_attempts_total)") == expected["SUCCESS"]


async def delays_equal_the_targets_log(watched):
    """For each bound, as many calls are as late by the target's log as by the histogram, give or take a bucket."""
    log_s = sorted(arrival.late_ms / 1000 for arrival in watched.catcher.arrivals if arrival.attempt == 1)
    found = await watched.prometheus.query("sum by (le) (horae_trigger_delay_seconds_bucket)")
    below = {float(one["metric"]["le"]): round(float(one["value"][1])) for one in found}
    assert below[float("inf")] == len(log_s)
    assert log_s[-1] > 2, "some were late"
    bounds = [*BOUNDS_S, float("inf")]
    for place, bound in enumerate(bounds[:-1]):
        if bound >= FINEST_S:
            logged = bisect_right(log_s, bound)
            assert below[bounds[place - 1]] <= logged <= below[bounds[place + 1]], bound

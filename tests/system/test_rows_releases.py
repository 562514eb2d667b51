"""Processes of the release before run beside ours on our schema, through restarts and kills (R-14)."""

from collections import defaultdict
from datetime import timedelta
from itertools import pairwise
from signal import SIGKILL, SIGTERM

import pytest

from horae.domain.targets.targets import HttpTarget
from tests.catcher import catching
from tests.engine.fleet import every_fire_has_one_row, steady
from tests.steps import a_type, query, until
from tests.system.children import ROOT
from tests.system.release_writer import put_tasks
from tests.system.releases import GRACE_S, ReleaseProcess, export_release, find_release_before

LONG = (pytest.mark.long, pytest.mark.timeout(3600))
SHORT = pytest.mark.timeout(300)
PATIENCE_S = 90
UNREAD = timedelta(seconds=2)
"""How long a call of a killed node may lie in a socket before the receiver, in a busy loop, reads it."""
BEFORE = 0
OWNERS = """
    select distinct owner from shard join node on incarnation = owner
    where state = 'ACTIVE' and expires_at > now()"""


@pytest.fixture
async def catcher(store):
    async with catching(store.cells[0].clock.now) as catcher:
        yield catcher


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The sources of the release before, and ours."""
    commit = find_release_before()
    if commit is None:
        pytest.skip("there is no release before: this checkout has no history, or none with fewer migrations")
    return [export_release(commit, tmp_path_factory.mktemp("before")), ROOT / "src"]


@pytest.fixture
def processes(sources, cells, tmp_path):
    """Makes a process of one release; every one is ended after the test."""
    made = []

    def make(name, release):
        made.append(ReleaseProcess(name, tmp_path, sources[release], cells))
        return made[-1]

    yield make
    for process in made:
        process.end()


@pytest.mark.parametrize(
    ("nodes", "restarts", "jobs", "tasks"),
    [pytest.param(2, 2, 40, 40, marks=SHORT), pytest.param(4, 50, 1000, 1000, marks=LONG)],
)
async def test_nodes_of_two_releases_fire_each_others_rows_through_restarts_and_kills(
    ctx, store, catcher, processes, nodes, restarts, jobs, tasks
):
    catcher.takes = 0.02
    catcher.answer = lambda arrival: 503 if arrival.key and arrival.key.endswith("7") and arrival.attempt == 1 else 200
    await a_type(ctx, "MIXED", target=HttpTarget(f"{catcher.url}/task"))
    running = [processes(f"node-{number}", number % 2) for number in range(nodes)]
    for node in running:
        node.start("-m", "horae", "node")
    await until(lambda: all_hold_shards(store, running, set()), PATIENCE_S)
    await steady(ctx, store, catcher, jobs)
    writer = processes("writer", BEFORE)
    writer.start("-m", "tests.system.release_writer", "acme", "MIXED", "before", str(tasks))
    await put_tasks(ctx, "MIXED", "now", tasks)
    kills = []
    for number in range(restarts):
        node = running[number % nodes]
        before = await owners(store)
        await restart(node, SIGTERM if number % 3 == 2 else SIGKILL, catcher, kills)
        await until(lambda before=before: all_hold_shards(store, running, before), PATIENCE_S)
        seen = len(catcher.arrivals)
        await until(lambda seen=seen: jobs_fired_since(catcher, seen) == jobs, PATIENCE_S)
    assert await writer.ended(PATIENCE_S) == 0, writer.tail()
    expected = {f"{release}-{number}" for release in ("before", "now") for number in range(tasks)}
    await until(lambda: {one.key for one in catcher.arrivals if one.status == 200} >= expected, PATIENCE_S)
    for node in running:
        node.signal(SIGTERM)
    for node in running:
        assert await node.ended(PATIENCE_S) == 0, node.tail()
    assert await every_fire_has_one_row(store, jobs) >= restarts * jobs
    await every_task_succeeded_once(store, expected)
    repeats_have_a_reason(catcher, kills)


async def owners(store):
    """The living nodes that hold shards."""
    return {row["owner"] for row in await query(store, OWNERS)}


async def all_hold_shards(store, running, before):
    """Whether as many nodes as run hold shards, and one of them is new."""
    for node in running:
        assert node.running, node.tail()
    found = await owners(store)
    return len(found) == len(running) and found != before


def jobs_fired_since(catcher, seen):
    return len({one.job for one in catcher.arrivals[seen:] if one.key is None})


async def restart(node, signal, catcher, kills):
    """Kill a node or let it hand its shards back, and start it again."""
    if signal == SIGKILL:
        kills.append(catcher.now())
    node.signal(signal)
    await node.ended(GRACE_S + PATIENCE_S)
    node.start("-m", "horae", "node")


async def every_task_succeeded_once(store, expected):
    rows = await query(store, "select business_key, state from instance_history where business_key is not null")
    assert sorted(row["business_key"] for row in rows) == sorted(expected)
    assert {row["state"] for row in rows} == {"SUCCESS"}


def repeats_have_a_reason(catcher, kills):
    """A fire has one idempotency key; it arrives again only after a failure, or where its sender was killed."""
    fires, calls = defaultdict(set), defaultdict(list)
    for one in catcher.arrivals:
        fires[one.idempotency_key].add((one.job, one.fire_time, one.key))
        calls[one.idempotency_key].append(one)
    assert {len(found) for found in fires.values()} == {1}
    for first, second in ((a, b) for found in calls.values() for a, b in pairwise(found)):
        killed = any(first.at - UNREAD <= kill <= second.at for kill in kills)
        assert first.status == 503 or killed, (first, second)

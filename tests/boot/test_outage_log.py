"""The log of an outage tells its story in a few lines: since when, what, and when it was over."""

import asyncio
import json
from signal import SIGKILL

import pytest

from horae.domain.targets.targets import HttpTarget
from horae.engine.outages import LATE_MS
from tests.api.api_servers import Door
from tests.catcher import catching
from tests.cell_down import first_behind, mended_proxy
from tests.steps import a_job, every, query, until
from tests.system.children import Child

pytestmark = pytest.mark.timeout(240)
OUTAGE_S = 22
LONG = 60.0
JOBS = 12
"""Jobs that fire every second."""
MAX_LINES = 20


@pytest.fixture
async def catcher(store):
    async with catching(store.cells[0].clock.now) as catcher:
        yield catcher


def lines_of(child, since=0):
    """What a process has logged behind a place of its log; without stalls of its loop: a busy neighbour causes them."""
    said = child.log.read_text(errors="replace")[since:].splitlines()
    lines = [json.loads(line) for line in said if line.startswith("{")]
    return [line for line in lines if not line["event"].startswith("loop.")]


def is_over(line):
    return line["event"] == "cell.caught_up"


def is_in_time(arrivals):
    """Whether the last fire of every job was in time."""
    return len(arrivals) > JOBS and all(one.late_ms < LATE_MS for one in arrivals[-JOBS:])


async def fire_every_second(ctx, catcher):
    for number in range(JOBS):
        name = f"job-{number}"
        await a_job(ctx, name, every(ctx, 1, name), target=HttpTarget(f"{catcher.url}/{name}"))


async def test_an_outage_of_every_database_takes_a_few_lines(ctx, cells, catcher, started):
    await fire_every_second(ctx, catcher)
    with mended_proxy(cells) as first, mended_proxy(cells[1:]) as second:
        reached = [*first_behind(cells[:1], first), *first_behind(cells[1:], second)]
        node, api = started(Child, reached, "node"), started(Door, reached, "api", "--port", "0")
        await api.ready()
        await until(lambda: is_in_time(catcher.arrivals), LONG)  # what was due before the node began was late
        begins = {child: len(child.log.read_text(errors="replace")) for child in (node, api)}
        seen = len(catcher.arrivals)
        for proxy in (first, second):
            proxy.refuse()
        await asyncio.sleep(OUTAGE_S)
        for proxy in (first, second):
            proxy.mend()
        await until(lambda: "node.recovered" in {line["event"] for line in lines_of(node, begins[node])}, LONG)
        caught_up = {cell.name for cell in cells}
        await until(lambda: {line["cell"] for line in lines_of(node, begins[node]) if is_over(line)} == caught_up, LONG)
        arrivals = catcher.arrivals[seen:]
        said = {child.name: lines_of(child, begins[child]) for child in (node, api)}
    for lines in said.values():
        assert len(lines) <= MAX_LINES
        lost = {line["cell"] for line in lines if line["event"] == "cell.unreachable"}
        back = {line["cell"]: line["seconds"] for line in lines if line["event"] == "cell.reachable"}
        assert lost == back.keys() == {cell.name for cell in cells}
        assert min(back.values()) > OUTAGE_S / 2
        assert not any("exception" in line for line in lines), "a traceback tells nobody anything"
    assert said["node"][0]["event"] in {"cell.unreachable", "lease.not_renewed"}
    over = [line for line in said["node"] if line["event"] == "cell.caught_up"]
    assert said["node"][-1] in over, "the last line tells the story"
    assert {line["cell"] for line in over} == {cell.name for cell in cells}
    late = [one for one in arrivals if one.late_ms > LATE_MS]
    assert sum(line["late_fires"] for line in over) == pytest.approx(len(late), abs=JOBS)
    assert len(late) > JOBS
    for lines in said.values():
        names = {line.get("node") or line.get("api") for line in lines}
        assert len(names) == 1, "every line names its process"
        assert None not in names


async def test_a_takeover_says_who_from_whom_and_how_many(ctx, cells, catcher, started):
    first = started(Child, cells, "node", number="1", HORAE_LEASE_TTL="2")
    second = started(Child, cells, "node", number="2", HORAE_LEASE_TTL="2")
    await fire_every_second(ctx, catcher)
    await until(lambda: len(catcher.arrivals) > JOBS, LONG)

    async def shared():
        owners = await query(ctx.store, "select count(distinct owner) as many from shard where state = 'ACTIVE'")
        return all(row["many"] == 2 for row in owners)

    await until(shared, LONG)
    first.signal(SIGKILL)

    def taken():
        return [line for line in lines_of(second) if line["event"] == "lease.taken_over"]

    await until(lambda: {line["cell"] for line in taken()} == {cell.name for cell in cells}, LONG)
    for line in taken():
        assert line["from_node"]
        assert line["by"]
        assert line["last_seen"]
    shards = await query(ctx.store, "select count(*) as many from shard where state = 'ACTIVE'")
    assert 0 < sum(line["shards"] for line in taken()) < sum(row["many"] for row in shards)

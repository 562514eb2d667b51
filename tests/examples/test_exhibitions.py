"""Seed 004 as a business: twenty approvals cost the scheduler no herd of queries, and all twenty open on time.

What is counted are a node's *task queries*: its looks at timers (`FetchPendingTask`, `GetMinNextRetryTime` in the seed)
and its claims, in both cells, as `pg_stat_statements` saw them.

An idle node asks nothing about tasks by the clock, but once in five minutes. That rows were written it hears from
PostgreSQL's own counters, and glances at them in one statement, at most every 4.5 s.
"""

import asyncio
import sys
import time
from datetime import UTC, datetime, timedelta

import httpx2
import psycopg
import pytest

from tests.boot.fleet import a_fleet
from tests.examples.shops import SECRET, own_database, web_service
from tests.keyring import keyring
from tests.steps import count_statements, move_clock, query, until

MANY, VISITORS = 20, 3
SETTLED_S = 6.0
"""Seconds without a task query after which what happened before has been looked at."""
MAX_QUERIES = 4
"""Two glances in each of two cells, for as long as the approvals are watched."""
TASK_QUERIES = """
    select coalesce(sum(calls), 0)::int as many from pg_stat_statements
    where dbid = (select oid from pg_database where datname = current_database())
      and (query like '%cross join lateral%' or query like '%with picked as materialized%')
      and query not like '%insert into signal%'  -- what a minute had, for people
"""


class Watch:
    """Sees when a cell was asked about tasks, and how often."""

    def __init__(self, cell):
        self.cell = cell
        self.seen = []  # (when, how many since the last)
        self.began_at = time.monotonic()
        self._known = None

    async def look(self):
        [row] = await query(self.cell, TASK_QUERIES)
        if self._known is not None and row["many"] > self._known:
            self.seen.append((time.monotonic(), row["many"] - self._known))
        self._known = row["many"]

    def since(self, moment):
        """How many task queries there were after a moment."""
        return sum(many for at, many in self.seen if at > moment)


def settled(watches):
    return all(watch.began_at < time.monotonic() - SETTLED_S for watch in watches)


async def watching(watches, going):
    while going():
        for watch in watches:
            await watch.look()
        await asyncio.sleep(0.05)


@pytest.fixture
async def shop(ctx, store, cells, cluster, tmp_path):
    """The service with its database, over a door and a node; gives (its visitors' way in, its DSN)."""
    with own_database(cluster, "exhibitions") as dsn:
        async with a_fleet(ctx, cells, tmp_path, keyring()) as fleet:
            env = {"EXHIBITIONS_DSN": dsn, "EXHIBITIONS_URL": "{url}", "EXHIBITIONS_SECRET": SECRET}
            env |= {"HORAE_URL": f"http://127.0.0.1:{fleet.door.port}", "HORAE_KEY": fleet.key}
            served = web_service("exhibitions.web", tmp_path, env)
            async with served as url, httpx2.AsyncClient(base_url=url, timeout=60) as people:
                yield people, dsn


async def propose(people, number, hour):
    said = {"title": f"Hall {number}", "registration_start": hour.isoformat()}
    id_ = (await people.post("/exhibitions", json=said)).raise_for_status().json()["id"]
    for visitor in range(VISITORS):
        (await people.post(f"/exhibitions/{id_}/reservations/v{visitor}")).raise_for_status()
    return id_


@pytest.mark.timeout(300)
async def test_twenty_approvals_cost_no_queries_until_the_hour_and_then_all_open_on_time(shop, store):
    people, dsn = shop
    await count_statements(store)
    hour = store.cells[0].clock.now().replace(microsecond=0) + timedelta(hours=1)
    ids = await asyncio.gather(*(propose(people, number, hour) for number in range(MANY)))
    watches, over = [Watch(cell) for cell in store.cells], asyncio.Event()
    watcher = asyncio.create_task(watching(watches, lambda: not over.is_set()))
    await until(
        lambda: not any(watch.since(time.monotonic() - SETTLED_S) for watch in watches) and settled(watches), 60
    )
    approved_at = time.monotonic()
    answers = await asyncio.gather(*(people.post(f"/exhibitions/{id_}/approve") for id_ in ids))
    assert [answer.status_code for answer in answers] == [200] * MANY

    async def forwarded():
        rows = await query(store, "select business_key from instance_live where state = 'INIT'")
        return len(rows) == MANY

    await until(forwarded, 30)
    await asyncio.sleep(3)  # what a wake would cause comes within a tenth of a second
    over.set()
    await watcher
    asked = sum(watch.since(approved_at) for watch in watches)
    report = {
        "task queries": asked,
        "seconds watched from the first approval": round(time.monotonic() - approved_at, 1),
    }
    assert asked <= MAX_QUERIES, report

    # An hour passes. The node reads the clock with its heartbeat, every 2 s, and thinks of a look every 5.
    before_hour = timedelta(seconds=7)
    await move_clock(store, seconds=(hour - before_hour - store.cells[0].clock.now()).total_seconds())
    moved = store.cells[0].clock.now() - datetime.now(UTC)
    with psycopg.connect(dsn, autocommit=True) as business:

        def opened():
            return business.execute("select enrolling_since from exhibition where status = 'ENROLLING'").fetchall()

        def all_told():
            [(left,)] = business.execute("select count(*) from reservation where notified_at is null").fetchall()
            return left == 0

        await until(lambda: len(opened()) == MANY, 30)
        late = sorted(((since + moved - hour) / timedelta(milliseconds=1)) for (since,) in opened())
        await until(all_told, 30)
        effects = business.execute("select count(*) from horae_effect").fetchone()
        waiting = business.execute("select count(*) from horae_outbox").fetchone()
    report |= {"ms late, first and last": (round(late[0]), round(late[-1]))}
    sys.stdout.write(f"{report}\n")
    assert late[0] > -20, "nothing opens before its hour; the two clocks are compared to within their reading"
    assert late[-1] < 2000, report
    assert effects == (2 * MANY,), "each opened once, and each told its visitors once"

    async def ended():
        rows = await query(store, "select state from instance_history")
        return [row["state"] for row in rows] == ["SUCCESS"] * 2 * MANY

    await until(ended, 30)
    assert waiting == (0,)


async def test_an_approval_and_its_task_come_together_once_and_only_horae_opens_it(shop, store):
    people, dsn = shop
    hour = datetime(2060, 1, 1, 9, tzinfo=UTC)
    id_ = await propose(people, 1, hour)
    answers = await asyncio.gather(*(people.post(f"/exhibitions/{id_}/approve") for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409]

    async def scheduled():
        rows = await query(store, "select business_key, fire_time from instance_live")
        return [(row["business_key"], row["fire_time"]) for row in rows] == [(str(id_), hour)]

    await until(scheduled, 30)
    answer = await people.post("/hooks/start-enrolling", json={"key": str(id_), "idempotency_key": "made up"})
    assert answer.status_code == 401
    with psycopg.connect(dsn) as business:
        assert business.execute("select status from exhibition").fetchall() == [("APPROVED",)]

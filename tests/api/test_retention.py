"""How long things are kept and where days are: for a tenant the terms, for the platform the days of each cell."""

from datetime import UTC, date, datetime, time, timedelta

import pytest

from horae.domain.health.growth import ArchiveLag, DaySize, Growth, LagReason, RetentionTerms
from horae.security.roles import Role
from horae.store.databases import partitions
from horae.store.health import growth
from tests.steps import query

TERMS = RetentionTerms(history=14, held=7, logs=3, dead_letters=90, ended_jobs=105, audit=180, archive=90)
ENDED = """
    insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, shard_id, priority,
                                  lane, id, tenant_id, job_id, state, idem_key)
    values ($1, $1, $1, 1, 1, 0, 1, 1, 0, gen_random_uuid(), $2, gen_random_uuid(), 'SUCCESS', 'k')"""
ARCHIVED = """
    insert into archived_day (day, archive_id, state, generation, rows, bytes, archived_at, dropped_at, cleared_until,
                              closing_xid)
    values ($1, gen_random_uuid(), $2, 1, 1000, 18000, now(), $3, now(), 1)"""


@pytest.fixture
async def lived(store, tenant):
    """A cell with rows of two days, one archived day, and one day that is in the archive alone; gives its today."""
    cell = store.cells[0]
    now = cell.clock.now()
    today = now.date()
    async with cell.statement() as tx:
        await partitions.ensure(tx, today - timedelta(days=2), 3)
    for ago in (0, 1, 2):
        await query(cell, ENDED, datetime.combine(today - timedelta(days=ago), time(), UTC), tenant.id)
    await query(cell, ARCHIVED, today - timedelta(days=2), "ARCHIVED", None)
    await query(cell, ARCHIVED, today - timedelta(days=20), "ARCHIVED", now)
    await query(cell, ARCHIVED, today - timedelta(days=99), "EXPIRING", now)
    kept = today - timedelta(days=14)
    await query(cell, "insert into dropped_day values (now(), $1, 'outbox')", kept)
    lag = ArchiveLag(1, today - timedelta(days=1), LagReason.FAILED, ("orders",), "connection refused")
    async with cell.direct(owner=True) as connection:
        sizes = (DaySize(today, 1),)
        await growth.write(connection, Growth(now, 14, 8, 100, None, sizes, (), terms=TERMS, lag=lag))
    return today


async def test_the_platform_sees_where_each_day_is_and_why_the_archive_is_behind(platform, lived):
    answer = (await platform.get("/scheduler/retention")).json()
    assert answer["terms"] == {
        "history": 14, "held": 7, "logs": 3, "dead_letters": 90, "ended_jobs": 105, "audit": 180, "archive": 90
    }  # fmt: skip
    one, other = answer["cells"]
    days = {(lived - date.fromisoformat(day["day"])).days: day for day in one["days"]}
    places = {ago: day["place"] for ago, day in days.items()}
    assert places == {0: "OPEN", 1: "WAITING", 2: "BOTH", 20: "ARCHIVED", 99: "DELETING"}
    assert days[20]["bytes"] is None
    assert (days[20]["archived_rows"], days[20]["archived_bytes"]) == (1000, 18000)
    assert days[1]["bytes"] > 8000
    assert one["lag"] == {
        "days": 1,
        "oldest": str(lived - timedelta(days=1)),
        "reason": "FAILED",
        "subscriptions": ["orders"],
        "failure": "connection refused",
    }
    [dropped] = one["dropped"]
    assert (dropped["table"], dropped["kept_since"]) == ("outbox", str(lived - timedelta(days=14)))
    assert (other["measured_at"], other["lag"], other["days"]) == (None, None, [])


async def test_a_tenant_sees_the_terms_and_the_first_days_and_no_cell(client, lived):
    answer = (await (await client(Role.VIEWER)).get("/scheduler/retention")).json()
    assert (answer["terms"]["history"], answer["cells"]) == (14, [])
    assert answer["hot_since"] == str(lived - timedelta(days=2))
    assert answer["archived_since"] == str(lived - timedelta(days=20))
    assert "refused" not in str(answer)


async def test_without_an_archive_a_day_that_is_over_is_hot(platform, store, tenant):
    cell = store.cells[0]
    yesterday = datetime.combine(cell.clock.now().date() - timedelta(days=1), time(), UTC)
    await query(cell, ENDED, yesterday, tenant.id)
    answer = (await platform.get("/scheduler/retention")).json()
    assert answer["cells"][0]["days"][0]["place"] == "HOT"
    assert answer["terms"] is None, "no node has measured"

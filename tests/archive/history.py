"""Ended instances by the thousand, of all kinds, and what PostgreSQL says of them."""

import json
from datetime import UTC, datetime, time, timedelta
from uuid import UUID

from horae.archive.columns import COLUMNS
from horae.domain.ids import compose
from horae.domain.instances.idempotency_keys import manual_key, recurring_key, task_key
from horae.runtime.randomness import new_token
from horae.store.databases import days, partitions
from horae.store.databases.days import Day, DayState
from tests.steps import query

READ = f"select {', '.join(COLUMNS)} from {{}} order by tenant_id, job_id, fire_time, id"
FILL = """
    insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, shard_id, priority,
                                  lane, id, tenant_id, job_id, state, idem_key, trigger_delay_ms, duration_ms, attempts)
    select $1::timestamptz + at + delay + duration, $1::timestamptz + at, $1::timestamptz + at, 1, 1, 0, 7, 1, 0, id,
           $2::uuid, ($3::uuid[])[1 + n % cardinality($3::uuid[])], 'SUCCESS',
           ($4::text[])[1 + n % cardinality($3::uuid[])] || ':' || extract(epoch from $1::timestamptz + at)::bigint,
           extract(milliseconds from delay), extract(milliseconds from duration),
           jsonb_build_array(jsonb_build_object('attempt', 1, 'duration_ms', extract(milliseconds from duration)::int))
    from (
        select n, make_interval(secs => (n / cardinality($3::uuid[])) * 10 % 86000) as at,
               make_interval(secs => 0.002 + random() * 0.05) as delay,
               make_interval(secs => 0.003 + random() * 0.3) as duration,
               lpad(to_hex((extract(epoch from $1::timestamptz) * 1000)::bigint
                           + (n / cardinality($3::uuid[])) * 10000 % 86000000), 12, '0') as made
        from generate_series(0, $5::int - 1) n) row,
    lateral (select (substr(made, 1, 8) || '-' || substr(made, 9, 4) || '-7007-8' || right(md5(random()::text), 3)
                     || '-' || right(md5(random()::text || n), 12))::uuid as id) ids"""
"""Plain cron fires of some jobs, each job every ten seconds."""


def day_of(cell, ago: int) -> Day:
    """The day of history so many days ago."""
    then = (cell.clock.now() - timedelta(days=ago)).date()
    return Day(days.HISTORY, then, DayState.ATTACHED, 0)


async def make_days(store, ago: int) -> None:
    """Tables for the last days."""
    for cell in store.cells:
        async with cell.statement() as tx:
            await partitions.ensure(tx, day_of(cell, ago).day, ago + 1)


def some_id(at: datetime, shard: int = 7) -> UUID:
    return compose(shard, int(at.timestamp() * 1000), new_token().int)


async def insert(cell, **row) -> UUID:
    """One ended instance with given columns."""
    at = row["ended_at"]
    facts = {
        "fire_time": at,
        "due_at": at,
        "job_version": 1,
        "attempt": 1,
        "retry_count": 0,
        "shard_id": 7,
        "priority": 1,
        "lane": 0,
        "id": some_id(at),
        "state": "SUCCESS",
    } | row
    facts.setdefault("idem_key", recurring_key(facts["job_id"], facts["fire_time"]))
    names = ", ".join(facts)
    marks = ", ".join(f"${n}" for n in range(1, len(facts) + 1))
    await query(cell, f"insert into instance_history ({names}) values ({marks})", *facts.values())
    return facts["id"]


async def insert_all_kinds(cell, day: Day, tenant_id: UUID, many: int = 3) -> None:
    """Instances of every kind, `many` of each, with everything that could break a format."""
    jobs = [some_id(day.begin) for _ in range(3)]
    long_ago = day.begin - timedelta(days=40)
    for n in range(many):
        at = datetime.combine(day.day, time(1, n), UTC)
        own = {"tenant_id": tenant_id, "job_id": jobs[n % 3]}
        key = f'order-{n},"quoted"\nin two lines, 订单\\N \\.'
        await insert(cell, ended_at=at + timedelta(microseconds=123456), fire_time=at, node="n,1", **own)
        await insert(cell, ended_at=at, fire_time=at + timedelta(microseconds=500), **own)
        await insert(cell, ended_at=at, business_key=key, generation=n, idem_key=task_key(jobs[n % 3], key, n), **own)
        await insert(cell, ended_at=at, business_key="", generation=1, idem_key="moved here", **own)
        await insert(cell, ended_at=at, idem_key=manual_key(jobs[n % 3], "press"), worker_id="w\r\n1", **own)
        await insert(
            cell,
            ended_at=at,
            id=some_id(long_ago),
            state="DEAD",
            error_code="HTTP_500",
            error_msg="no\n\n" * n,
            payload={"sealed": "x" * 300, "n": n, "word": "键\u0001"},
            attempts=[{"attempt": 1, "error": 'a "b"'}],
            retry_count=5,
            attempt=6,
            duration_ms=17,
            trigger_delay_ms=-3,
            held_ms=99,
            **own,
        )
        await insert(cell, ended_at=at, state="SKIPPED", reason="MISFIRE", range_to=at, range_count=2**31 - 1, **own)


async def fill(cell, day: Day, tenant_id: UUID, rows: int, jobs: int = 100) -> None:
    """Many plain cron fires."""
    job_ids = [some_id(day.begin - timedelta(days=9)) for _ in range(jobs)]
    codes = [recurring_key(one, day.begin).partition(":")[0] for one in job_ids]
    async with cell.direct() as connection:
        await connection.execute(FILL, day.begin, tenant_id, job_ids, codes, rows, timeout=3600)


async def rows_in(cell, table: str) -> list[tuple]:
    """All rows of a table as PostgreSQL has them, JSON as values."""
    return [tuple(row) for row in await query(cell, READ.format(table))]


def comparable(rows: list[dict]) -> list[tuple]:
    """Archived rows in the form of `rows_in`."""
    shown = []
    for row in rows:
        values = {name: row[name] for name in COLUMNS}
        for name in ("payload", "attempts"):
            values[name] = None if values[name] is None else json.loads(values[name])
        shown.append(tuple(values.values()))
    return shown

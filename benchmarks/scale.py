"""Looks, claim and task lookup at 10 k, 300 k and 3 M jobs with a backlog of 1 M due instances, counted in buffers.

Owners of 1, 341 and 4,096 shards; fresh, and right after 1 M cursor advances without vacuum. Buffers do not depend on
how busy the machine is, so nothing here is timed.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg

from benchmarks import psql
from benchmarks.data import SIZES, START, TENANT, fresh, period_of
from benchmarks.measure import Bound, judged
from benchmarks.query_plans import buffers, connect, explain, nodes, rows_returned
from benchmarks.server import SETTINGS, Server, running
from horae.domain.instances.instances import Lane, Priority
from horae.domain.placement import Run
from horae.engine.feeder import LOOK_BACK_SLACK
from horae.store.instances import instances
from horae.store.nodes.scans import ScanMark, ScanRange
from horae.store.tx import Tx

LIVE, ADVANCES, LIMIT = 1_000_000, 1_000_000, 1_000
OWNERS = (1, 341, 4096)
TYPE = UUID(int=10)
TOKEN = UUID(int=7)
NARROW = 2048
BOUNDS = (Bound("buffers_per_row_max", most=10), Bound("growth", most=1.2))
MARK = ScanMark(Priority.NORMAL, Lane.FIRST)
BACKLOG = f"""
with made as (
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, state, business_key, generation)
    select (n * 2654435761) % 4096, gen_random_uuid(), '{TENANT}', '{TYPE}', 1, 't:k' || n, at, at, at,
           1, 0, 13000, 'INIT', 'k' || n, 1
    from (select n, {START} + n * interval '3600 s' / {LIVE} as at from generate_series(1, {LIVE}::bigint) n) due
    returning *)
insert into task_key (shard_id, job_id, business_key, tenant_id, generation, instance_id, updated_at)
select shard_id, job_id, business_key, tenant_id, generation, id, due_at from made
"""
# One pass over the cursors in the order they are due, as firing does it; committed pass by pass, never vacuumed.
ADVANCE = """
do $$ declare left_over bigint := {advances}; moved bigint; begin
    while left_over > 0 loop
        with due as (select ctid from job_cursor order by next_fire_at limit least(left_over, 100000))
        update job_cursor c set next_fire_at = next_fire_at + interval '{period} s' from due where c.ctid = due.ctid;
        get diagnostics moved = row_count;
        left_over := left_over - moved;
        commit;
    end loop;
end $$
"""


def main(seconds: float) -> dict[str, Any]:
    """Every size, owner and statement; `seconds` does not matter, the work is counted."""
    del seconds
    counts: dict[str, dict[str, float]] = {}
    with running() as server:
        for size in SIZES:
            database = fresh(server, size, "bench_scale")
            psql.run(server, database, "alter table job_cursor set (autovacuum_enabled = off)")
            psql.run(server, database, "alter table instance_live set (autovacuum_enabled = off)")
            psql.run(server, database, BACKLOG, "analyze")
            counts[f"{size}"] = asyncio.run(_count(server, database))
            psql.run(server, database, ADVANCE.format(advances=ADVANCES, period=period_of(size)))
            counts[f"{size} after churn"] = asyncio.run(_count(server, database, cursors_only=True))
        psql.run(server, "postgres", "drop database bench_scale with (force)")
    return _report(counts)


async def _count(server: Server, database: str, *, cursors_only: bool = False) -> dict[str, float]:
    connection = await connect(server.dsn(database))
    start = await connection.fetchval(f"select {START}")
    front = await connection.fetchval("select min(next_fire_at) from job_cursor")
    everything = ScanRange(datetime(2100, 1, 1, tzinfo=UTC), limit=LIMIT)
    backlog = ScanRange(start + timedelta(hours=2), limit=LIMIT)
    found: dict[str, float] = {}
    for owner in OWNERS:
        found[f"cursors/{owner}"] = await _look(
            connection, "cursors", owner, everything, MARK.before(front - LOOK_BACK_SLACK)
        )
        if not cursors_only:
            found[f"instances/{owner}"] = await _look(connection, "instances", owner, backlog, MARK)
            found |= await _claim(connection, owner, backlog)
    if not cursors_only:
        key = "k500000"
        shard = await connection.fetchval("select shard_id from task_key where business_key = $1", key)
        plan = await explain(connection, "tasks/tasks/find", [shard, TYPE, key])
        found["lookup"] = buffers(plan) / rows_returned(plan)
    await connection.close()
    return found


FOLDERS = {"cursors": "schedules/cursors", "instances": "instances/instances"}


async def _look(
    connection: "asyncpg.Connection[asyncpg.Record]", kind: str, owner: int, look: ScanRange, mark: ScanMark
) -> float:
    """A page of one class, by the statement that an owner of so many shards runs."""
    lanes = [] if kind == "cursors" else [[mark.lane]]
    asked = [[mark.priority], *lanes, [mark.at], [mark.shard], [mark.id], *look]
    if owner == 1:
        plan = await explain(connection, f"{FOLDERS[kind]}/due_narrow", [[NARROW], *asked])
    else:
        plan = await explain(connection, f"{FOLDERS[kind]}/due", [0, owner - 1, *asked])
    return buffers(plan) / rows_returned(plan)


async def _claim(connection: "asyncpg.Connection[asyncpg.Record]", owner: int, look: ScanRange) -> dict[str, float]:
    """What a look found, taken by key."""
    tx = Tx(connection, look.until)
    if owner == 1:
        page = await instances.due_narrow(tx, [NARROW], look, [MARK])
    else:
        page = await instances.due(tx, Run(0, owner - 1), look, [MARK])
    shards, ids = zip(*sorted((timer.shard, timer.id) for timer in page), strict=True)
    plan = await explain(
        connection, "instances/instances/claim", [shards, ids, look.until, TOKEN, TOKEN, [], [0] * len(ids)]
    )
    scan = next(node for node in nodes(plan) if node.get("Subplan Name") == "CTE picked")
    rows = rows_returned(plan)
    return {f"claim scan/{owner}": buffers(scan) / rows, f"claim with its writes/{owner}": buffers(plan) / rows}


def _report(counts: dict[str, dict[str, float]]) -> dict[str, Any]:
    bounded = {
        f"{size}: {name}": value
        for size, figures in counts.items()
        for name, value in figures.items()
        if "writes" not in name
    }
    growth = _growth(counts, "")
    worst = max(bounded.values())
    found = {
        "settings": {"sizes": SIZES, "live": LIVE, "advances": ADVANCES, "limit": LIMIT, "postgresql": SETTINGS},
        "rate": None,
        "bare": None,
        "ratio": None,
        "buffers_per_row_max": round(worst, 2),
        "growth": round(growth, 2),
        "growth_after_churn": round(_growth(counts, " after churn"), 2),
        "buffers_per_row": {
            size: {name: round(value, 2) for name, value in figures.items()} for size, figures in counts.items()
        },
    }
    return judged(found, BOUNDS)


def _growth(counts: dict[str, dict[str, float]], suffix: str) -> float:
    """How much a figure grows at most from one size to a larger one."""
    return max(
        counts[f"{big}{suffix}"][name] / counts[f"{small}{suffix}"][name]
        for small, big in ((SIZES[0], SIZES[1]), (SIZES[1], SIZES[2]), (SIZES[0], SIZES[2]))
        for name in counts[f"{small}{suffix}"]
    )

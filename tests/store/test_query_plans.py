"""Every hot statement runs by its own index: fresh, after churn without vacuum, with stale statistics."""

import re
from datetime import UTC, datetime
from uuid import UUID

import pytest
from benchmarks.query_plans import connect, explain, indexes, nodes

from tests.steps import query
from tests.store.walls import as_role

AT = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)  # a day that has its partitions
ID = UUID(int=1)
FIRE = [[1], [ID], [1], [AT], [AT], [ID], ["k"], [AT], [ID], [1], ["q"], [0]]
WALK = [
    *([1], [ID], [1], [AT], [AT], [1]),
    *([ID], [ID], ["k"], [AT], [AT], [1], ["q"], [0]),
    *([ID], [ID], ["k"], [AT], [AT], [1], ["PAUSED"]),
    *(AT, 1),
]
END = [[1], [ID], [1], [ID], [AT], ["SUCCESS"], ["r"], ["c"], ["m"], ["t"], [0], [1], [1], ["{}"], ["n"], AT]
AGAIN = [[1], [ID], [1], [ID], [AT], ["FAIL"], [AT], [1], [1], [0], ["c"], ["m"], [1], ["{}"], AT]
CURSOR_LOOK = [[1], [AT], [1], [ID], AT, [], None, 10]
LOOK = [[1], [0], [AT], [1], [ID], AT, [], None, 10]
PLACE = [1, ID, ID, "key"]
FENCE = {"s": "shard_closed"}
PAUSED = {"pj": "job_paused", "pr": "reference_paused"}
LETTER = {"d": "dead_letter_pkey"}
REPLAY = [[1], [ID], [ID], [1], [1], [1], ["q"], ID, AT, 0, "me", "INIT", None, None]
TASK = {"l": "instance_live_pkey", "k": "task_key_pkey"}
TAKEN = [[1], ["key"], [ID]]
INTENT = [[AT], ["{}"], [1]]
STARTING = [*TAKEN, ["idem"], *INTENT]
TYPE, NOTE, TRACE = [ID, ID, 1, 1, 1, "q"], "{}", None
PULSE = {
    "l": "instance_live_deadline",
    "t": "reference_held",
    "f": "backfill_running",
    "r": "reference_rolling_active",
    "c": "reference_changed",
    "k": "data_key_changed",
    "s": "secret_changed",
    "h": "channel_changed",
    "u": "channel_standing",
    "o": "source_due",
    "a": "audit_log_xid",
    "d": "dead_letter_without_cause",
    "y": "paced_replay_running",
    "g": "graph_run_open",
    "q": "instance_live_graphs",
}
HOT = {
    "schedules/cursors/due": ([0, 4095, *CURSOR_LOOK], {"job_cursor": "job_cursor_due"}),
    "schedules/cursors/due_narrow": ([[1], *CURSOR_LOOK], {"job_cursor": "job_cursor_pkey"}),
    "schedules/cursors/fire": ([*FIRE, ID, AT, 1], {"c": "job_cursor_due"} | FENCE),
    "instances/instances/due": ([0, 4095, *LOOK], {"instance_live": "instance_live_due"}),
    "instances/instances/due_narrow": ([[1], *LOOK], {"instance_live": "instance_live_pkey"}),
    "instances/instances/claim": ([[1], [ID], AT, ID, ID, [0]], {"l": "Tid Scan"} | PAUSED | FENCE),
    "instances/instances/abandoned": ([0, 4095, AT, 10, AT, AT, ID, 125_000], {"l": "instance_live_deadline"}),
    "instances/instances/running": ([[1], [ID], [1], [ID]], {"l": "instance_live_pkey"}),
    "instances/instances/accepted": ([0, 4095, AT, ID, 10], {"l": "instance_live_deadline"}),
    "instances/instances/extend": ([[1], [ID], [1], [ID], [AT], [1], AT], {"l": "instance_live_pkey"} | FENCE),
    "instances/instances/end": (END, {"l": "instance_live_pkey", "k": "task_key_pkey"} | LETTER | FENCE),
    "instances/instances/retry_later": (AGAIN, {"l": "instance_live_pkey"} | FENCE),
    "instances/expiry/overdue": ([0, 4095, [1], [0], [AT], [1], [ID], AT, 10], {"instance_live": "instance_live_due"}),
    "instances/expiry/blocked": ([0, 4095, -1, ID, ID, 10], {"instance_live": "instance_live_exclusive"}),
    "instances/expiry/queued": (
        [0, 4095, ID, "q", 0, 0, AT, ID, AT, 50, 10],
        dict.fromkeys("qw", "instance_live_queue"),
    ),
    "instances/expiry/end": (
        [[1], [ID], [AT], [AT], ["DEAD"], ["r"], ["c"], ["m"], ["t"], AT],
        {"l": "instance_live_pkey", "k": "task_key_pkey"} | LETTER | FENCE,
    ),
    "schedules/cursors/lock": ([1, ID, 1, AT, 1], {"job_cursor": "job_cursor_due"}),
    "schedules/cursors/walk": (WALK, {"c": "job_cursor_due"} | FENCE),
    "schedules/cursors/fire_exclusive": ([*(column[0] for column in FIRE), ID, AT, "INIT", 1], {"c": "job_cursor_due"}),
    "instances/instances/lock_live": ([1, ID], {"instance_live": "instance_live_exclusive"}),
    "instances/instances/displace": ([1, [ID], AT], {"l": "instance_live_pkey"}),
    "instances/instances/blocked": ([[1], [ID]], {"l": "instance_live_exclusive"}),
    "instances/instances/release": (
        [[1], [ID], AT],
        {"l": "instance_live_pkey", "o": "instance_live_exclusive"} | FENCE,
    ),
    "workers/workers/due_classes": (
        [ID, "q", AT, "w"],
        {"q": "instance_live_queue", "d": "worker_drain_pkey"} | PAUSED,
    ),
    "workers/workers/ready": ([ID, ["q", "r"], AT], {"q": "instance_live_queue"} | PAUSED),
    "workers/workers/claim": (
        [ID, "q", 1, 0, AT, 10, ID, "w"],
        {"q": "instance_live_queue", "l": "Tid Scan"} | PAUSED | FENCE,
    ),
    "workers/workers/find_attempts": ([ID, [1], [ID]], {"l": "instance_live_pkey"} | FENCE),
    "workers/workers/heartbeat": ([[1], [ID], [1], [ID], [AT]], {"l": "instance_live_pkey"} | FENCE),
    "workers/queue_workers/page": (
        [ID, "q", "w", "q", "w", AT, 10],
        {"w": "queue_worker_pkey", "d": "worker_drain_pkey"},
    ),
    "workers/queues/names": (
        [ID, "q", 10, 10],
        {"j": "job_queue", "w": "queue_worker_pkey", "q": "instance_live_queue"},
    ),
    "workers/queues/describe": (
        [ID, ["q", "r"], AT, AT, 10, 10],
        {"j": "job_queue", "b": "queue_worker_pkey", "d": "worker_drain_pkey", "q": "instance_live_queue"} | PAUSED,
    ),
    "workers/queues/claimed": ([ID, 10], {"l": "instance_live_deadline"}),
    "workers/queues/busy": ([[ID], ["q"]], {"l": "instance_live_deadline"}),
    "workers/queues/unattended": (
        [ID, "q", 10, AT, AT],
        {
            "q": "instance_live_queue",
            "l": "instance_live_deadline",
            "w": "queue_worker_pkey",
            "x": "worker_drain_pkey",
        }
        | PAUSED,
    ),
    "jobs/jobs/listing": ([ID], {"j": "job_listing"} | FENCE),
    "jobs/problems/dead": ([ID, AT, 10], {"d": "dead_letter_open"}),
    "jobs/problems/overdue": (
        [ID, [1], AT, 10],
        {"l": "instance_live_due", "i": "instance_live_queue", "q_2": "instance_live_queue"},
    ),
    "jobs/jobs/page": ([ID, "", "", None, "{}", [], 10, None, "", [], []], {"j": "job_page"} | FENCE),
    "jobs/jobs/page_of_owner": (
        [ID, "", "", None, "{}", [], 10, None, "part", ["a"], [], "orders-team"],
        {"j": "job_owner"} | FENCE,
    ),
    "jobs/jobs/page_of_calendar": (
        [ID, "", "", None, "{}", [], 10, None, "", [], [], None, "days"],
        {"a": "job_calendar", "p": "job_paused"} | FENCE,
    ),
    "jobs/orders/page_by_change": (
        [ID, "", "", None, "{}", [], 10, None, "", [], [], None, None, AT, "name"],
        {"j": "job_changed"} | FENCE,
    ),
    "jobs/orders/page_of_many_by_next_fire": (
        [ID, "", "", None, "{}", [], 10, None, "", [], [], None, None, AT, "name"],
        {"c": "job_cursor_due", "r": "job_pkey"} | FENCE,
    ),
    "jobs/orders/page_without_fire": (
        [ID, "", "", None, "{}", [], 10, None, "", [], [], None, None],
        {"j": "job_page"} | FENCE,
    ),
    "instances/instances/retry_now": ([[1], [ID], ID, AT], {"l": "instance_live_pkey"} | FENCE),
    "instances/instances/failing": ([ID, [1], ID, 10, AT, False], {"instance_live_1": "instance_live_pkey"}),
    "schedules/backfills/running": ([ID, [1], [1], [ID], 10], {"b": "backfill_running", "pj": "job_paused"} | FENCE),
    "schedules/backfills/count_running": ([ID, 10], {"b": "backfill_running"}),
    "schedules/backfills/of_group": ([ID, ID, 10], {"b": "backfill_group"}),
    "schedules/backfills/count_live": ([1, ID, AT, AT, 10, ""], {"l": "instance_live_pkey"}),
    "tenants/tenants/held": ([], {"reference": "reference_held"}),
    "jobs/jobs/with_calendar": ([ID, "days", ID, 10], {"j": "job_calendar"} | FENCE),
    "schedules/zone_rules/page": ([0, 4095, 0, ID, "2026a", 10], {"job": "job_pkey", "c": "job_cursor_pkey"}),
    "schedules/zone_rules/move": ([[1], [ID], [1], [AT], [AT], 1], {"c": "job_cursor_due"} | FENCE),
    "schedules/zone_rules/record": ([[1], [ID], [1], "2026a"], {"j": "job_pkey"} | FENCE),
    "schedules/calendars/versions": ([[ID], ["days"]], {"r": "reference_name"}),
    "jobs/jobs/paused": ([[ID], [ID]], PAUSED),
    "jobs/jobs/removed": ([[1], [ID]], {"r": "reference_pkey", "j": "job_pkey"}),
    "tasks/tasks/find": ([1, ID, "key"], {"k": "task_key_pkey", "l": "instance_live_business"}),
    "tasks/tasks/move": (
        [*PLACE, ID, AT, True, None, None, "{}", AT, TRACE],
        {"l": "instance_live_pkey", "k": "task_key_pkey"},
    ),
    "tasks/tasks/replace": (
        [*PLACE, ID, ID, AT, True, None, None, 1, 1, 1, "{}", AT, None, TRACE],
        {"l": "instance_live_pkey", "k": "task_key_pkey"},
    ),
    "tasks/tasks/cancel": (
        [*PLACE, ID, "INIT", 0, None, "{}", AT],
        {"l": "instance_live_pkey", "k": "task_key_pkey"} | LETTER,
    ),
    "tasks/tasks/ignore": ([*PLACE, 1, "{}", AT, 1], {"k": "task_key_pkey"}),
    "tasks/batches/find": (
        [ID, [1, 2], ["a", "b"]],
        {"t": "task_key_pkey", "i": "instance_live_business"},
    ),
    "tasks/batches/create": ([*STARTING, *TYPE, NOTE, AT, 0, TRACE], FENCE | {"w": "widening_pkey"}),
    "tasks/batches/used": ([ID, [1, 2], ["a", "b"]], {"t": "task_key_pkey"}),
    "tasks/batches/renew": (
        [*STARTING[:2], [1], *STARTING[2:], *TYPE, NOTE, AT, TRACE],
        {"k": "task_key_pkey"} | FENCE,
    ),
    "tasks/batches/move": ([*TAKEN, [True], *INTENT, *TYPE[:2], NOTE, AT, TRACE], TASK | FENCE),
    "tasks/batches/replace": ([*TAKEN, [ID], [True], *INTENT, *TYPE, NOTE, AT, TRACE], TASK | FENCE),
    "tasks/batches/cancel": ([*TAKEN, ["INIT"], [0], [1], *TYPE[:2], NOTE, AT], TASK | LETTER),
    "tasks/batches/record_cancel_before_create": (
        [*TAKEN, [1], *TYPE[:2], NOTE, AT, 0],
        FENCE | {"w": "widening_pkey"},
    ),
    "tasks/batches/ignore": ([[1], ["key"], [1], ["{}"], *TYPE[:2], AT, [1]], {"k": "task_key_pkey"} | FENCE),
    "sources/repairs/live_tasks": ([[1], ID, "a", "b", 10], {"l": "instance_live_business"}),
    "sources/repairs/ledgers": ([ID, [1, 2], ["a", "b"]], {"t": "task_key_pkey"}),
    "sources/repairs/lock": ([[1], [ID], [AT]], {"l": "instance_live_pkey"}),
    "sources/sources/due": ([AT, 10, [ID]], {"s": "source_due"}),
    "rolling/subjects/occupy": (
        [ID, AT, 0, 4095, 10, ID, AT],
        {"u": "Tid Scan", "l": "instance_live_business"} | FENCE,
    ),
    "rolling/subjects/insert_refreshes": (
        [[1], ["key"], [ID], ["idem"], [AT], ID, ID, 1, AT, AT, 1, 1, "q"],
        {"u": "subject_pkey"},
    ),
    "rolling/subjects/finish": ([ID, 0, 4095, 10, AT], {"u": "Tid Scan", "l": "instance_live_pkey"} | FENCE),
    "rolling/subjects/page": ([[1, 2], ID, ID, "k", 10, "", "x"], {"u": "subject_pkey"}),
    "rolling/subjects/page_of_status": ([[1, 2], ID, ID, 3, "k", 10, "", "x"], {"u": "subject_status"}),
    "rolling/subjects/page_of_batch": ([ID, ID, ID, 3, "k", 10, "", "x"], {"u": "subject_batch"}),
    "rolling/versions/apply": ([[1], ["key"], [1], [True], [AT], ID, ID, AT], {"u": "subject_pkey"}),
    "rolling/versions/forget_removed": ([AT, 10], {"v": "Tid Scan"} | FENCE),
    "rolling/subjects/count_eligible": ([ID, AT, 0, 4095, 10], {"u": "subject_aged"}),
    "rolling/subjects/count_occupied": ([ID, 0, 4095, 10], {"u": "subject_occupied"}),
    "jobs/jobs/rolling": ([], {"r": "reference_rolling_active"}),
    "nodes/next_due/next_due": ([[0], [4095], [], 200], {"j": "job_cursor_due", "i": "instance_live_due"}),
    "nodes/pulses/read": ([AT, AT, 0], PULSE),
    "instances/dead_letters/replay": (REPLAY, {"k": "task_key_pkey"} | LETTER | FENCE),
    "instances/dead_letters/replayable": ([ID, AT, ID, None, None, None, 10, None], {"d": "dead_letter_open"}),
    "instances/dead_letters/listing": ([ID, AT, ID, None, None, None, 10, None], {"d": "dead_letter_tenant"}),
    "instances/dead_letters/of_job": ([ID, AT, ID, None, None, None, 10, ID, None], {"d": "dead_letter_job"}),
    "instances/dead_letters/open_after": ([ID, AT, ID, None, None, None, 10, None], {"d": "dead_letter_open"}),
    "instances/dead_letters/discard_many": ([[1], [ID], ID, AT, "why"], LETTER | FENCE),
    "instances/dead_letters/tag_many": ([[1], [ID], ID, ["a"], ["b"], 8], LETTER | FENCE),
    "instances/failure_causes/unsorted": ([10], {"d": "dead_letter_without_cause"}),
    "instances/failure_causes/sort": ([[1], [ID], [ID], [ID]], LETTER | FENCE),
    "instances/failure_causes/messages": ([[1], [ID]], LETTER),
    "instances/paced_replays/take": ([ID, ID, AT, None, None, None, None, 10], {"d": "dead_letter_open"}),
    "instances/paced_replays/mark_taken": ([[1], [ID], [True], ID, ID], LETTER | FENCE),
    "instances/paced_replays/claim": ([AT, AT, 10], {"w": "paced_replay_running"} | FENCE),
    "instances/paced_replays/listing": ([ID, ID, 10], {"p": "paced_replay_tenant"}),
    "graphs/runs/decide": ([[1], [ID], [True]], {"r": "graph_run_pkey"} | FENCE),
    "graphs/runs/mark_stale": ([[1], [ID]], {"r": "graph_run_pkey"} | FENCE),
    "graphs/runs/lock_of_steps": (
        [[1], [ID]],
        {"t": "graph_step_released", "r": "graph_run_pkey", "pj": "job_paused"},
    ),
    "graphs/steps/record": (
        [[1], [ID], ["SUCCESS"], ["r"], AT],
        {"hs": "graph_step_released", "hc": "graph_child_live", "t": "Tid Scan", "r": "graph_run_pkey"} | FENCE,
    ),
    "graphs/steps/record_locked": (
        [[1], [ID], [0], [ID], ["SUCCESS"], ["r"], [1], [ID], [0], AT],
        {"t": "graph_step_pkey", "o": "graph_step_pkey"} | FENCE,
    ),
    "graphs/steps/of_runs": ([[1], [ID]], {"s": "graph_step_pkey"}),
    "graphs/steps/release": (
        [[1], [ID], [0], [ID], [ID], [ID], [1], ["k"], [AT], [1], [1], ["q"], ["{}"], AT],
        {"t": "graph_step_pkey"} | FENCE,
    ),
    "graphs/children/release": (
        [[1], [ID], [0], [0], [ID], [ID], [ID], [1], ["k"], [AT], [1], [1], ["q"], ["{}"], AT],
        {"t": "graph_child_pkey"} | FENCE,
    ),
}
MERGED = {"sources/repairs/live_tasks", "instances/expiry/queued"} | {
    "graphs/runs/lock_of_steps",
    "graphs/steps/of_runs",
    "graphs/steps/record",
    "instances/dead_letters/tag_many",
    "jobs/jobs/page_of_calendar",
    "jobs/orders/page_of_many_by_next_fire",
    "jobs/problems/dead",
    "jobs/problems/overdue",
    "rolling/subjects/page",
    "rolling/subjects/page_of_status",
    "schedules/backfills/of_group",
    "workers/queues/busy",
    "workers/queues/claimed",
    "workers/queues/names",
    "workers/queues/unattended",
}
"""A few rows of each of many shards, of two indexes, or of a batch of runs, put into one order.

Or rows of one time, put into the order of their ids.

Lists for people put a page of names into order. PostgreSQL 16 and later sort the few tags of one row.
"""
FROM_THE_BEGINNING = {"nodes/next_due/next_due", "jobs/orders/page_of_many_by_next_fire"}
"""A sweep of idle nodes, once in minutes: it also reads what died since the last vacuum. A page of a tenant that has
many jobs: of one that has none it would read all cursors.
"""
EMPTY_AND_ANALYZED = [
    "vacuum (analyze) instance_live",
    "vacuum (analyze) job_cursor",
    "analyze task_key",
    "analyze shard",
]
CHURN = """
do $$ begin
    for round in 1..5 loop
        insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at,
                                   changed_at, priority, lane, slot_ms, state)
        select n % 4096, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, round || '-' || n, now(), now(),
               now(), 1, 0, 1000, 'INIT' from generate_series(1, 4000) n;
        update instance_live set due_at = due_at + interval '1 s';
        commit;
        delete from instance_live;
        commit;
    end loop;
end $$
"""
CURSORS = """
insert into job_cursor (shard_id, job_id, tenant_id, version, priority, next_fire_at)
select n % 4096, gen_random_uuid(), gen_random_uuid(), 1, 1, now() + n * interval '1 ms'
from generate_series(1, 20000) n
"""
KEYS = f"""
insert into task_key (shard_id, job_id, business_key, tenant_id, generation, instance_id, updated_at)
select n % 4096, '{ID}', 'k' || n, '{ID}', 1, '{ID}', now() from generate_series(1, 20000) n
"""


async def happened(cell, *statements):
    """What went before, however long it took: the five seconds of a statement are not for this."""
    connection = await connect(cell.dsn)
    for statement in statements:
        await connection.execute(statement)
    await connection.close()


FIRST_COLUMNS = "select indexrelid::regclass::text, pg_get_indexdef(indexrelid, 1, true) from pg_index"


async def plans_hold(store, dsn=None, names=HOT):
    connection = await connect(dsn or store.cells[0].dsn)
    try:
        first_columns = dict(await connection.fetch(FIRST_COLUMNS))
        for name in names:
            args, wanted = HOT[name]
            plan = await explain(connection, name, args, run=False)
            found = indexes(plan)
            for alias, index in wanted.items():
                assert found.get(alias) == index, name
            for node in nodes(plan):  # by its own index, and not through all of it
                if node.get("Alias") in wanted and "Index Cond" in node:
                    assert first_columns[node["Index Name"]].split("::")[0] in node["Index Cond"], name
            kinds = {node["Node Type"] for node in nodes(plan)}
            assert not kinds & {"Seq Scan", "Hash Join", "Merge Join", "Bitmap Heap Scan"}, name
            if "Sort" in kinds:
                assert name.endswith("_narrow") or name in MERGED, name
    finally:
        await connection.close()


async def test_behind_the_wall_every_statement_of_the_doors_keeps_its_index(store, cells):
    [cell, _] = as_role(cells, "horae_api")
    asked = (
        "tasks/",
        "task_batches/",
        "workers/",
        "jobs/",
        "dead_letters/",
        "instances/instances/end",
        "instances/instances/retry_later",
    )
    await plans_hold(store, cell.dsn, [name for name in HOT if name.startswith(asked)])


@pytest.mark.parametrize("role", ["horae_engine", "horae_migrate"])
async def test_policies_change_nothing_in_the_plans_of_a_node(store, cells, role):
    """The policies of its roles are constant: the planner drops them, and no row is asked for its tenant."""
    await query(store.cells[0], f"grant all on all tables in schema public to {role}")  # rights are not what is asked
    [node, _] = as_role(cells, role)
    free, held = await connect(cells[0].dsn), await connect(node.dsn)
    for name, (args, _) in HOT.items():
        without, plan = [await explain(connection, name, args, run=False) for connection in (free, held)]
        assert conditions(plan) == conditions(without), name
    await free.close()
    await held.close()


def conditions(plan):
    """Every node of a plan with its index and its conditions, in whichever order these are checked."""
    kinds = ("Node Type", "Index Name", "Index Cond", "TID Cond", "Filter", "Join Filter", "One-Time Filter")
    return [[sorted(re.sub(r"[()]", "", node.get(kind, "")).split(" AND ")) for kind in kinds] for node in nodes(plan)]


async def test_on_tables_just_created(store):
    await plans_hold(store)


async def test_on_tables_analyzed_while_they_were_empty(store):
    """The order of a join is a matter of taste between two empty tables, and the plan outlives the emptiness."""
    for statement in EMPTY_AND_ANALYZED:
        await query(store.cells[0], statement)
    await plans_hold(store)


async def test_after_churn_without_vacuum(store):
    cell = store.cells[0]
    await query(cell, "alter table instance_live set (autovacuum_enabled = off)")
    await happened(cell, CURSORS, CHURN)
    await plans_hold(store)


async def test_with_statistics_of_another_time(store):
    """Analyzed empty, then filled; analyzed full, then emptied."""
    cell = store.cells[0]
    for table in ("instance_live", "job_cursor", "task_key"):
        await query(cell, f"alter table {table} set (autovacuum_enabled = off)")
    for statement in EMPTY_AND_ANALYZED:
        await query(cell, statement)
    await happened(cell, CURSORS, KEYS)
    await plans_hold(store)
    for statement in EMPTY_AND_ANALYZED:
        await query(cell, statement)
    await query(cell, "delete from job_cursor")
    await query(cell, "delete from task_key")
    await plans_hold(store)


async def test_a_statement_touches_few_buffers_whatever_is_dead_behind_it(store):
    cell = store.cells[0]
    await query(cell, "alter table instance_live set (autovacuum_enabled = off)")
    await happened(cell, CURSORS, CHURN)
    touched = {}
    for name, (args, _) in sorted(HOT.items()):
        connection = await connect(cell.dsn)
        plan = await explain(connection, name, args)
        await connection.close()
        touched[name] = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
        if name in FROM_THE_BEGINNING:
            del touched[name]
    assert max(touched.values()) <= 60, {name: many for name, many in touched.items() if many > 60}

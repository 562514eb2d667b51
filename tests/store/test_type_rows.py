"""A type's list, its counts and its retries read rows of that type, and none of the others in its shards."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from benchmarks.query_plans import connect, explain, nodes

AT, FAR, ID = datetime.now(UTC), datetime.now(UTC) + timedelta(days=1), UUID(int=1)
ALL_SHARDS = list(range(4096))
FOREIGN = """
insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                           priority, lane, slot_ms, state, business_key, generation)
select n % 4096, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, 'i' || n, now(), now(), now(),
       1, 0, 1000, 'INIT', case when n % 2 = 0 then 'k' || n end, case when n % 2 = 0 then 1 end
from generate_series(1, 20000) n"""
SPREAD = {
    "instances/history/of_job": [ID, ID, ALL_SHARDS, FAR, ID, AT, FAR, [], None, 100, 50, True],
    "instances/instances/counts": [ID, ALL_SHARDS, ID, 100, True],
    "instances/instances/failing": [ID, ALL_SHARDS, ID, 10, AT, True],
}


@pytest.mark.parametrize("name", SPREAD)
async def test_rows_of_others_are_not_walked(store, name):
    connection = await connect(store.cells[0].dsn)
    try:
        await connection.execute(FOREIGN)
        plan = await explain(connection, name, SPREAD[name])
        read = [node for node in nodes(plan) if node.get("Relation Name") == "instance_live" and node["Actual Loops"]]
        assert [node["Index Name"] for node in read] == ["instance_live_business"]
        assert sum(node.get("Rows Removed by Filter", 0) for node in read) == 0
    finally:
        await connection.close()

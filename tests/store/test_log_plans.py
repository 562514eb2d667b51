"""Lines and results are found by the primary key of their day, as the API reads and writes them."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from benchmarks.query_plans import connect, explain, nodes

from tests.store.walls import as_role

AT = datetime.now(UTC)
ID = UUID(int=1)
STATEMENTS = {
    "instances/logs/append": [[1], [ID], [1], [ID], [AT], [0], [1], [10], [ID], ["{}"], 1024, AT],
    "instances/logs/page": [ID, 1, ID, 1, 0, AT - timedelta(hours=1), AT, 10],
    "instances/results/of_instances": [ID, 1, [ID], AT - timedelta(days=1)],
}


@pytest.mark.parametrize("name", STATEMENTS)
async def test_no_statement_reads_a_whole_day(store, cells, name):
    connection = await connect(as_role(cells, "horae_api")[0].dsn)
    plan = await explain(connection, name, STATEMENTS[name], run=False)
    await connection.close()
    read = [node for node in nodes(plan) if str(node.get("Relation Name", "")).startswith(("log_", "instance_result"))]
    assert read
    for node in read:
        if node["Node Type"] not in {"ModifyTable", "Insert", "Delete"}:
            assert node["Node Type"] in {"Index Scan", "Index Only Scan"}, node
            assert node["Index Name"].endswith("_pkey")
            assert "shard_id" in node["Index Cond"]

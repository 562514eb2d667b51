"""A large list beside as many tasks: exactly what differs is repaired. `make bench NAME=sources` takes a million."""

from benchmarks import sources as bench
from tests.steps import query
from tests.upkeep.shop import shopping

ROWS = 50_000


async def test_fifty_thousand_rows_beside_as_many_tasks_are_repaired_in_exactly_what_differs(store, cluster):
    ctx, job = await bench.a_type(store)
    async with shopping(cluster) as shop:
        await shop.run("drop table article")
        planted = await bench.fill(ctx, job, shop.connection, ROWS)
        found = await bench.whole(ctx, planted, cluster.dsn("postgres"))
    assert found["exact"]
    assert found["repaired"] == {"created": bench.MISSING, "moved": bench.DRIFTED, "cancelled": bench.ORPHANS}
    assert (found["rows"], found["living"]) == (ROWS - bench.ORPHANS, ROWS - bench.MISSING)
    assert found["second"]["drift"] == 0
    assert found["memory_mb"] < bench.MEGABYTES
    assert len(await query(store, "select from audit_log where action = 'source.repaired'")) >= 2
    live = await query(store, "select count(*)::int as many from instance_live")
    assert sum(row["many"] for row in live) == ROWS - bench.ORPHANS

"""What nodes ask every second costs nothing for rolling sets that are paused or removed, however many there are."""

from datetime import UTC, datetime

import pytest
from benchmarks.query_plans import connect, explain, nodes

from horae.service.jobs import jobs
from horae.upkeep.copies import Copier
from tests.steps import a_type, query

AT = datetime.now(UTC)
MANY = """
insert into reference (kind, id, tenant_id, home_shard, name, version, changed_at, body)
select 'job', gen_random_uuid(), gen_random_uuid(), 1, 'set-' || n, 1, now() - interval '1 day',
       jsonb_build_object('status', (array['PAUSED', 'REMOVED'])[1 + n % 2],
                          'definition', jsonb_build_object('trigger', jsonb_build_object('kind', 'rolling'),
                                                           'payload', repeat(md5(n::text), 200)))
from generate_series(1, 2000) n"""


@pytest.mark.parametrize(("name", "args"), [("nodes/pulses/read", [AT, AT, 0]), ("jobs/jobs/rolling", [])])
async def test_sets_that_do_not_roll_are_not_walked(store, name, args):
    connection = await connect(store.cells[0].dsn)
    try:
        await connection.execute(MANY)
        plan = await explain(connection, name, args)
        [walk] = [node for node in nodes(plan) if node.get("Alias") == "r"]
        assert walk.get("Rows Removed by Filter", 0) == 0
        assert walk["Shared Hit Blocks"] + walk["Shared Read Blocks"] < 10
    finally:
        await connection.close()


async def test_the_copies_of_a_removed_type_keep_no_payload(ctx, store):
    await a_type(ctx, "T", payload={"text": "x" * 1000})
    await Copier(store).once()
    await jobs.remove(ctx, "T")
    await Copier(store).once()
    sizes = [
        row["size"] for row in await query(store, "select length(body::text) as size from reference where kind = 'job'")
    ]
    assert len(sizes) == 2
    assert max(sizes) < 1000

import pytest

from horae.store.databases import vacuum
from horae.upkeep.vacuum import Vacuumer
from tests.steps import query

COUNT = "select vacuum_count from pg_stat_user_tables where relname = 'instance_live'"
FILL = """
insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                           priority, lane, slot_ms, state)
select n % 4096, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, n::text, now(), now(), now(), 1, 0, 1000,
       'INIT' from generate_series(1, 500) n
"""


async def vacuums(cell):
    await query(cell, "select pg_stat_force_next_flush()")
    return (await query(cell, COUNT))[0]["vacuum_count"]


async def test_what_died_is_removed_and_a_held_snapshot_is_not_fought(store):
    cell = store.cells[0]
    duty = Vacuumer(store)
    await query(cell, "alter table instance_live set (autovacuum_enabled = off)")  # ours would be skipped behind it
    await query(cell, FILL)
    await query(cell, "delete from instance_live")
    await duty.once()
    before = await vacuums(cell)
    assert before >= 1
    async with cell.direct() as reader:
        transaction = reader.transaction(isolation="repeatable_read")
        await transaction.start()
        await reader.fetch("select * from job")
        async with cell.direct() as connection:
            assert await vacuum.horizon(connection) is not None
        await duty.once()  # the horizon has moved since the last round
        held = await vacuums(cell)
        for _ in range(3):
            await duty.once()
        assert await vacuums(cell) == held, "nothing new can be removed while it is held"
        await transaction.rollback()
    for _ in range(20):  # a table that someone else has locked is left for the next round
        await duty.once()
        if await vacuums(cell) > held:
            break
    else:
        pytest.fail("the snapshot is gone, and still nothing is removed")

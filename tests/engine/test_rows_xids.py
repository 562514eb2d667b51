"""What fires cost the server for ever: transaction ids and multixact members (R-18)."""

import pytest

from tests.engine.fleet import every_fire_has_one_row, steady
from tests.engine.running import running
from tests.steps import query, until

LONG = (pytest.mark.long, pytest.mark.timeout(7200))
XIDS_PER_FIRE = 0.05


@pytest.mark.parametrize(("jobs", "fires"), [(2400, 7200), pytest.param(2400, 1_000_000, marks=LONG)])
async def test_a_thousand_fires_a_second_take_few_transaction_ids_and_no_multixact_members(
    ctx, store, catcher, jobs, fires, record_property
):
    await steady(ctx, store, catcher, jobs)
    async with running(store):
        await until(lambda: len(catcher.arrivals) >= jobs, 60)
        first, members = len(catcher.arrivals), await multixact_members(store)
        before = await next_xid(store)
        await until(lambda: len(catcher.arrivals) >= first + fires, fires / 200 + 60)
        took, many = await next_xid(store) - before, len(catcher.arrivals) - first
    made = await multixact_members(store) - members
    record_property("fires", many)
    record_property("xids_per_fire", round(took / many, 4))
    record_property("multixact_members", made)
    assert took / many <= XIDS_PER_FIRE
    assert made <= many / 1000
    await every_fire_has_one_row(store, jobs)


async def next_xid(store):
    """Of the whole server, with everything that is not a fire: heartbeats, upkeep, autovacuum."""
    [row] = await query(store.cells[0], "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next")
    return row["next"]


async def multixact_members(store):
    await query(store.cells[0], "checkpoint")
    [row] = await query(store.cells[0], "select next_multi_offset::text::bigint as next from pg_control_checkpoint()")
    return row["next"]

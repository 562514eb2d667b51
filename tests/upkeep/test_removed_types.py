"""Types and rolling sets that were removed long ago go from every cell, with their keys and subjects."""

from datetime import timedelta

import pytest

from horae.domain.instances.outcomes import ErrorCode, Success, Unrecoverable
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from horae.upkeep import removed_types
from horae.upkeep.copies import Copier
from horae.upkeep.partitions import Partitioner
from horae.upkeep.removed_types import RemovedTypeForgetter
from tests.steps import a_job, a_type, claim_everywhere, move_clock, query, settle

KEPT = timedelta(days=90)
DONE = Success()
KEYS = 40
"""Business keys of a type: enough to have some in both cells."""


async def forget_all(store):
    forgetter, rounds = RemovedTypeForgetter(store, KEPT), 1
    while await forgetter.once():
        rounds += 1
    return rounds


async def end_all(store, outcome):
    while claimed := await claim_everywhere(store):
        for ran in claimed:
            await settle(store, ran, outcome)


async def remove_long_ago(ctx, store, name, outcome=DONE):
    """A type with keys in both cells, whose runs have all ended, and that was removed before its term."""
    await a_type(ctx, name, key_retention_days=3650)
    await Copier(store).once()
    for number in range(KEYS):
        await tasks.schedule(ctx, name, f"{name}-{number}")
    await end_all(store, outcome)
    await jobs.remove(ctx, name)
    await Copier(store).once()
    await move_clock(store, days=KEPT.days + 1)
    await Partitioner(store).once()


async def left(store, table, condition="true"):
    return sum(row["many"] for row in await query(store, f"select count(*) as many from {table} where {condition}"))


async def test_a_removed_type_goes_from_every_cell_with_its_keys_and_versions(ctx, store):
    await remove_long_ago(ctx, store, "GONE")
    await a_type(ctx, "STAYS")
    await Copier(store).once()
    await tasks.schedule(ctx, "STAYS", "one")
    assert all([await left(cell, "task_key") for cell in store.cells]), "keys in both cells"
    await forget_all(store)
    for table in ("job", "job_version"):
        assert await left(store, table, "name = 'GONE'") == 0
        assert await left(store, table, "name = 'STAYS'") == 1
    assert await left(store, "task_key") == 1
    assert await left(store, "reference", "name = 'GONE'") == 0
    assert await left(store, "reference", "name = 'STAYS'") == 2, "home and its copy"


async def test_many_keys_go_batch_by_batch(ctx, store, monkeypatch):
    monkeypatch.setattr(removed_types, "BATCH", 7)
    await remove_long_ago(ctx, store, "GONE")
    assert await forget_all(store) > 3
    assert await left(store, "task_key") == 0
    assert await left(store, "job") == 0


async def test_one_that_was_removed_lately_stays(ctx, store):
    await remove_long_ago(ctx, store, "OLD")
    await a_type(ctx, "YOUNG")
    await jobs.remove(ctx, "YOUNG")
    await Copier(store).once()
    await forget_all(store)
    assert [row["name"] for row in await query(store, "select name from job")] == ["YOUNG"]
    assert await left(store, "reference", "name = 'YOUNG'") == 2


async def test_it_stays_while_a_dead_letter_in_any_cell_is_kept(ctx, store):
    await remove_long_ago(ctx, store, "DEAD", Unrecoverable(ErrorCode.HTTP_4XX, "no"))
    far = next(cell for cell in store.cells if cell is not store.cell(ctx.tenant.shard("DEAD")))
    assert await left(far, "dead_letter")
    await query(store.cell(ctx.tenant.shard("DEAD")), "delete from dead_letter")
    await forget_all(store)
    assert await left(store, "job", "name = 'DEAD'") == 1
    assert await left(store, "task_key") == KEYS, "no key goes before its type can"
    await query(far, "delete from dead_letter")
    await forget_all(store)
    assert await left(store, "job", "name = 'DEAD'") == 0


@pytest.mark.parametrize("state", ["FROZEN", "ACTIVE"])
async def test_it_stays_while_a_shard_moves(ctx, store, state):
    await remove_long_ago(ctx, store, "GONE")
    cell = store.cell(ctx.tenant.shard("GONE"))
    await query(cell, "update shard set state = $1, owner = null where shard_id = 7", state)
    await forget_all(store)
    assert await left(store, "job") == (1 if state == "FROZEN" else 0)


async def test_a_copy_that_was_written_too_late_goes_in_a_later_round(ctx, store):
    await remove_long_ago(ctx, store, "GONE")
    columns = "kind, id, tenant_id, home_shard, name, version, changed_at, body"
    home = store.cell(ctx.tenant.shard("GONE"))
    [far] = [cell for cell in store.cells if cell is not home]
    [copy] = await query(far, f"select {columns} from reference where name = 'GONE'")
    await forget_all(store)
    await query(far, f"insert into reference ({columns}) values ($1, $2, $3, $4, $5, $6, $7, $8)", *copy)
    await forget_all(store)
    assert await left(far, "reference", "name = 'GONE'") == 0


async def test_an_ended_job_that_is_no_type_is_not_its_business(ctx, store):
    await a_job(ctx, "PLAIN")
    await jobs.remove(ctx, "PLAIN")
    await move_clock(store, days=KEPT.days + 1)
    await forget_all(store)
    assert await left(store, "job") == 1

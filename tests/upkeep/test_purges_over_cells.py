"""A tenant that was removed is purged in every cell: over the shards of its widest type, and nothing comes back."""

import pytest

from horae.domain.ids import shard_in
from horae.service.context import Context, PlatformContext
from horae.service.encryption import secrets
from horae.service.tasks import tasks
from horae.service.tenants import lifecycle, tenants
from horae.service.workers.polls import Polls
from horae.store.encryption import data_keys
from horae.store.encryption import secrets as secret_rows
from horae.store.events import channels
from horae.store.tenants import purges, references
from horae.upkeep.copies import Copier
from horae.upkeep.copy_scans import BEGINNING
from horae.upkeep.purges import Purger
from tests.steps import a_type, move_clock, query

KEYS = 60
COPIED = (references, data_keys, secret_rows, channels)


@pytest.fixture
async def small(store):
    """A tenant with shards in both cells, and room for wider types."""
    return Context.of(store, await tenants.create(PlatformContext(store, "test"), "small", width=256), "test")


async def purge(ctx):
    await lifecycle.remove(ctx, ctx.tenant.name, confirm=ctx.tenant.name)
    purger = Purger(ctx.store)
    while await purger.once():
        pass
    assert await query(ctx.store, "select from audit_log where action = 'tenant.purged'")


async def test_the_keys_of_a_type_wider_than_its_tenant_go_too(small, store, monkeypatch):
    """In several rounds: what they go by must not go before them."""
    monkeypatch.setattr(purges, "BATCH", 10)
    home = store.cell(shard_in(small.tenant.id))
    name = next(name for name in map("WIDE-{}".format, range(1000)) if store.cell(small.tenant.shard(name)) is not home)
    await a_type(small, name, width=4096)
    await Copier(store).once()
    for number in range(KEYS):
        await tasks.schedule(small, name, f"key-{number}")
    assert len(await query(store, "select from task_key where tenant_id = $1", small.tenant.id)) == KEYS
    await purge(small)
    for table in ("task_key", "instance_live", "job", "job_version", "secret", "data_key"):
        assert not await query(store, f"select from {table} where tenant_id = $1", small.tenant.id), table
    assert not await query(store, "select from reference where tenant_id = $1 and kind = 'job'", small.tenant.id)


async def test_the_workers_of_a_tenant_are_forgotten_with_it_in_every_cell(small, store):
    polls = Polls(store)
    await polls.poll(small, "q", "w")
    await polls.recorder.once()
    for cell in store.cells:
        assert len(await query(cell, "select from queue_worker where tenant_id = $1", small.tenant.id)) == 1
    await purge(small)
    for cell in store.cells:
        assert not await query(cell, "select from queue_worker where tenant_id = $1", small.tenant.id)
    await polls.close()


async def test_a_copy_that_was_under_way_while_a_tenant_was_purged_brings_nothing_back(small, store):
    home = store.cell(shard_in(small.tenant.id))
    other = next(cell for cell in store.cells if cell is not home)
    await secrets.put(small, "token", "s3cret")
    await a_type(small, "PUBLISH")
    async with home.statement() as tx:
        read = [(room, await room.changed(tx, BEGINNING, 1000)) for room in COPIED]
    await purge(small)
    async with other.statement() as tx:
        for room, rows in read:
            if rows:
                await room.copy(tx, rows)
    for table in ("data_key", "secret", "channel"):
        assert not await query(other, f"select from {table} where tenant_id = $1", small.tenant.id), table
    left = await query(other, "select kind from reference where tenant_id = $1", small.tenant.id)
    assert [row["kind"] for row in left] == ["tenant"]


async def test_what_a_copy_brought_back_all_the_same_is_taken_away_some_minutes_later(small, store):
    home = store.cell(shard_in(small.tenant.id))
    other = next(cell for cell in store.cells if cell is not home)
    async with home.statement() as tx:
        rows = await data_keys.changed(tx, BEGINNING, 1000)
    await purge(small)
    await query(other, "delete from reference where kind = 'tenant' and id = $1", small.tenant.id)
    async with other.statement() as tx:
        assert await data_keys.copy(tx, rows)
    purger = Purger(store)
    left = "select from data_key where tenant_id = $1"
    await purger.once()
    assert await query(other, left, small.tenant.id), "too early: another copy may be under way"
    await move_clock(store, minutes=6)
    await purger.once()
    assert not await query(other, left, small.tenant.id)

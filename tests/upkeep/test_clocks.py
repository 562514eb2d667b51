import pytest

from horae.store.nodes import shards
from horae.upkeep import clocks
from horae.upkeep.clocks import ClockKeeper


@pytest.fixture
async def moved(store):
    """A shard that has gone from one cell to the other without our knowing."""
    here, there = store.cells
    shard = store.shards_of(here)[0]
    async with here.tx() as tx:
        await shards.freeze(tx, [shard])
    async with there.tx() as tx:
        await shards.activate(tx, [shard])
    assert store.cell(shard) is here
    return shard


async def test_a_shard_that_moved_is_found_in_its_new_cell(store, moved):
    others = len(store.shards_of(store.cells[0])) - 1
    await ClockKeeper(store).once()
    assert store.cell(moved) is store.cells[1]
    assert len(store.shards_of(store.cells[0])) == others


async def test_a_cell_that_does_not_answer_keeps_its_shards_and_the_others_are_asked(store, moved, monkeypatch):
    here, there = store.cells

    async def silent(_patience):
        raise ConnectionError

    monkeypatch.setattr(here, "sync_clock", silent)
    known = set(store.shards_of(here))
    await ClockKeeper(store).once()
    assert store.cell(moved) is there
    assert set(store.shards_of(here)) == known - {moved}


async def test_a_closed_shard_brings_the_next_look_forward_but_not_at_every_request(store, monkeypatch):
    woken = []
    keeper = ClockKeeper(store, lambda: woken.append(1))
    await keeper.once()
    keeper.on_closed_shard()
    monkeypatch.setattr(clocks, "boottime", lambda: keeper._looked_at + 1)
    keeper.on_closed_shard()
    assert woken == [1]

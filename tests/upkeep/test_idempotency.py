from horae.store import idempotency
from horae.store.idempotency import KeyScope
from horae.upkeep import idempotency as upkeep
from horae.upkeep.idempotency import Forgetter
from tests.steps import move_clock, query


async def reserve(store, tenant, key):
    """One key in a shard of every cell."""
    for cell in store.cells:
        request = KeyScope(store.shards_of(cell)[0], tenant.id, "jobs.trigger", "j", key, b"")
        async with cell.tx() as tx:
            assert await idempotency.reserve(tx, request, None, None)


async def test_expired_keys_go_in_batches_and_the_others_stay(store, tenant, monkeypatch):
    monkeypatch.setattr(upkeep, "BATCH", 2)
    for key in ("a", "b", "c"):
        await reserve(store, tenant, key)
    await move_clock(store, hours=23)
    await reserve(store, tenant, "young")
    forgetter = Forgetter(store)
    assert await forgetter.once() == 0
    await move_clock(store, hours=2)
    assert [await forgetter.once() for _ in range(3)] == [4, 2, 0]
    assert {row["key"] for row in await query(store, "select key from idempotency")} == {"young"}


async def test_keys_of_a_shard_that_moves_stay_where_they_are(store, tenant):
    await reserve(store, tenant, "a")
    await move_clock(store, hours=25)
    await query(store.cells[0], "update shard set state = 'FROZEN'")
    assert await Forgetter(store).once() == 1
    assert len(await query(store, "select from idempotency")) == 1

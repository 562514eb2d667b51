"""What was relayed before, and what cannot be relayed now, keeps no other shard's compensation waiting."""

from datetime import timedelta

import asyncpg
import pytest

from horae.domain.ids import compose
from horae.domain.targets.targets import QueueTarget
from horae.runtime import setbacks
from horae.service.tasks import compensations
from horae.store.tasks import relays
from horae.upkeep import relay as relay_module
from horae.upkeep.copies import Copier
from horae.upkeep.relay import Relay
from tests.steps import a_type, query

INSERT = (
    "insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body) "
    "values ($1, $2, $3, $3, $4, 'COMPENSATION_ASKED', $5)"
)


@pytest.fixture
async def cell(ctx, store):
    """The cell in which tasks end, in pages of five; refunds can be made."""
    await a_type(ctx, "REFUND", target=QueueTarget("refund"))
    await Copier(store).once()
    return store.cells[0]


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    monkeypatch.setattr(relay_module, "PAGE", 5)


async def asked(ctx, cell, shard, *keys):
    """Each in a transaction of its own."""
    connection, now = await asyncpg.connect(cell.dsn), cell.clock.now()
    try:
        for number, key in enumerate(keys):
            instance_id = compose(shard, int((now + timedelta(milliseconds=number)).timestamp() * 1000), number)
            body = f'{{"number": 0, "type": "REFUND", "key": "{key}"}}'
            await connection.execute(INSERT, now, shard, ctx.tenant.id, instance_id, body)
    finally:
        await connection.close()


async def made(store):
    return {row["business_key"] for row in await query(store, "select business_key from task_key")}


async def test_what_was_relayed_before_is_not_walked_through_again(ctx, store, cell):
    """A takeover: only one shard has a place, and all of its events were relayed."""
    old, new = store.shards_of(cell)[:2]
    await asked(ctx, cell, old, *[f"old-{n}" for n in range(25)])
    async with cell.tx() as tx:
        await relays.move(tx, {old: await relays.horizon(tx)})
    await asked(ctx, cell, new, "new")
    assert await Relay(store, store.shards_of).once() == 1
    assert await made(store) == {"new"}


async def test_a_look_goes_over_a_bounded_number_of_events_and_the_next_goes_on(ctx, store, cell, monkeypatch):
    monkeypatch.setattr(relay_module, "MAX_EVENTS_SCANNED", 10)
    old, new = store.shards_of(cell)[:2]
    await asked(ctx, cell, old, *[f"old-{n}" for n in range(25)])
    async with cell.tx() as tx:
        await relays.move(tx, {old: await relays.horizon(tx)})
    await asked(ctx, cell, new, "new")
    relay = Relay(store, store.shards_of)
    assert [await relay.once() for _ in range(4)] == [1, 1, 1, 0]  # two looks that found nothing yet, and the event
    assert await made(store) == {"new"}


async def test_places_of_quiet_shards_are_written_too_after_enough_was_relayed(ctx, store, cell, monkeypatch):
    """Whoever takes them over does not begin with the first event ever."""
    monkeypatch.setattr(relay_module, "EVENTS_BETWEEN_PLACES", 3)
    busy = store.shards_of(cell)[0]
    await asked(ctx, cell, busy, "a", "b")
    relay = Relay(store, store.shards_of)
    await relay.once()
    assert [row["shard_id"] for row in await query(store, "select shard_id from relay")] == [busy]
    await asked(ctx, cell, busy, "c")
    await relay.once()
    assert len(await query(store, "select shard_id from relay")) == len(store.shards_of(cell))


async def test_what_cannot_be_made_now_holds_back_no_other_shard_however_much_comes_behind_it(
    ctx, store, cell, monkeypatch
):
    monkeypatch.setattr(setbacks, "FIRST_PAUSE_S", 0.0)
    make, down = compensations.create_task, True

    async def away(ctx, instance_id, at, body):
        if down and body["key"] == "stuck":
            raise OSError("no route to that cell")
        await make(ctx, instance_id, at, body)

    monkeypatch.setattr(compensations, "create_task", away)
    first, *others = store.shards_of(cell)[:5]
    await asked(ctx, cell, first, "stuck", "behind")
    for shard in others:
        await asked(ctx, cell, shard, *[f"{shard}-{n}" for n in range(5)])
    relay = Relay(store, store.shards_of)
    for _ in range(10):
        await relay.once()
    assert await made(store) == {f"{shard}-{n}" for shard in others for n in range(5)}
    down = False
    for _ in range(3):
        await relay.once()
    assert {"stuck", "behind"} <= await made(store)

"""What a producer sends by mistake is kept up to a bound; then its intake waits, and acknowledges nothing."""

import asyncio

import pytest

from horae.delivery.brokers import Incoming
from horae.domain.channels import Broker, Topic
from horae.domain.errors import CountReached
from horae.domain.intakes import LARGEST, Intake
from horae.runtime.settings import BrokerSettings
from horae.service import changes_in, intakes, parked, tenants
from horae.service.changes_in import Came
from horae.service.context import Context
from horae.upkeep import intakes as upkeep
from horae.upkeep.intakes import Intakes
from tests.steps import query, until


async def an_intake(ctx):
    ctx.store.brokers = {"main": Broker("kafka", ("{tenant}.*",))}
    return await intakes.put(ctx, "in", Intake(Topic("main", f"{ctx.tenant.name}.changes")))


def bad(*numbers):
    return [Came(b"no change %d" % number, f"t/{number}") for number in numbers]


async def test_no_more_is_parked_for_a_tenant_than_its_bound(ctx, store, monkeypatch):
    monkeypatch.setattr(changes_in, "MOST_PARKED", 3)
    told = await an_intake(ctx)
    await changes_in.take(ctx, told, bad(1, 2, 3))
    with pytest.raises(CountReached, match="3 messages are parked"):
        await changes_in.take(ctx, told, bad(4))
    other = Context.of(store, await tenants.create(store, "other", "test"), "test")
    await changes_in.take(other, await an_intake(other), bad(4))
    [first, *_] = await parked.page(ctx, None, 10)
    await parked.drop(ctx, first.id)
    await changes_in.take(ctx, told, bad(4))
    assert len(await parked.page(ctx, None, 10)) == 3


async def test_no_more_bytes_are_parked_for_a_tenant_than_its_bound(ctx, monkeypatch):
    monkeypatch.setattr(changes_in, "MOST_PARKED_BYTES", 1)
    told = await an_intake(ctx)
    await changes_in.take(ctx, told, bad(1))
    with pytest.raises(CountReached):
        await changes_in.take(ctx, told, bad(2))


async def test_of_a_message_that_is_too_large_the_beginning_is_kept(ctx):
    told = await an_intake(ctx)
    await changes_in.take(ctx, told, [Came(b"x" * (LARGEST + 1), "t/0"), Came(b"y" * LARGEST, "t/1")])
    large, whole = sorted((await parked.page(ctx, None, 10)), key=lambda one: one.place)
    assert len(large.body) < 2000
    assert f"{LARGEST + 1} bytes" in large.body
    assert len(whole.body) == LARGEST


class FullTopic:
    """A broker that gives out the same bad messages until they are acknowledged."""

    def __init__(self):
        self.opened = self.given = 0
        self.acknowledged = []

    async def open(self):
        self.opened += 1

    async def close(self):
        pass

    async def take(self, _limit, _seconds):
        self.given += 1
        return [Incoming(came.body, came.place, None) for came in bad(self.given)]

    async def done(self, batch):
        self.acknowledged += batch

    async def waiting(self):
        return None


async def test_an_intake_at_the_bound_says_so_and_takes_nothing_until_there_is_room(ctx, store, monkeypatch):
    monkeypatch.setattr(changes_in, "MOST_PARKED", 3)
    monkeypatch.setattr(upkeep, "PAUSE", 0.01)
    topic = FullTopic()
    monkeypatch.setattr(upkeep, "source_of", lambda *_: topic)
    await an_intake(ctx)
    duty = Intakes(
        store, {"main": BrokerSettings(kind="kafka", url="127.0.0.1:9", topics=["{tenant}.*"])}, store.shards_of
    )
    await duty.once()

    async def waits():
        found = (await intakes.find(ctx, "in")).position
        return found is not None and "are parked" in (found.error or "")

    try:
        await until(waits)
        opened, looked = topic.opened, await looked_at(store)
        await until(lambda: looked_later(store, looked))
        assert (topic.opened, len(topic.acknowledged)) == (opened, 3)
        [first, *_] = await parked.page(ctx, None, 10)
        await parked.drop(ctx, first.id)
        await until(lambda: len(topic.acknowledged) == 4)
    finally:
        async with asyncio.timeout(30):
            await duty.close()


async def looked_at(store):
    rows = await query(store, "select looked_at from intake_position where error is not null")
    return max(row["looked_at"] for row in rows)


async def looked_later(store, before):
    return await looked_at(store) > before

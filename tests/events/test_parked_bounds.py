"""What a producer sends by mistake is kept up to a bound; then its intake waits, and acknowledges nothing."""

import asyncio

import pytest

from horae.delivery.brokers import BrokerMessage
from horae.domain.errors import CountReached
from horae.domain.events.channels import Broker, TopicAddress
from horae.domain.events.intakes import MAX_MESSAGE_BYTES, Intake
from horae.runtime.settings import BrokerSettings
from horae.service.context import Context, PlatformContext
from horae.service.events import intake_batches, intakes, parked_messages
from horae.service.events.intake_batches import IntakeMessage
from horae.service.tenants import tenants
from horae.upkeep import intakes as upkeep
from horae.upkeep.intakes import Intakes
from tests.steps import query, until


async def an_intake(ctx):
    ctx.store.brokers = {"main": Broker("kafka", ("{tenant}.*",))}
    return await intakes.put(ctx, "in", Intake(TopicAddress("main", f"{ctx.tenant.name}.changes")))


def bad(*numbers):
    return [IntakeMessage(b"no change %d" % number, f"t/{number}") for number in numbers]


async def test_no_more_is_parked_for_a_tenant_than_its_bound(ctx, store, monkeypatch):
    monkeypatch.setattr(intake_batches, "MOST_PARKED", 3)
    told = await an_intake(ctx)
    await intake_batches.apply_batch(ctx, told, bad(1, 2, 3))
    with pytest.raises(CountReached, match="3 messages are parked"):
        await intake_batches.apply_batch(ctx, told, bad(4))
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "other"), "test")
    await intake_batches.apply_batch(other, await an_intake(other), bad(4))
    [first, *_] = await parked_messages.page(ctx, None, 10)
    await parked_messages.drop(ctx, first.id)
    await intake_batches.apply_batch(ctx, told, bad(4))
    assert len(await parked_messages.page(ctx, None, 10)) == 3


async def test_no_more_bytes_are_parked_for_a_tenant_than_its_bound(ctx, monkeypatch):
    monkeypatch.setattr(intake_batches, "MOST_PARKED_BYTES", 1)
    told = await an_intake(ctx)
    await intake_batches.apply_batch(ctx, told, bad(1))
    with pytest.raises(CountReached):
        await intake_batches.apply_batch(ctx, told, bad(2))


async def test_of_a_message_that_is_too_large_the_beginning_is_kept(ctx):
    told = await an_intake(ctx)
    await intake_batches.apply_batch(
        ctx,
        told,
        [IntakeMessage(b"x" * (MAX_MESSAGE_BYTES + 1), "t/0"), IntakeMessage(b"y" * MAX_MESSAGE_BYTES, "t/1")],
    )
    large, whole = sorted((await parked_messages.page(ctx, None, 10)), key=lambda one: one.place)
    assert len(large.body) < 2000
    assert f"{MAX_MESSAGE_BYTES + 1} bytes" in large.body
    assert len(whole.body) == MAX_MESSAGE_BYTES


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
        return [BrokerMessage(came.body, came.place, None) for came in bad(self.given)]

    async def acknowledge(self, batch):
        self.acknowledged += batch

    async def backlog(self):
        return None


async def test_an_intake_at_the_bound_says_so_and_takes_nothing_until_there_is_room(ctx, store, monkeypatch):
    monkeypatch.setattr(intake_batches, "MOST_PARKED", 3)
    monkeypatch.setattr(upkeep, "FAILURE_PAUSE_S", 0.01)
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
        [first, *_] = await parked_messages.page(ctx, None, 10)
        await parked_messages.drop(ctx, first.id)
        await until(lambda: len(topic.acknowledged) == 4)
    finally:
        async with asyncio.timeout(30):
            await duty.close()


async def looked_at(store):
    rows = await query(store, "select looked_at from intake_position where error is not null")
    return max(row["looked_at"] for row in rows)


async def looked_later(store, before):
    return await looked_at(store) > before

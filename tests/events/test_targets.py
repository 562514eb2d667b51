"""Brokers as targets: an attempt is a message under its idempotency key, and has succeeded when it is acknowledged."""

import msgspec
import pytest

from horae.delivery.broker_connections import Lines, broker_rules
from horae.delivery.brokers import source_of
from horae.delivery.client import Client
from horae.delivery.push import Sender
from horae.domain.errors import Invalid
from horae.domain.events.channels import Broker
from horae.domain.instances.outcomes import FailedProbe, Retryable, Success
from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import KeyedTrigger
from horae.domain.targets.targets import TopicTarget
from horae.service.jobs import jobs
from horae.service.schedules import schedules
from horae.service.tasks import tasks
from horae.upkeep.copies import Copier
from tests.delivery.builders import a_job, an_attempt
from tests.egress import ANYWHERE
from tests.engine.running import ended, running
from tests.steps import a_type, query, until


@pytest.fixture
async def sender(broker):
    made = Sender(Client(ANYWHERE))
    made.lines = Lines({"main": broker.settings})
    yield made
    await made.lines.close()
    await made.client.close()


async def taken(broker, topic, number):
    source = source_of(broker.settings, topic, "test")
    await source.open()
    found = []
    while len(found) < number:
        batch = await source.take(100, 1)
        if batch:
            await source.acknowledge(batch)
        found += batch
    await source.close()
    return [msgspec.json.decode(one.body) for one in found]


async def test_a_broker_that_acknowledges_has_the_call_under_its_key(broker, sender):
    topic = broker.topic(f"calls-{broker.kind}")
    await broker.declare(topic)
    job = a_job(TopicTarget("main", topic, read_timeout=30.0), {"hello": "world"})
    done = await sender.deliver(an_attempt(), job)
    assert (done.outcome, done.status) == (Success(), None)
    [call] = await taken(broker, topic, 1)
    assert (call["idempotency_key"], call["attempt"], call["payload"]) == ("job:t:42:1", 1, {"hello": "world"})


async def test_what_nobody_acknowledges_is_tried_again_and_what_has_no_broker_here_waits():
    """A process that was not told of a broker yet, or has no library for it, is no reason to give a task up."""
    gone = Sender(Client(ANYWHERE))
    settings = {"kind": "nats", "url": "nats://127.0.0.1:9"}
    gone.lines = Lines({"main": known_settings(settings)})
    job = a_job(TopicTarget("main", "acme.x", read_timeout=2.0))
    assert isinstance((await gone.deliver(an_attempt(), job)).outcome, Retryable)
    elsewhere = a_job(TopicTarget("other", "acme.x"))
    assert isinstance((await gone.deliver(an_attempt(), elsewhere)).outcome, FailedProbe)
    await gone.lines.close()
    gone.lines = None
    assert isinstance((await gone.deliver(an_attempt(), elsewhere)).outcome, FailedProbe)
    await gone.client.close()


def known_settings(facts):
    from horae.runtime.settings import BrokerSettings

    return BrokerSettings.model_validate(facts)


async def test_a_node_sends_tasks_to_a_topic(ctx, store, brokers):
    nats = brokers["nats"]
    await nats.declare("acme.publish")
    store.brokers = broker_rules({"main": nats.settings})
    await a_type(ctx, "PUBLISH", target=TopicTarget("main", "acme.publish"))
    await Copier(store).once()
    async with running(store) as node:
        node.sender.lines = Lines({"main": nats.settings})
        for n in range(20):
            await tasks.schedule(ctx, "PUBLISH", f"a-{n}")
        await until(lambda: ended(store, 20), 60)
        await node.sender.lines.close()
    calls = await taken(nats, "acme.publish", 20)
    assert {call["key"] for call in calls} == {f"a-{n}" for n in range(20)}
    rows = await query(store, "select idem_key from instance_history")
    assert {call["idempotency_key"] for call in calls} == {row["idem_key"] for row in rows}


async def test_a_job_is_sent_to_its_tenants_own_topics_only(ctx, store):
    store.brokers = {"main": Broker("kafka", ("{tenant}.*",))}
    theirs = Definition(trigger=KeyedTrigger(), target=TopicTarget("main", "globex.x"))
    own = Definition(trigger=KeyedTrigger(), target=TopicTarget("main", "acme.x"))
    with pytest.raises(Invalid):
        await jobs.create(ctx, "T", theirs)
    await jobs.create(ctx, "T", own)
    with pytest.raises(Invalid):
        await schedules.update(ctx, "T", theirs)
    with pytest.raises(Invalid):
        TopicTarget("main", "no/such")

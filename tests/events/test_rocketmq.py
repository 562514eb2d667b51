"""RocketMQ: 10,000 changes in, each twice and in no order, and 10,000 events out, the broker killed in between."""

import asyncio
import os
import random
import subprocess
import sys
import time
from collections import Counter

import msgspec
import pytest

from horae.delivery.broker_connections import Lines, broker_rules
from horae.delivery.brokers import Message, rocketmq_source, source_of
from horae.delivery.outlets import Outlets
from horae.domain.errors import Invalid, Unavailable
from horae.domain.events.channels import Subscription, TopicAddress
from horae.domain.events.intakes import Intake
from horae.domain.ids import Prefix, public
from horae.runtime.settings import BrokerSettings
from horae.service.events import intakes, parked_messages, subscriptions
from horae.upkeep.copies import Copier
from horae.upkeep.feed import Feed
from horae.upkeep.intakes import Intakes
from tests.events import test_intakes
from tests.events.seen import Seen
from tests.events.sending import send
from tests.events.test_intakes import TYPE, changes, state, taken
from tests.events.test_outward import keep_telling, tell_all
from tests.events.writers import Pace, write
from tests.steps import a_type, until

committed = test_intakes.committed
WRITERS = 16
SIZES = [
    pytest.param(50, id="800"),
    pytest.param(625, id="10,000", marks=[pytest.mark.long, pytest.mark.timeout(1200)]),
]


@pytest.mark.long
@pytest.mark.timeout(1200)
async def test_of_ten_thousand_changes_that_come_twice_and_shuffled_none_is_lost_and_none_applied_twice(
    ctx, store, rocket, committed, record_property
):
    """The broker is killed while they are sent and taken; whoever sends repeats what was not acknowledged."""
    topic, number = rocket.topic("doubled"), 10_000
    await rocket.declare(topic)
    store.brokers = broker_rules({"main": rocket.settings})
    await a_type(ctx, TYPE)
    await intakes.put(ctx, "in", Intake(TopicAddress("main", topic), (TYPE,)))
    await Copier(store).once()
    said, last = changes(number, random.Random("rocketmq"))
    once = sorted(set(said))
    twice = once * 2
    random.Random(1).shuffle(twice)
    duty = Intakes(store, {"main": rocket.settings}, store.shards_of)
    await duty.once()
    began = time.monotonic()
    sending = asyncio.create_task(send_stubbornly(rocket, topic, twice))
    try:
        await taken(committed, number // 5, 300, rocket, topic)
        await asyncio.to_thread(rocket.kill)
        await asyncio.to_thread(rocket.restart)
        repeated = await sending
        await taken(committed, len(once), 600, rocket, topic)
        await until(lambda: committed.total() >= len(twice), 300)
    finally:
        sending.cancel()
        async with asyncio.timeout(30):
            await duty.close()
    record_property("messages", len(twice))
    record_property("sent_again", repeated)
    record_property("taken", committed.total())
    record_property("seconds", round(time.monotonic() - began))
    assert (await state(store)) == last
    assert await parked_messages.page(ctx, None, 10) == []


async def send_stubbornly(rocket, topic, said):
    """Pages of 500 until each is acknowledged; returns how many messages were sent again for that."""
    repeated = 0
    for first in range(0, len(said), 500):
        while True:
            try:
                await send(rocket, topic, said[first : first + 500], f"twice-{first}")
                break
            except Unavailable:
                repeated += 500
                await asyncio.sleep(0.2)
    return repeated


@pytest.mark.parametrize("each", SIZES)
async def test_of_the_events_out_none_is_lost_and_none_has_two_ids(ctx, store, rocket, each, record_property):
    """The broker is killed and restarted while they flow; whoever forgets ids that he knows has each event once."""
    topic = rocket.topic(f"out-{each}")
    await rocket.declare(topic)
    settings = {"main": rocket.settings}
    store.brokers = broker_rules(settings)
    outlets = Outlets(Lines(settings), None, None, None)
    feed, cell = Feed(store, outlets, store.shards_of), store.cells[0]
    await subscriptions.put(ctx, "all", Subscription(TopicAddress("main", topic), ("TASK_*", "INSTANCE_*")))
    await Copier(store).once()
    writing = asyncio.create_task(
        write(cell, store.shards_of(cell)[::100], ctx.tenant.id, WRITERS, each, Pace(rest=0.02, late=0.08))
    )
    telling = asyncio.create_task(keep_telling(feed, writing.done))
    began = time.monotonic()

    async def some_of_it():
        return (await subscriptions.show(ctx, "all")).progress.sent > WRITERS * each // 10

    await until(some_of_it, 120)
    await asyncio.to_thread(rocket.kill)
    await asyncio.to_thread(rocket.restart)
    jobs = await writing
    await telling
    await tell_all(ctx, feed)
    seconds = time.monotonic() - began
    await feed.close()
    await outlets.close()
    told = await all_of(rocket, topic, WRITERS * each)
    record_property("events", WRITERS * each)
    record_property("told", told.total())
    record_property("seconds", round(seconds))
    events = [msgspec.json.decode(body) for body in told]
    assert len({one["id"] for one in events}) == len(events) == WRITERS * each
    steps = {job: sorted(found) for job, found in Seen(events).all_steps().items()}
    assert steps == {public(Prefix.JOB, job): list(range(each)) for job in jobs.values()}


async def all_of(rocket, topic, number):
    """How often each body came, until so many different ones did and no more come."""
    source, found, quiet = source_of(rocket.settings, topic, "test"), Counter(), 0
    await source.open()
    try:
        async with asyncio.timeout(300):
            while len(found) < number or not quiet:
                batch = await source.take(1000, 1)
                await source.acknowledge(batch)
                found.update(one.body for one in batch)
                quiet = not batch
    finally:
        await source.close()
    return found


async def test_messages_of_a_key_come_in_their_order_with_their_id_and_headers(rocket):
    """In a topic of type FIFO they are one message group; the id is a key of the broker's index and a property."""
    topic = rocket.topic("ordered")
    await rocket.declare(topic)
    lines = Lines({"main": rocket.settings})
    keys = ["a", "键" * 200, "two words"]
    page = [Message(f"{key}:{n}", key, f"{key}:{n}".encode(), {"x": "y"}) for n in range(20) for key in keys]
    await lines.produce(TopicAddress("main", topic), page)
    await lines.close()
    source = source_of(rocket.settings, topic, "test")
    await source.open()
    found = []
    async with asyncio.timeout(60):
        while len(found) < len(page):
            found += await source.take(1000, 1)
    await source.acknowledge(found)
    await source.close()
    by_offset = sorted((one.handle for one in found), key=lambda one: one.system_properties.queue_offset)
    for key in keys:
        ours = [one for one in by_offset if one.user_properties["key"] == key]
        assert [one.body.decode() for one in ours] == [f"{key}:{n}" for n in range(20)]
        assert len({one.system_properties.queue_id for one in ours}) == 1
    assert {(one.user_properties["id"], one.user_properties["x"]) for one in by_offset} == {(m.id, "y") for m in page}


async def test_a_topic_that_is_not_there_disturbs_no_other_tenant(rocket):
    topic = rocket.topic("shared")
    await rocket.declare(topic)
    lines = Lines({"main": rocket.settings})
    sending = asyncio.create_task(
        lines.produce(TopicAddress("main", topic), [Message(f"b-{n}", "k", b"{}", {}) for n in range(200)])
    )
    while not sending.done():
        with pytest.raises(Unavailable, match="no topic"):
            await lines.produce(TopicAddress("main", "acme-nothing"), [Message("a", "k", b"{}", {})])
    await sending
    await lines.close()


async def test_what_is_not_acknowledged_in_time_is_given_out_again_with_its_place(rocket, monkeypatch):
    """Also to the same source: a handle that has run out is no failure."""
    monkeypatch.setattr(rocketmq_source, "INVISIBLE_S", 10)
    topic = rocket.topic("invisible")
    await rocket.declare(topic)
    await send(rocket, topic, [b"once"], "invisible")
    source = source_of(rocket.settings, topic, "test")
    await source.open()
    async with asyncio.timeout(200):  # on a busy machine the broker took more than a minute
        first = await some(source)
        again = await some(source)
    assert [one.place for one in again] == [one.place for one in first]
    await source.acknowledge(first)
    await source.acknowledge(again)
    await source.close()


async def some(source):
    while not (found := await source.take(10, 1)):
        pass
    return found


async def test_a_proxy_that_is_away_is_said_soon_and_wrong_settings_at_once(unused_tcp_port, monkeypatch):
    monkeypatch.setattr("horae.delivery.brokers.rocketmq_proxy.ANSWER_TIMEOUT_S", 0.5)
    away = BrokerSettings(kind="rocketmq", url=f"127.0.0.1:{unused_tcp_port}")
    assert away.topics == ["{tenant}-*"]
    lines = Lines({"main": away})
    async with asyncio.timeout(10):
        with pytest.raises(Unavailable, match="not reached"):
            await lines.produce(TopicAddress("main", "acme-x"), [Message("a", "k", b"{}", {})])
    await lines.close()
    wrong = BrokerSettings(kind="rocketmq", url="127.0.0.1:8081", options={"accesskey": "a"})
    with pytest.raises(Invalid, match="access_key"):
        source_of(wrong, "acme-x", "g")


def test_its_library_writes_no_log_into_the_home(tmp_path):
    """It makes `~/logs` when it is imported, and a container's root file system may be read-only."""
    code = (
        "import horae.delivery.brokers.rocketmq, logging; print(logging.getLogger('rocketmq-python-client').handlers)"
    )
    env = os.environ | {"HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True, timeout=120)
    assert done.stdout.strip() == b"[]"
    assert list(tmp_path.iterdir()) == []

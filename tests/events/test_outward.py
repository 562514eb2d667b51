"""Out to real brokers: 64 writers that commit late, the broker killed and wiped, and a replay from the rows."""

import asyncio
import time
from contextlib import suppress

import msgspec
import pytest
from standardwebhooks.webhooks import Webhook as StandardWebhook

from horae.delivery.broker_connections import Lines, broker_rules
from horae.delivery.brokers import source_of
from horae.delivery.client import Client
from horae.delivery.outlets import Outlets
from horae.delivery.secrets import secrets_in_memory
from horae.domain.events.channels import Subscription, TopicAddress, WebhookAddress
from horae.domain.ids import Prefix, public
from horae.service.events import subscriptions
from horae.upkeep.copies import Copier
from horae.upkeep.feed import Feed
from horae.upkeep.marks import Marker
from tests.egress import ANYWHERE
from tests.events.conftest import the
from tests.events.consumers import kafka_events, kafka_listener
from tests.events.memory import MOST_GROWN, peak_mib
from tests.events.seen import Seen
from tests.events.writers import Pace, committed, write
from tests.steps import until

SIZES = [
    pytest.param(312, Pace(), id="20,000"),
    pytest.param(15_625, Pace(250, late=5.0), id="1,000,000", marks=[pytest.mark.long, pytest.mark.timeout(3600)]),
]
WRITERS = 64
SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazeQ"


@pytest.fixture
async def told(store):
    """Feeds to brokers, closed at the end."""
    made = []

    def make(**brokers):
        store.brokers = broker_rules({name: broker.settings for name, broker in brokers.items()})
        outlets = Outlets(Lines({name: broker.settings for name, broker in brokers.items()}), None, None, None)
        feed = Feed(store, outlets, store.shards_of)
        made.append((feed, outlets))
        return feed

    yield make
    for feed, outlets in made:
        await feed.close()
        await outlets.close()


async def keep_telling(feed, done):
    while not done() or feed._going:
        if not await feed.once():
            await asyncio.sleep(0.05)
    while await feed.once() or feed._going:
        pass


async def tell_all(ctx, feed):
    """Until nothing is left, and nothing is wrong."""
    while await feed.once() or feed._going or (await subscriptions.show(ctx, "all")).progress.error:
        await asyncio.sleep(0.01)


async def with_marks(store, work):
    """Meanwhile the marker does its duty every second, as in a node."""
    marker = Marker(store)

    async def mark():
        while True:
            await marker.once()
            await asyncio.sleep(1)

    marking = asyncio.create_task(mark())
    try:
        return await work
    finally:
        marking.cancel()


@pytest.mark.parametrize(("each", "pace"), SIZES)
async def test_kafka_killed_and_wiped_holds_what_was_committed_in_order(
    ctx, store, told, kafka, each, pace, record_property
):
    """Judged by what the tables hold, by one who listened before the broker was lost and by one who reads it after."""
    feed, cell = told(main=kafka), store.cells[0]
    await subscriptions.put(ctx, "all", Subscription(TopicAddress("main", "acme.out"), ("TASK_*", "INSTANCE_*")))
    await Copier(store).once()
    before, began, grown = await with_marks(store, lose_and_replay(ctx, feed, cell, kafka, each, pace))
    seconds = time.monotonic() - began
    after = await asyncio.to_thread(lambda: Seen(kafka_events(kafka, "acme.out", 600)))
    record_property("told_before_the_loss", len(before))
    record_property("told_after_it", len(after))
    record_property("per_second", round(WRITERS * each / seconds))
    record_property("grown_mib", grown)
    rows = await committed(cell)
    whole, jobs = list(range(each)), {public(Prefix.JOB, job) for job in rows}
    assert (len(jobs), list(rows.values())) == (WRITERS, [whole] * WRITERS)
    assert 0 < len(before) < len(after)
    assert after.jobs() == jobs
    unread = {job for job in jobs if not judged(whole, before.steps(job), after, job)}
    before.go_on(after)
    assert all(before.steps(job) == whole for job in jobs - unread)
    assert grown < MOST_GROWN


def judged(whole, heard, after, job):
    """One job, before and after the loss; returns whether all that the broker had taken before it was heard."""
    assert heard == whole[: len(heard)]  # from the first, none left out
    replayed = after.beginning(job)
    early = after.steps(job, 0, replayed)  # between the broker's return and the replay
    assert not early or early == list(range(early[0], early[0] + len(early)))
    assert after.steps(job, replayed) == whole
    return not early or early[0] <= len(heard)


async def lose_and_replay(ctx, feed, cell, kafka, each, pace):
    """Returns what was heard before the broker was lost, when the replay began, and how much memory all of it took."""
    begin = cell.clock.now()
    shards = feed.store.shards_of(cell)[::40]
    writing = asyncio.create_task(write(cell, shards, ctx.tenant.id, WRITERS, each, pace))
    telling = asyncio.create_task(keep_telling(feed, writing.done))

    async def some_of_it():
        return (await subscriptions.show(ctx, "all")).progress.sent > WRITERS * each // 20

    with kafka_listener(kafka, "acme.out") as heard:
        await until(some_of_it, 300)
        await until(lambda: len(heard) > 0, 60)
        memory = peak_mib()
        await asyncio.to_thread(kafka.kill)
    await writing
    await asyncio.to_thread(kafka.wipe)
    await asyncio.to_thread(kafka.restart)
    began = time.monotonic()
    await subscriptions.replay(ctx, "all", begin)
    await telling
    await tell_all(ctx, feed)
    return heard, began, peak_mib() - memory


class Hook:
    """A receiver on a free port that takes every other post, and checks each with the official verifier."""

    def __init__(self, secret):
        self.told, self.posts, self._webhook = [], 0, StandardWebhook(secret)

    async def visited(self, reader, writer):
        with suppress(asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                headers = {
                    name.lower(): value for name, _, value in (one.partition(": ") for one in head.split("\r\n")[1:])
                }
                body = await reader.readexactly(int(headers["content-length"]))
                self.posts += 1
                assert headers["content-type"] == "application/cloudevents-batch+json"
                if self.posts % 2:
                    writer.write(b"HTTP/1.1 503 no\r\nContent-Length: 0\r\n\r\n")
                    continue
                self.told += self._webhook.verify(body, headers)
                writer.write(b"HTTP/1.1 200 ok\r\nContent-Length: 0\r\n\r\n")
        writer.close()


@pytest.fixture
def there(brokers):
    return {kind: the(brokers, kind) for kind in ("nats", "rabbitmq")}


async def test_nats_rabbitmq_and_webhooks_are_told_the_same_in_order(ctx, store, there):
    """One feed, a subscription to each, one of them half deaf; 16 writers that commit late."""
    for broker in there.values():
        await broker.declare("acme.told")
    settings = {kind: broker.settings for kind, broker in there.items()}
    store.brokers = broker_rules(settings)
    hook = Hook(SECRET)
    server = await asyncio.start_server(hook.visited, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/events"
    client = Client(ANYWHERE)

    async def learn(_tenant_id, _name):
        pass

    outlets = Outlets(Lines(settings), client, secrets_in_memory({ctx.tenant.id: {"crm": SECRET}}), learn)
    feed, cell, wanted = Feed(store, outlets, store.shards_of), store.cells[0], ("TASK_*", "INSTANCE_*")
    for kind in there:
        await subscriptions.put(ctx, kind, Subscription(TopicAddress(kind, "acme.told"), wanted))
    await subscriptions.put(ctx, "hook", Subscription(WebhookAddress(url, "crm"), wanted))
    writing = asyncio.create_task(
        write(cell, store.shards_of(cell)[::100], ctx.tenant.id, 16, 50, Pace(rest=0.02, late=0.08))
    )
    await keep_telling(feed, writing.done)
    jobs = await writing
    whole = {public(Prefix.JOB, job): list(range(50)) for job in jobs.values()}

    async def heard():
        await keep_telling(feed, lambda: True)
        return Seen(hook.told).all_steps() == whole

    await until(heard, 30)
    for kind, broker in there.items():
        assert Seen(await taken(broker, "acme.told", 800)).all_steps() == whole, kind
    server.close()
    await feed.close()
    await outlets.close()
    await client.close()


async def taken(broker, topic, number):
    source = source_of(broker.settings, topic, "test")
    await source.open()
    found = {}
    while len(found) < number:
        batch = await source.take(500, 1)
        if batch:
            await source.acknowledge(batch)
        for one in batch:
            event = msgspec.json.decode(one.body)
            found.setdefault(event["id"], event)
    await source.close()
    return list(found.values())

"""Out to real brokers: 64 writers that commit late, the broker killed and wiped, and a replay from the rows."""

import asyncio
from collections import defaultdict

import pytest

from horae.delivery.lines import Lines, known
from horae.delivery.outlets import Outlets
from horae.domain.channels import Subscription, Topic
from horae.domain.ids import Prefix, public
from horae.service import subscriptions
from horae.upkeep.copies import Copier
from horae.upkeep.feed import Feed
from tests.events.consumers import kafka_events
from tests.events.writers import write
from tests.steps import until

SIZES = [
    pytest.param(312, id="20,000"),
    pytest.param(15_625, id="1,000,000", marks=[pytest.mark.long, pytest.mark.timeout(3600)]),
]
WRITERS = 64


@pytest.fixture
async def told(store):
    """Feeds to brokers, closed at the end."""
    made = []

    def make(**brokers):
        store.brokers = known({name: broker.settings for name, broker in brokers.items()})
        outlets = Outlets(Lines({name: broker.settings for name, broker in brokers.items()}), None, None, None)
        feed = Feed(store, outlets, store.shards_of)
        made.append((feed, outlets))
        return feed

    yield make
    for feed, outlets in made:
        await feed.close()
        await outlets.close()


def steps_of(events):
    """What each job's events said, in the order in which they were first seen."""
    steps, seen = defaultdict(list), set()
    for event in events:
        if event["id"] not in seen:
            seen.add(event["id"])
            data = event["data"]
            steps[event["partitionkey"]].append(data["step"] if "step" in data else data["generation"])
    return steps


async def keep_telling(feed, done):
    while not done() or feed._going:
        if not await feed.once():
            await asyncio.sleep(0.05)
    while await feed.once() or feed._going:
        pass


@pytest.mark.parametrize("each", SIZES)
async def test_kafka_killed_and_wiped_holds_what_was_committed_in_order(ctx, store, told, kafka, each):
    feed, cell = told(main=kafka), store.cells[0]
    await subscriptions.put(ctx, "all", Subscription(Topic("main", "acme.out"), ("TASK_*", "INSTANCE_*")))
    await Copier(store).once()
    shards = store.shards_of(cell)[::40]
    rows = 10 if each < 1000 else 250
    writing = asyncio.create_task(write(cell, shards, ctx.tenant.id, WRITERS, each, 0.05, rows))
    telling = asyncio.create_task(keep_telling(feed, writing.done))

    async def some_of_it():
        return (await subscriptions.show(ctx, "all")).progress.sent > WRITERS * each // 20

    await until(some_of_it, 60)
    await asyncio.to_thread(kafka.kill)
    jobs = await writing
    await asyncio.to_thread(kafka.wipe)
    await asyncio.to_thread(kafka.restart)
    await subscriptions.replay(ctx, "all")
    await telling
    await keep_telling(feed, lambda: True)
    steps = await asyncio.to_thread(lambda: steps_of(kafka_events(kafka, "acme.out", 600)))
    assert steps == {public(Prefix.JOB, job): list(range(each)) for job in jobs.values()}

"""What happens is told once for each time it happened, in order per job, whoever commits late and whatever breaks."""

import asyncio

import msgspec
import pytest

from horae.domain.events.channels import Subscription, TopicAddress
from horae.domain.events.cloudevents import EventRow
from horae.domain.ids import Prefix, public
from horae.runtime import setbacks
from horae.service.events import subscriptions
from horae.service.tasks import tasks
from horae.store.events import feeds
from horae.upkeep.copies import Copier
from horae.upkeep.feed import Feed
from horae.upkeep.feed_rounds import blocks_of
from horae.upkeep.marks import Marker
from tests.events.seen import Seen
from tests.events.writers import Pace, write
from tests.steps import a_type, move_clock, query

TOPIC = TopicAddress("main", "acme.events")


class Inbox:
    """A receiver in this process that keeps what it was told."""

    def __init__(self):
        self.told, self.down = [], False

    async def send(self, _channel, _subscription, _tenant, batch):
        from horae.domain.errors import Unavailable

        if self.down:
            raise Unavailable("away")
        self.told += [msgspec.json.decode(one.data) for one in batch]

    async def keep(self, _ids):
        pass


@pytest.fixture
def inbox():
    return Inbox()


@pytest.fixture
def feed(store, inbox):
    from horae.domain.events.channels import Broker

    store.brokers = {"main": Broker("kafka", ("{tenant}.*",))}
    return Feed(store, inbox, store.shards_of)


async def drain(feed):
    while await feed.once() or feed._going:
        pass


async def subscribe(ctx, *wanted):
    await subscriptions.put(ctx, "crm", Subscription(TOPIC, *wanted))
    await Copier(ctx.store).once()


async def test_a_task_tells_its_whole_life(ctx, store, feed, inbox):
    await subscribe(ctx)
    await a_type(ctx, "PUBLISH")
    await Copier(store).once()
    await tasks.schedule(ctx, "PUBLISH", "a-1", version=1)
    await tasks.schedule(ctx, "PUBLISH", "a-1", version=2)
    await tasks.cancel(ctx, "PUBLISH", "a-1", version=3)
    await drain(feed)
    told = [one["data"]["event"] for one in inbox.told if "key" in one["data"]]
    assert told == ["TASK_CREATED", "TASK_MOVED", "INSTANCE_CANCELLED", "TASK_CANCELLED"]
    moved = next(one for one in inbox.told if one["data"]["event"] == "TASK_MOVED")
    assert (moved["specversion"], moved["type"], moved["subject"]) == ("1.0", "io.horae.task.moved", "PUBLISH")
    assert len({one["id"] for one in inbox.told}) == len(inbox.told)


class Looks:
    """Counts what the feed does, for writers that end only after it has looked."""

    def __init__(self):
        self._count, self._more = 0, asyncio.Event()

    def looked(self):
        self._count += 1
        self._more.set()
        self._more = asyncio.Event()

    async def whole_one(self):
        """Until a look that began after this has ended."""
        enough = self._count + 2
        while self._count < enough:
            await self._more.wait()


async def tell_while_writing(ctx, feed, writers, ends=0.5):
    """Writers write and the feed tells meanwhile; returns what should have been told of each job."""
    cell, each, looks = ctx.store.cells[0], 60, Looks()
    pace, shards = Pace(ends=ends, held=looks.whole_one), ctx.store.shards_of(cell)[::40]
    await subscribe(ctx, ("TASK_MOVED", "INSTANCE_*"))
    writing = asyncio.create_task(write(cell, shards, ctx.tenant.id, writers, each, pace))
    while not writing.done():
        await feed.once()
        looks.looked()
    jobs = await writing
    await drain(feed)
    return {public(Prefix.JOB, job): list(range(each)) for job in jobs.values()}


async def test_no_writer_that_commits_late_is_passed_over(ctx, feed, inbox):
    """R-24: 64 writers, of which some end only after the feed has looked, and some give up."""
    whole = await tell_while_writing(ctx, feed, 64)
    assert Seen(inbox.told).all_steps() == whole


def plant_id_above_last(monkeypatch):
    """The naive relay: rows whose id is above the last one seen, whoever has not committed yet."""

    async def highest(tx):
        return 1 + await tx.value("select coalesce(max(number), 0) from outbox")

    async def above_last(tx, span, _at, _blocks, tenant_id, limit):
        found = await tx.rows(
            """select number as xid, number, at, shard_id, tenant_id, job_id, instance_id, event, body from outbox
               where number > $1 and tenant_id = $2 order by number limit $3""",
            span[0] - 1, tenant_id, limit,
        )  # fmt: skip
        return [EventRow(*row) for row in found if row["number"] < span[1]]

    async def everybody(tx, _span, _at, _blocks):
        return [row["tenant_id"] for row in await tx.rows("select distinct tenant_id from outbox")]

    monkeypatch.setattr(feeds, "horizon", highest)
    monkeypatch.setattr(feeds, "page", above_last)
    monkeypatch.setattr(feeds, "active", everybody)


@pytest.mark.parametrize("writers", [1, 64])
async def test_a_feed_planted_with_id_above_last_is_caught(ctx, feed, inbox, monkeypatch, writers):
    """R-24: it loses nothing of one writer, whose ids are committed in their order; and of 64 it does."""
    plant_id_above_last(monkeypatch)
    whole = await tell_while_writing(ctx, feed, writers, ends=0)
    told = Seen(inbox.told)
    lost = sum(len(set(steps) - set(told.steps(job))) for job, steps in whole.items())
    assert (lost > 0) is (writers > 1)
    assert (told.all_steps() == whole) is (writers == 1)


async def test_a_sink_that_is_down_holds_its_own_subscription_and_loses_nothing(ctx, store, feed, inbox, monkeypatch):
    monkeypatch.setattr(setbacks, "FIRST_PAUSE_S", 0.0)
    await subscribe(ctx, ("TASK_*",))
    await a_type(ctx, "PUBLISH")
    inbox.down = True
    await tasks.schedule(ctx, "PUBLISH", "a-1")
    assert await feed.once() == 0
    shown = await subscriptions.show(ctx, "crm")
    assert shown.progress.error == "away"
    inbox.down = False
    await drain(feed)
    assert [one["data"]["event"] for one in inbox.told] == ["TASK_CREATED"]
    shown = await subscriptions.show(ctx, "crm")
    assert (shown.progress.sent, shown.progress.error) == (1, None)


async def test_a_paused_subscription_keeps_its_place_and_goes_on_there(ctx, store, feed, inbox):
    await subscribe(ctx, ("TASK_*",))
    await a_type(ctx, "PUBLISH")
    await tasks.schedule(ctx, "PUBLISH", "before")
    await drain(feed)
    paused = await subscriptions.pause(ctx, "crm", paused=True)
    await subscribe(ctx, ("TASK_*",))  # said anew: that does not resume it
    assert (await subscriptions.show(ctx, "crm")).channel.paused_at == paused.channel.paused_at
    await Copier(store).once()
    await tasks.schedule(ctx, "PUBLISH", "meanwhile")
    await drain(feed)
    assert [one["data"]["key"] for one in inbox.told] == ["before"]
    assert (await subscriptions.pause(ctx, "crm", paused=False)).channel.paused_at is None
    await Copier(store).once()
    await drain(feed)
    assert [one["data"]["key"] for one in inbox.told] == ["before", "meanwhile"]


async def test_a_replay_tells_again_what_was_told_with_the_same_ids(ctx, store, feed, inbox):
    await subscribe(ctx, ("TASK_*",))
    await a_type(ctx, "PUBLISH")
    for n in range(5):
        await tasks.schedule(ctx, "PUBLISH", f"a-{n}")
    await drain(feed)
    first, inbox.told = inbox.told, []
    await subscriptions.replay(ctx, "crm")
    await tasks.schedule(ctx, "PUBLISH", "new")
    await drain(feed)
    again = {one["id"] for one in inbox.told}
    assert {one["id"] for one in first} < again
    assert len(again) == 6


async def test_a_replay_of_a_span_goes_on_where_it_was(ctx, store, feed, inbox):
    await subscribe(ctx, ("TASK_*",))
    await a_type(ctx, "PUBLISH")
    marker, times = Marker(store), []
    for n in range(4):
        marker._marked_at.clear()
        await marker.once()
        times.append(store.cells[0].clock.now())
        await tasks.schedule(ctx, "PUBLISH", f"a-{n}")
    marker._marked_at.clear()
    await marker.once()
    await drain(feed)
    inbox.told.clear()
    await subscriptions.replay(ctx, "crm", times[1], times[2])
    await drain(feed)
    await tasks.schedule(ctx, "PUBLISH", "new")
    await drain(feed)
    *again, last = (one["data"]["key"] for one in inbox.told)
    # Its neighbours may come too: the clocks of two cells differ, and marks lie between the events.
    assert {"a-1"} <= set(again) <= {"a-0", "a-1", "a-2"}
    assert last == "new"


async def test_what_happens_in_a_new_cell_before_its_first_look_is_told(ctx, store, feed, inbox):
    """A cell that was added has no position of the subscription until a node looks there."""
    await a_type(ctx, "PUBLISH")
    await Copier(store).once()
    await tasks.schedule(ctx, "PUBLISH", "before", version=1)
    await Marker(store).once()
    await move_clock(store, seconds=60)
    await Marker(store).once()
    await subscribe(ctx, ("TASK_*",))
    await query(store, "delete from feed_position")
    await move_clock(store, seconds=60)
    await tasks.schedule(ctx, "PUBLISH", "a-1", version=1)
    await drain(feed)
    assert [one["data"]["key"] for one in inbox.told] == ["a-1"]
    await tasks.schedule(ctx, "PUBLISH", "a-2", version=1)
    await drain(feed)
    assert [one["data"]["key"] for one in inbox.told] == ["a-1", "a-2"]


async def test_only_what_was_asked_for_is_told(ctx, store, feed, inbox):
    await subscribe(ctx, ("TASK_*",), {"team": "crm"})
    await a_type(ctx, "OURS", labels={"team": "crm"})
    await a_type(ctx, "THEIRS")
    await Copier(store).once()
    for name in ("OURS", "THEIRS"):
        await tasks.schedule(ctx, name, "k")
    await drain(feed)
    assert [(one["subject"], one["type"]) for one in inbox.told] == [("OURS", "io.horae.task.created")]


async def test_it_reads_by_summaries_and_not_the_whole_day(ctx, store):
    """200,000 ends in a day; a look at the last few touches few of their pages."""
    cell = store.cells[0]
    fill = """insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, shard_id,
                                            priority, lane, id, tenant_id, job_id, state, idem_key, xid)
              select $1, $1, $1, 1, 1, 0, 1, 1, 0, gen_random_uuid(), $2, $2, 'SUCCESS', 'k', n / 10
              from generate_series($3::int, $3 + 19999) n"""
    for first in range(0, 200_000, 20_000):
        await query(cell, fill, cell.clock.now(), ctx.tenant.id, first)
    await Marker(store).once()
    [total] = await query(cell, "select sum(pg_relation_size(inhrelid)) / 8192 as pages from pg_inherits "
                                "where inhparent = 'instance_history'::regclass")  # fmt: skip
    async with cell.tx() as tx:
        await feeds.wide(tx)
        text = feeds.sql("events/feeds/page")
        args = (15_000, 15_010, cell.clock.now().replace(hour=0, minute=0), list(range(64)), None, 2000)
        [row] = await tx.rows(f"explain (analyze, buffers, format json) {text}", *args)
    plan = msgspec.json.decode(row[0])[0]["Plan"]
    touched = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    assert total["pages"] > 3000
    assert touched < 300


def test_every_block_has_one_owner():
    here = [shard for shard in range(4096) if not 640 <= shard < 900]
    mine = blocks_of(range(2000), here), blocks_of(range(2000, 4096), here)
    assert sorted(mine[0] + mine[1]) == list(range(64))
    assert blocks_of([], []) == []

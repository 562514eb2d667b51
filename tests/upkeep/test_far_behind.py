"""A subscription that is far behind reads shorter spans where long ones are cut, and arrives."""

import asyncpg
import pytest

from horae.domain.events.channels import Broker, Subscription
from horae.runtime import setbacks
from horae.service.events import subscriptions
from horae.service.tasks import tasks
from horae.store.events import feeds
from horae.upkeep.copies import Copier
from horae.upkeep.feed import Feed
from horae.upkeep.spans import FIRST, Strides
from tests.events.test_feed import TOPIC, Inbox
from tests.steps import a_type, query

WIDEST_READ = 8000
BEHIND = 60_000


@pytest.fixture
def cut(monkeypatch):
    """The widths of spans that took too long; statements over wider spans are cut, as by statement_timeout."""
    page, widths = feeds.page, []

    async def read(tx, span, *args):
        if span[1] - span[0] > WIDEST_READ:
            widths.append(span[1] - span[0])
            raise asyncpg.QueryCanceledError("canceling statement due to statement timeout")
        return await page(tx, span, *args)

    monkeypatch.setattr(feeds, "page", read)
    monkeypatch.setattr(setbacks, "FIRST_PAUSE_S", 0.0)
    return widths


async def test_it_arrives_though_wide_spans_are_cut(ctx, store, cut):
    store.brokers = {"main": Broker("kafka", ("{tenant}.*",))}
    inbox = Inbox()
    await subscriptions.put(ctx, "crm", Subscription(TOPIC))
    await a_type(ctx, "PUBLISH")
    await Copier(store).once()
    feed = Feed(store, inbox, store.shards_of)
    await feed.once()
    await query(store, "update feed_position set xid = xid - $1", BEHIND)
    await tasks.schedule(ctx, "PUBLISH", "a-1")
    feed = Feed(store, inbox, store.shards_of)
    for _ in range(4 * BEHIND // FIRST):
        await feed.once()
        if any(one["data"]["event"] == "TASK_CREATED" for one in inbox.told):
            break
    else:
        raise AssertionError("it never arrived")
    assert cut, "no span was ever too wide"


def test_a_span_that_was_read_slowly_is_not_made_wider_and_one_that_was_cut_is_made_shorter():
    strides = Strides()
    strides.learn("a", FIRST, 0, 100, took_s=1.0)
    assert strides.of("a") == FIRST
    strides.learn("a", FIRST, 0, 100, took_s=0.1)
    assert strides.of("a") == 2 * FIRST
    strides.shrink("a")
    assert strides.of("a") == FIRST // 2
    strides.keep({"b"})
    assert strides.of("a") == FIRST


async def test_one_that_failed_is_left_alone_for_a_while(ctx, store, monkeypatch):
    store.brokers = {"main": Broker("kafka", ("{tenant}.*",))}
    await subscriptions.put(ctx, "crm", Subscription(TOPIC))
    await Copier(store).once()
    asked = []

    async def never(_tx, span, *_):
        asked.append(span)
        raise asyncpg.QueryCanceledError("canceling statement due to statement timeout")

    monkeypatch.setattr(feeds, "page", never)
    monkeypatch.setattr(setbacks, "FIRST_PAUSE_S", 60.0)
    feed = Feed(store, Inbox(), store.shards_of)
    for _ in range(3):
        await feed.once()
    assert len(asked) == len(store.cells)
    [*rows] = await query(store, "select distinct error from feed_position")
    assert all("too long" in row["error"] for row in rows)

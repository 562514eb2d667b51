"""Alerts beside a node that runs: how soon a person knows of a dead letter, and of a target that hangs."""

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest

from horae.boot.duties import ALERT_DELIVERY_INTERVAL_S, ALERT_WATCH_INTERVAL_S
from horae.domain.targets.targets import HttpTarget
from horae.runtime.loop import Loop
from tests.alerts.world import a_channel
from tests.catcher import catching
from tests.engine.running import running
from tests.steps import a_job, every, query, until

DYING_JOBS = 16
HANGING_JOBS = 40
MESSAGE_WITHIN_S = 10
NAMED_WITHIN_S = 60


@asynccontextmanager
async def alerting(world):
    """Run both duties as a node does."""
    loops = [
        Loop("alertwatcher", world.watcher, ALERT_WATCH_INTERVAL_S),
        Loop("alertdeliverer", world.deliverer, ALERT_DELIVERY_INTERVAL_S),
    ]
    tasks = [asyncio.create_task(loop.run()) for loop in loops]
    yield
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture
async def catcher(store):
    async with catching(store.cells[0].clock.now) as catcher:
        yield catcher


async def test_a_dead_letter_is_a_message_within_ten_seconds(ctx, store, world, hook, catcher):
    """Sixteen jobs die, fewer than a channel takes in a minute; the time from a run's end to its message."""
    await a_channel(ctx, hook)
    catcher.answer = lambda _arrival: 404
    arrived = {}
    hook.on_message = lambda message: arrived.setdefault(message["job"], datetime.now(UTC))
    async with running(store), alerting(world):
        await until(lambda: _rules_are_read(store))
        for n in range(DYING_JOBS):
            await a_job(ctx, f"dies{n}", every(ctx, 1, f"dies{n}"), target=HttpTarget(catcher.url))
        await until(lambda: len(arrived) == DYING_JOBS, NAMED_WITHIN_S)
    rows = await query(
        store,
        "select j.name, min(h.ended_at) as ended_at from instance_history h join job j on j.id = h.job_id group by 1",
    )
    waited = sorted((arrived[row["name"]] - row["ended_at"]).total_seconds() for row in rows)
    assert len(waited) == DYING_JOBS
    assert waited[int(DYING_JOBS * 0.95) - 1] <= MESSAGE_WITHIN_S


async def test_a_target_that_hangs_is_named_by_an_alert_within_a_minute(ctx, store, world, hook, catcher):
    await a_channel(ctx, hook)
    catcher.answer = lambda _arrival: None
    target = HttpTarget(f"{catcher.url}/hangs", read_timeout=30)
    for n in range(HANGING_JOBS):
        await a_job(ctx, f"hangs{n}", every(ctx, 1, f"hangs{n}"), target=target)
    async with running(store), alerting(world):
        await until(lambda: any(one["kind"] == "breaker_open" for one in hook.got), NAMED_WITHIN_S)
        catcher.answer = lambda _arrival: 200
        catcher.release()
    named = next(one for one in hook.got if one["kind"] == "breaker_open")
    assert urlsplit(catcher.url).netloc in named["reason"]
    assert "calls wait" in named["reason"]


async def _rules_are_read(store):
    """Alerts are about what happens after a cell has first seen a channel."""
    return len(await query(store, "select from alert_position")) == len(store.cells)

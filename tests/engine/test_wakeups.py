"""Seed 004, counted: twenty wake-ups cost one look, its hour costs two dozen, and no lost wake-up costs a fire."""

import asyncio
from datetime import timedelta

import pytest

from horae.domain.targets.targets import HttpTarget
from horae.runtime.clock import boottime
from horae.service.tasks import tasks
from horae.store.nodes.scans import BEGINNING
from horae.store.store import Store
from horae.upkeep.copies import Copier
from tests.engine.running import hurry, running
from tests.steps import a_type, count_statements, move_clock, query, until

WINDOW = 2.0
"""Seconds; less than lies between two looks of an idle node."""
COUNT = """
    select query, sum(calls)::int as calls from pg_stat_statements
    where dbid = (select oid from pg_database where datname = current_database())
      and query !~* 'pg_notify|pg_stat_statements'  -- the wake itself, and this
      and query !~* 'unlisten|reset all|close all|pg_advisory_unlock_all'  -- the pool's, with a connection's return
      and query !~* 'typeinfo_tree|set_config'  -- the driver's, with a new connection
    group by query  -- one text may stand there twice, under two ids
"""
LOOK = "cross join lateral"
TRANSACTION = ("begin", "commit")
"""How statements begin that frame others."""
SHORT = timedelta(seconds=5)
"""A safety period in which a test can wait for a look."""
MAX_LOOKS = 24
STEP_S = 15


class Dropped:
    """Wake-ups that nobody hears."""

    def wake(self, shard, at):
        pass


@pytest.fixture
async def counted(store):
    await count_statements(store)

    async def count(cell):
        return {row["query"]: row["calls"] for row in await query(cell, COUNT)}

    return count


def has_looked(node, cell):
    """Whether a node has all shards of a cell and has read their rows once, so that its next look is the clock's."""
    post = node.runners[cell.name]
    return len(post.territory.shards) == len(node.store.shards_of(cell)) and post.feeder._swept_at != BEGINNING


async def test_twenty_wakes_cost_an_idle_node_one_look(ctx, store, cells, counted):
    """Beyond what an idle node asks by the clock, of which a busy machine lets more fall into the same sleep."""
    cell = store.cells[0]
    async with Store.of(cells) as own, running(own, safety_look=SHORT) as node:

        async def window(doing):
            feeder = node.runners[cell.name].feeder
            looked = feeder._looked_at
            await until(lambda: feeder._looked_at != looked)  # the next look is five seconds away
            before = await counted(cell)
            doing()
            await asyncio.sleep(WINDOW)
            after = await counted(cell)
            return {text: calls - before.get(text, 0) for text, calls in after.items() if calls != before.get(text, 0)}

        def wake():
            now = cell.clock.now()
            for n, shard in enumerate(store.shards_of(cell)[:20]):
                ctx.wakes.wake(shard, now + timedelta(seconds=n))

        idle = await window(lambda: None)
        asked = await counted(cell)
        woken = await window(wake)
    by_clock = {text: 2 * idle.get(text, 0) + 2 for text in asked if LOOK not in text}  # twenty more would be seen
    more = {text: many for text in woken if (many := woken[text] - by_clock.get(text, 0)) > 0}
    extra = {text: many for text, many in more.items() if not text.startswith(TRANSACTION)}
    assert 1 <= sum(extra.values()) <= 2, f"one look: at cursors and at instances, not {extra}"


async def test_tasks_an_hour_ahead_wake_nobody_and_fire_on_time_even_if_every_wake_is_lost(
    ctx, store, cells, counted, catcher
):
    await a_type(ctx, target=HttpTarget(catcher.url))
    await Copier(store).once()
    deaf = ctx._replace(wakes=Dropped())
    due = store.cells[0].clock.now() + timedelta(hours=1)
    async with Store.of(cells) as own, running(own, safety_look=SHORT) as node:
        await until(lambda: all(has_looked(node, cell) for cell in node.store.cells))
        before, began = [await counted(cell) for cell in store.cells], boottime()
        for n in range(20):
            await tasks.schedule(ctx, "ARTICLE_PUBLISH", f"heard-{n}", at=due)
            await tasks.schedule(deaf, "ARTICLE_PUBLISH", f"lost-{n}", at=due)
        looks = [
            calls - old.get(text, 0)
            for cell, old in zip(store.cells, before, strict=True)
            for text, calls in (await counted(cell)).items()
            if LOOK in text and "from instance_live" in text
        ]
        by_clock = 1 + int((boottime() - began) / SHORT.total_seconds())
        assert sum(looks) <= 4 * by_clock, "those by the clock at most, ahead and behind, in each of two cells"
        left = (due - store.cells[0].clock.now()).total_seconds()
        await move_clock(store, seconds=left - 6)  # the node reads the clock with its heartbeat, and looks every 5 s
        for n in range(20):  # due at once, and nobody says so
            await tasks.schedule(deaf, "ARTICLE_PUBLISH", f"now-{n}")
        await until(lambda: len(catcher.arrivals) == 60)
    late = {arrival.key: arrival.late_ms for arrival in catcher.arrivals}
    assert min(late.values()) >= 0, "nothing is early"
    assert max(ms for key, ms in late.items() if not key.startswith("now")) < 3000, "known before they were due"
    assert max(late.values()) < 20_000, "found by a look, and not by the sweep of every 30 s"
    assert set(catcher.effects.values()) == {1}


async def test_in_the_hour_of_twenty_tasks_a_node_looks_at_most_24_times_for_due_work(
    ctx, store, cells, counted, catcher
):
    """Every statement that scans for what is due or asks when that will be, in steps of 15 s through the whole hour."""
    await a_type(ctx, target=HttpTarget(catcher.url))
    await Copier(store).once()
    due = store.cells[0].clock.now() + timedelta(hours=1)

    async def step(seconds):
        await hurry(store, seconds=seconds)
        await move_clock(own, seconds=0)
        rounds = {name: loop.last_success_at for name, loop in node._looks.items()}
        await hurry(own, node, seconds=0)
        await until(lambda: all(loop.last_success_at > rounds[name] for name, loop in node._looks.items()))

    async with Store.of(cells) as own, running(own) as node:
        before = [await counted(cell) for cell in store.cells]
        for n in range(20):
            await tasks.schedule(ctx, "ARTICLE_PUBLISH", f"article-{n}", at=due)
        while (left := (due - store.cells[0].clock.now()).total_seconds()) > STEP_S:
            await step(STEP_S)
        await step(left)
        await until(lambda: len(catcher.arrivals) == 20)
        after = [await counted(cell) for cell in store.cells]
    for old, new in zip(before, after, strict=True):
        looks = {
            text: calls - old.get(text, 0) for text, calls in new.items() if LOOK in text and calls != old.get(text)
        }
        assert 10 <= sum(looks.values()) <= MAX_LOOKS, looks
    assert {arrival.key: arrival.late_ms >= 0 for arrival in catcher.arrivals} == {
        f"article-{n}": True for n in range(20)
    }
    assert set(catcher.effects.values()) == {1}


async def test_a_lost_wake_is_found_by_what_postgresql_counted_long_before_the_safety_look(ctx, store, cells, catcher):
    await a_type(ctx, target=HttpTarget(catcher.url))
    await Copier(store).once()
    deaf = ctx._replace(wakes=Dropped())
    async with Store.of(cells) as own, running(own):
        await tasks.schedule(deaf, "ARTICLE_PUBLISH", "lost")
        await until(lambda: len(catcher.arrivals) == 1, 60)

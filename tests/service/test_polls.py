"""Workers that wait: woken by what comes, in the order they came, and without a herd of looks."""

import asyncio
from itertools import count

import pytest

from horae.domain.errors import Invalid
from horae.domain.targets.targets import QueueTarget
from horae.runtime.clock import boottime
from horae.service.instances import instances
from horae.service.tasks import tasks
from horae.service.workers import claims, polls, queue_watch
from horae.service.workers.polls import Polls
from horae.store.workers import workers
from tests.steps import a_job, a_type, until


@pytest.fixture
async def waiting(store):
    polls = Polls(store)
    for listener in polls.listeners:
        await listener.once()
    yield polls
    await polls.close()


@pytest.fixture
def looks(monkeypatch):
    """How often anyone looked."""
    counted = []

    async def counting(*args, **facts):
        counted.append(args[2])
        return await claims.claim(*args, **facts)

    monkeypatch.setattr(polls, "claim", counting)
    return counted


async def test_what_is_there_is_handed_out_at_once_and_nothing_means_nothing(ctx, store, waiting):
    await a_job(ctx, "a", target=QueueTarget("q"))
    assert await waiting.poll(ctx, "q", "w") == []
    assert await waiting.poll(ctx, "q", "w", wait=0.1) == []
    await instances.trigger(ctx, "a", "k", even_if_down=True)
    assert len(await waiting.poll(ctx, "q", "w", wait=30)) == 1
    with pytest.raises(Invalid):
        await waiting.poll(ctx, "q", "w", wait=61)


async def test_a_waiting_worker_gets_what_comes_and_each_task_goes_to_one(ctx, store, waiting, looks):
    await a_type(ctx, "T", target=QueueTarget("q"))
    waiters = [asyncio.create_task(waiting.poll(ctx, "q", f"w{n}", 1, wait=60)) for n in range(20)]
    await until(lambda: [watch.waiting for watch in waiting.watches.values()] == [20])
    for n in range(20):
        await tasks.schedule(ctx, "T", f"k{n}")
    got = await asyncio.gather(*waiters)
    keys = [one.key for taken in got for one in taken]
    assert sorted(keys) == sorted(f"k{n}" for n in range(20))
    assert waiting.watches == {}


async def test_of_many_that_wait_only_one_looks(ctx, store, waiting, looks):
    await a_type(ctx, "T", target=QueueTarget("q"))
    waiters = [asyncio.create_task(waiting.poll(ctx, "q", f"w{n}", wait=3)) for n in range(50)]
    assert not any(await asyncio.gather(*waiters))
    firsts = 50  # before anyone stands in line, each may look once
    assert len(looks) <= firsts + 3 / 0.5 + 10


async def test_whose_first_look_took_all_the_time_does_not_look_again(ctx, waiting, looks, monkeypatch):
    monkeypatch.setattr(polls, "boottime", count().__next__)
    assert await waiting.poll(ctx, "q", "w", wait=1) == []
    assert looks == ["w"]


async def test_nothing_is_claimed_for_someone_who_has_gone(ctx, store, waiting):
    await a_job(ctx, "a", target=QueueTarget("q"))
    here = True

    async def there():
        return here

    gone = asyncio.create_task(waiting.poll(ctx, "q", "gone", wait=30, there=there))
    await until(lambda: bool(waiting.watches))
    here = False
    await instances.trigger(ctx, "a", "k", even_if_down=True)
    assert await gone == []
    [claimed] = await waiting.poll(ctx, "q", "w", wait=10)
    assert claimed.attempt == 1


async def test_closing_sends_everyone_home(ctx, store):
    waiting = Polls(store)
    waiters = [asyncio.create_task(waiting.poll(ctx, "q", f"w{n}", wait=60)) for n in range(3)]
    await until(lambda: bool(waiting.watches))
    await waiting.close()
    assert await asyncio.wait_for(asyncio.gather(*waiters), 10) == [[], [], []]


async def test_names_that_nobody_uses_cost_one_look_for_all(ctx, store, waiting, looks, monkeypatch):
    asked = []

    ready = workers.ready

    async def counting(tx, tenant_id, queues):
        asked.append(len(queues))
        return await ready(tx, tenant_id, queues)

    monkeypatch.setattr(queue_watch.workers, "ready", counting)
    began = boottime()
    names = [f"q{n}" for n in range(300)]
    assert not any(await asyncio.gather(*(waiting.poll(ctx, name, "w", wait=2) for name in names)))
    assert len(looks) <= 2 * len(names)  # before it stands in line, and when it is the first there
    assert max(asked) <= queue_watch.MAX_QUEUES_PER_LOOK
    assert len(asked) <= len(store.cells) * ((boottime() - began) / queue_watch.MIN_QUERY_GAP_S + 1)


async def test_looks_go_round_until_every_queue_was_asked_for(ctx, store, waiting, monkeypatch):
    monkeypatch.setattr(queue_watch, "MAX_QUEUES_PER_LOOK", 2)
    await a_type(ctx, "T", target=QueueTarget("q4"))
    watch = queue_watch.QueueWatch(ctx)
    lines = [watch.join(ctx, f"q{n}") for n in range(5)]
    await tasks.schedule(ctx, "T", "k")
    assert [await watch.once() for _ in range(3)] == [0, 0, 1]
    assert [await line.waker.wait(0) for line in lines] == [False] * 4 + [True]

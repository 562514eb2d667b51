"""Drained workers: no poll gives them work, what they hold goes on, and the mark costs a poll no statement."""

import asyncio
from collections import Counter
from datetime import timedelta

import asyncpg
import pytest

from horae.domain.errors import NotFound
from horae.domain.instances.outcomes import Success
from horae.domain.targets.targets import QueueTarget
from horae.domain.workers.workers import Finish, Heartbeat, WorkerDrained
from horae.service.tasks import tasks
from horae.service.workers import drains, queues, workers
from horae.service.workers.polls import Polls
from horae.upkeep.copies import Copier
from horae.upkeep.queue_workers import WorkerForgetter
from tests.steps import a_type, move_clock, query, until

WORKER = "host-1/4711"


@pytest.fixture
async def polls(ctx, store):
    await a_type(ctx, "MAIL", target=QueueTarget("mail", claim_seconds=30))
    await Copier(store).once()
    made = Polls(store)
    for listener in made.listeners:
        await listener.once()
    yield made
    await made.close()


async def drained(ctx, polls, worker_id=WORKER):
    """A worker that is listed, and then drained."""
    await polls.poll(ctx, "mail", worker_id)
    await polls.recorder.once()
    return await drains.drain(ctx, worker_id, "the host is replaced")


async def only_worker(ctx):
    [found] = await queues.list_workers(ctx, None, None, 10)
    return found


async def test_a_drained_worker_gets_nothing_from_any_poll_until_it_is_resumed(ctx, store, polls):
    answer = await drained(ctx, polls)
    assert (answer.worker_id, answer.claimed, [one.worker.queue for one in answer.queues]) == (WORKER, 0, ["mail"])
    await tasks.schedule(ctx, "MAIL", "k")
    other_process = Polls(store)
    for asked in (polls, other_process):
        for wait in (0, 0.05):
            with pytest.raises(WorkerDrained):
                await asked.poll(ctx, "mail", WORKER, wait=wait)
    with pytest.raises(WorkerDrained):
        await polls.poll(ctx, "another-queue", WORKER)
    assert [row["state"] for row in await query(store, "select state from instance_live")] == ["INIT"]
    await drains.resume(ctx, WORKER)
    assert [one.key for one in await polls.poll(ctx, "mail", WORKER)] == ["k"]
    await other_process.close()


async def test_what_a_drained_worker_holds_goes_on_and_the_list_says_until_when(ctx, store, polls):
    await tasks.schedule(ctx, "MAIL", "k")
    [held] = await polls.poll(ctx, "mail", WORKER)
    await polls.recorder.once()
    assert (await drains.drain(ctx, WORKER, "the host is replaced")).claimed == 1
    listed = await only_worker(ctx)
    assert listed.status == "DRAINING"
    assert (listed.worker.drain.drained_by, listed.worker.drain.reason) == (ctx.actor, "the host is replaced")
    [beat] = await workers.heartbeat(ctx, [Heartbeat(held.instance_id, held.attempt, held.token, 60)])
    assert beat.yours
    [done] = await workers.finish(ctx, [Finish(held.instance_id, held.attempt, held.token, Success())])
    assert done.verdict == "done"
    assert (await only_worker(ctx)).status == "DRAINED"
    await drains.resume(ctx, WORKER)
    assert (await only_worker(ctx)).status == "ACTIVE"


async def test_a_worker_that_waits_in_line_is_told_and_its_work_goes_to_the_next_one(ctx, polls):
    await drained(ctx, polls)
    await drains.resume(ctx, WORKER)
    waiting = asyncio.create_task(polls.poll(ctx, "mail", WORKER, wait=60))
    await until(lambda: bool(polls.watches))
    await drains.drain(ctx, WORKER, "the host is replaced")
    await tasks.schedule(ctx, "MAIL", "k")
    [taken] = await polls.poll(ctx, "mail", "other", wait=30)
    assert taken.key == "k"
    assert not waiting.done(), "a client that does not know the word would poll again at once"
    await polls.close()
    with pytest.raises(WorkerDrained):
        await asyncio.wait_for(waiting, 10)


async def test_a_queue_with_drained_workers_alone_is_one_that_nobody_takes_from(ctx, store, polls):
    await drained(ctx, polls)
    await tasks.schedule(ctx, "MAIL", "k")
    [queue] = await queues.describe(ctx, ["mail"])
    assert (queue.polling, queue.is_unattended) == (0, True)
    assert [one.name for one in await queues.find_unattended(store, timedelta(0))] == ["mail"]
    await drains.resume(ctx, WORKER)
    [queue] = await queues.describe(ctx, ["mail"])
    assert (queue.polling, queue.is_unattended) == (1, False)


async def test_each_change_has_one_audit_row_and_what_changes_nothing_has_none(ctx, store, polls):
    await drained(ctx, polls)
    for _ in range(2):
        await drains.resume(ctx, WORKER)
    rows = await query(store, "select action, resource, detail from audit_log where action like 'worker.%' order by at")
    assert [(row["action"], row["resource"]) for row in rows] == [
        ("worker.drained", WORKER),
        ("worker.resumed", WORKER),
    ]
    assert rows[0]["detail"] == {"reason": "the host is replaced"}
    for verb in (drains.drain(ctx, "nobody", "why"), drains.resume(ctx, "nobody")):
        with pytest.raises(NotFound):
            await verb


async def test_the_mark_ends_an_hour_after_the_worker_has_left_and_not_before(ctx, store, polls):
    await drained(ctx, polls)
    await move_clock(store, minutes=59)
    await polls.poll(ctx, "mail", "other")
    with pytest.raises(WorkerDrained):
        await polls.poll(ctx, "mail", WORKER)
    await polls.recorder.once()
    await move_clock(store, minutes=59)
    await WorkerForgetter(store).once()
    for cell in store.cells:
        assert len(await query(cell, "select from worker_drain")) == 1
    await move_clock(store, minutes=2)
    await WorkerForgetter(store).once()
    for cell in store.cells:
        assert await query(cell, "select from worker_drain") == []
    assert await polls.poll(ctx, "mail", WORKER) == []


async def test_the_mark_costs_a_poll_no_statement(ctx, store, polls, monkeypatch):
    sent = Counter()
    for way in ("fetch", "fetchrow", "fetchval", "execute"):
        whole = getattr(asyncpg.Connection, way)

        def counting(self, asked, *args, whole=whole, **facts):
            sent["all"] += 1
            sent["drain"] += "worker_drain" in asked
            return whole(self, asked, *args, **facts)

        monkeypatch.setattr(asyncpg.Connection, way, counting)
    await polls.poll(ctx, "mail", WORKER)  # what a process reads once is read
    sent.clear()
    await polls.poll(ctx, "mail", WORKER)
    assert sent == {"all": len(store.cells), "drain": len(store.cells)}, "the one look in each cell reads the mark"
    await drained(ctx, polls)
    sent.clear()
    with pytest.raises(WorkerDrained):
        await polls.poll(ctx, "mail", WORKER)
    assert sent == {"all": len(store.cells), "drain": len(store.cells)}

"""The skeleton, walked over real HTTP: fire, deliver, settle, retry, bury, rescue."""

import asyncio
from datetime import datetime, timedelta

import pytest

from horae.domain.schedules.triggers import DelayTrigger, cron
from horae.domain.targets.targets import HttpTarget
from horae.service.instances import instances, searches
from horae.service.jobs import jobs
from horae.service.tasks import tasks
from horae.store.databases.clock import vouch
from horae.upkeep.copies import Copier
from tests.nodes import node_in
from tests.receiver import receiving
from tests.steps import a_job, a_type, amid, claim, claim_everywhere, every, move_clock, query

TTL = timedelta(seconds=8)


@pytest.fixture
def receiver():
    with receiving() as receiver:
        yield receiver


@pytest.fixture
async def node(store):
    node = node_in(store, "n", TTL)
    yield node
    await node.leave()


async def test_a_cron_job_and_a_task_reach_their_receiver_with_key_time_and_attempt(ctx, store, node, receiver):
    await amid(store, 300)
    await a_job(ctx, "coupon_job", cron("0 */5 * * * ?"), target=HttpTarget(f"{receiver.url}/coupon"), payload={"n": 1})
    await a_type(ctx, target=HttpTarget(f"{receiver.url}/publish"))
    await Copier(store).once()
    at = store.cells[0].clock.now() + timedelta(minutes=1)
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "42", at=at, payload={"title": "x"})
    assert await node.drain() == 0
    await move_clock(store, minutes=5)
    await node.drain()
    by_job = {call["job"]: call for call in receiver.calls}
    assert set(by_job) == {"coupon_job", "ARTICLE_PUBLISH"}
    assert by_job["coupon_job"]["payload"] == {"n": 1}
    assert (by_job["ARTICLE_PUBLISH"]["key"], by_job["ARTICLE_PUBLISH"]["payload"]) == ("42", {"title": "x"})
    assert {call["attempt"] for call in receiver.calls} == {1}
    assert {head["idempotency-key"] for head in receiver.headers} == {c["idempotency_key"] for c in receiver.calls}
    for name in by_job:
        [listed] = await instances.of_job(ctx, name)
        past = await searches.find(ctx, listed.id)
        assert (past.state, past.attempt) == ("SUCCESS", 1)
        [note] = past.attempts
        assert past.due_at <= datetime.fromisoformat(note.pop("started_at")) <= past.changed_at
        path = "coupon" if name == "coupon_job" else "publish"
        request = f"POST {receiver.url.removeprefix('http://')}/{path}"
        said = {"attempt": 1, "status": 200, "duration_ms": past.duration_ms, "answer": "effect"}
        assert note == {**said, "node": "n", "request": request}
        assert past.trigger_delay_ms is not None


async def test_six_503s_make_a_dead_letter_and_each_attempt_is_kept(ctx, store, node, receiver):
    receiver.answers["/x"] = [503] * 6
    await a_job(ctx, "a", DelayTrigger(0), target=HttpTarget(f"{receiver.url}/x"))
    for _ in range(8):
        await node.drain()
        await move_clock(store, minutes=5)
    assert [call["attempt"] for call in receiver.calls] == [1, 2, 3, 4, 5, 6]
    assert len({call["idempotency_key"] for call in receiver.calls}) == 1
    [listed] = await instances.of_job(ctx, "a")
    past = await searches.find(ctx, listed.id)
    assert (past.state, past.error_code, past.retry_count) == ("DEAD", "HTTP_5XX", 6)
    assert [attempt["status"] for attempt in past.attempts] == [503] * 6
    assert len(await query(store, "select * from dead_letter where tag = 'transient_error'")) == 1
    assert [row["status"] for row in await query(store, "select status from job")] == ["COMPLETED"]


async def test_declined_404_redirect_and_nobody_there(ctx, store, node, receiver):
    receiver.answers |= {"/declined": [299], "/missing": [404], "/moved": [302]}
    for path in ("declined", "missing", "moved"):
        await a_job(ctx, path, DelayTrigger(0), target=HttpTarget(f"{receiver.url}/{path}"))
    await a_job(ctx, "nobody", DelayTrigger(0), target=HttpTarget("http://127.0.0.1:9/"))
    await node.drain()
    states = {}
    for name in ("declined", "missing", "moved", "nobody"):
        [past] = await instances.of_job(ctx, name)
        states[name] = (past.state, past.reason, past.error_code)
    assert states == {
        "declined": ("SKIPPED", "DECLINED", None),
        "missing": ("DEAD", None, "HTTP_4XX"),
        "moved": ("DEAD", None, "REDIRECT"),
        "nobody": ("FAIL", None, None),
    }


async def test_a_task_of_a_removed_type_leaves_a_row_that_says_so(ctx, store, node, receiver):
    await a_type(ctx, target=HttpTarget(receiver.url))
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "42")
    await jobs.remove(ctx, "ARTICLE_PUBLISH")
    await Copier(store).once()
    await node.drain()
    rows = await query(store, "select state, reason from instance_history")
    assert [tuple(row) for row in rows] in ([("SKIPPED", "REMOVED")], [("CANCELLED", None)])
    assert receiver.calls == []


async def test_a_task_whose_types_copy_has_not_arrived_waits_uncounted(ctx, store, node, receiver):
    job = await a_type(ctx, target=HttpTarget(receiver.url))
    away = next(
        str(n) for n in range(99) if store.cell(ctx.tenant.shard(f"{job.name}/{n}")) is not store.cell(job.shard)
    )
    await tasks.schedule(ctx, job.name, away)
    await node.drain()
    [row] = await query(store, "select state, attempt, retry_count from instance_live")
    assert tuple(row) == ("INIT", 0, 0)
    await Copier(store).once()
    await node.drain()
    assert len(receiver.calls) == 1


async def test_what_a_vanished_node_ran_is_due_again_at_its_takeover(ctx, store, node, receiver):
    await a_type(ctx, target=HttpTarget(receiver.url))
    await Copier(store).once()
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "42")
    [lost] = await claim_everywhere(store)  # by an owner that has no heartbeat
    await node.drain()
    [call] = receiver.calls
    assert call["attempt"] == 1, "what our node lost costs no attempt"
    [past] = await instances.of_job(ctx, "ARTICLE_PUBLISH")
    assert (past.id, past.state) == (lost.id, "SUCCESS")


async def test_a_running_attempt_within_its_deadline_is_left_alone(ctx, store, node):
    await a_type(ctx)
    await node.drain()
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "42")
    [ran] = [ran for cell in store.cells for ran in await claim(cell, store, owner=node.identity.incarnation)]
    await move_clock(store, seconds=5)
    await node.drain()
    [row] = await query(store, "select token from instance_live")
    assert row["token"] == ran.token
    await move_clock(store, seconds=10)
    for post in node.runners.values():
        await post.rescuer.once()
    [row] = await query(store, "select state, token from instance_live")
    assert tuple(row) == ("INIT", None)


async def test_a_paused_type_is_not_claimed_and_goes_on_after_resume(ctx, store, node, receiver):
    await a_type(ctx, target=HttpTarget(receiver.url))
    await Copier(store).once()
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "42")
    await jobs.pause(ctx, "ARTICLE_PUBLISH")
    await Copier(store).once()
    assert await node.drain() == 0
    await jobs.resume(ctx, "ARTICLE_PUBLISH")
    await Copier(store).once()
    assert await node.drain() == 1
    assert len(receiver.calls) == 1


async def test_a_clock_that_jumped_stops_dispatch_in_its_cell(ctx, store, node):
    await a_job(ctx, "a", every(ctx, 1, "a"))
    await move_clock(store, seconds=5)
    for cell in store.cells:
        await cell.sync_clock()
        cell.clock._reading = cell.clock._reading._replace(base=cell.clock._reading.base + timedelta(hours=1))
        await cell.sync_clock()
        assert not cell.clock.trusted
    assert await node.drain() == 0
    for cell in store.cells:
        async with cell.statement() as tx:
            await vouch(tx)
        await cell.sync_clock()
    assert await node.drain() > 0


async def test_two_nodes_share_the_shards_and_fire_each_time_once(ctx, store, receiver):
    nodes = [node_in(store, "same-host", TTL) for _ in range(2)]
    for n in range(20):
        await a_job(ctx, f"j{n}", every(ctx, 3600, f"j{n}"), target=HttpTarget(receiver.url))
    for _ in range(3):
        await move_clock(store, hours=1)
        await asyncio.gather(*(node.drain() for node in nodes))
    assert max(receiver.effects.values()) == 1
    assert len(receiver.effects) == 60
    for node in nodes:
        await node.leave()


async def test_a_target_that_takes_several_gets_several_in_one_request(ctx, store, node, receiver):
    await a_type(ctx, target=HttpTarget(receiver.url, batch=10))
    await Copier(store).once()
    for n in range(25):
        await tasks.schedule(ctx, "ARTICLE_PUBLISH", str(n))
    await node.drain()
    sent = [call for request in receiver.calls for call in request["batch"]]
    assert sorted(call["key"] for call in sent) == sorted(map(str, range(25)))
    assert len(receiver.calls) <= 6
    assert all(call["completion_token"] for call in sent)
    assert {past.state for past in await instances.of_job(ctx, "ARTICLE_PUBLISH")} == {"SUCCESS"}

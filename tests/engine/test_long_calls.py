"""Calls that last for minutes: they have slots of their own, outlive their node's shards, and are rescued late."""

import asyncio
import socket
from datetime import timedelta

import pytest

from horae.domain.errors import Invalid
from horae.domain.limits.hold_reasons import HoldReason
from horae.domain.schedules.triggers import DelayTrigger
from horae.domain.targets.auth import OAuthAuth
from horae.domain.targets.targets import MAX_ORDINARY_SLOT_MS, HttpTarget, slot_ms
from horae.service.instances import instances
from tests.engine.fleet import kill
from tests.engine.running import ended, hurry, running
from tests.steps import a_job, every, until

MINUTES_S = 600.0
TTL = timedelta(seconds=8)


def long(catcher):
    return HttpTarget(f"{catcher.url}/long", read_timeout=MINUTES_S)


@pytest.fixture
def hangs(catcher):
    """The receiver of long calls answers when the test says so."""
    catcher.answer = lambda arrival: None if arrival.path == "/long" else 200
    return catcher


async def test_long_calls_take_no_slot_of_others_and_wait_for_their_own(ctx, store, hangs):
    for n in range(4):
        await a_job(ctx, f"long-{n}", DelayTrigger(0), target=long(hangs))
    await a_job(ctx, "short", every(ctx, 1, "short"), target=HttpTarget(f"{hangs.url}/short"))
    async with running(store, slots=2, long_slots=3) as node:
        await until(lambda: len(hangs.hanging) == 3)
        before = len(hangs.of("/short"))
        await until(lambda: len(hangs.of("/short")) >= before + 5)
        assert len(hangs.hanging) == 3, "as many as there are slots for long calls"
        assert (node.admission.long_slots.free, node.admission.held[HoldReason.NO_SLOT] > 0) == (0, True)
        arrival, reply = hangs.hanging.pop(0)
        reply(arrival, 200)
        await until(lambda: len(hangs.of("/long")) == 4)
        hangs.release()
        await until(lambda: node.admission.long_slots.free == 3)
    assert set(hangs.effects.values()) == {1}


async def test_a_silent_connection_of_a_long_call_is_kept_alive_by_tcp(ctx, store, hangs):
    await a_job(ctx, "long", DelayTrigger(0), target=long(hangs))
    async with running(store) as node:
        await until(lambda: len(hangs.hanging) == 1)
        [connection] = node.sender.client._connections
        its = connection._transport.get_extra_info("socket")
        assert its.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert its.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30
        hangs.release()


async def test_a_node_that_has_to_end_gives_up_its_shards_and_stays_until_its_long_calls_end(ctx, store, hangs):
    for n in range(12):  # more than an ordinary target gets before its first answer
        await a_job(ctx, f"long-{n}", DelayTrigger(0), target=long(hangs))
    await a_job(ctx, "short", every(ctx, 1, "short"), target=HttpTarget(f"{hangs.url}/short"))
    async with running(store, ttl=TTL) as first:
        await until(lambda: len(hangs.hanging) == 12)
        stopping = asyncio.create_task(first.stop(0.01))
        async with running(store, ttl=TTL) as second:
            before = len(hangs.of("/short"))
            await until(lambda: len(hangs.of("/short")) >= before + 5)
            for post in second.runners.values():
                post.rescuer.request_full_scan()
                await post.rescuer.once()
            assert not stopping.done(), "its grace is over, and its long calls are not"
            assert len(hangs.of("/long")) == 12
            hangs.release()
            await stopping
            await until(lambda: ended(store, 12))
            assert sum(post.settler.late for post in first.runners.values()) == 0
    assert {arrival.attempt for arrival in hangs.of("/long")} == {1}
    assert set(hangs.effects.values()) == {1}


async def test_a_long_call_of_a_killed_node_is_rescued_once_and_not_before_its_deadline(ctx, store, hangs):
    hangs.answer = lambda arrival: None if arrival.job == "long" or len(hangs.of("/short")) == 1 else 200
    await a_job(ctx, "long", DelayTrigger(0), target=long(hangs))
    await a_job(ctx, "short", DelayTrigger(0), target=HttpTarget(f"{hangs.url}/short", read_timeout=20))
    async with running(store) as first:
        await until(lambda: len(hangs.hanging) == 2)
        await kill(first)
    hangs.hanging.clear()
    async with running(store) as second:
        await until(lambda: ended(store, 1))
        assert len(hangs.of("/short")) == 2, "an ordinary call is due again at once"
        await hurry(store, second, seconds=MINUTES_S - 60)
        for post in second.runners.values():
            post.rescuer.request_full_scan()
            await post.rescuer.once()
        assert len(hangs.of("/long")) == 1, "the target may still work on it"
        await hurry(store, second, seconds=120)
        await until(lambda: len(hangs.hanging) == 1)
        hangs.release()
        await until(lambda: ended(store, 2))
    [past] = await instances.of_job(ctx, "long")
    assert (past.state, past.retry_count, len(hangs.of("/long"))) == ("SUCCESS", 0, 2)


@pytest.mark.parametrize("seconds", [30.001, 31, 120, 1800])
def test_every_long_call_has_a_longer_slot_than_any_ordinary_one(seconds):
    token = OAuthAuth("http://127.0.0.1/token", "id", "secret")
    ordinary = HttpTarget("http://127.0.0.1/", connect_timeout=30, read_timeout=30, auth=token)
    assert slot_ms(ordinary) == MAX_ORDINARY_SLOT_MS
    for auth in (None, token):
        made = HttpTarget("http://127.0.0.1/", connect_timeout=1, read_timeout=seconds, auth=auth)
        assert slot_ms(made) > MAX_ORDINARY_SLOT_MS
        assert slot_ms(made) >= (1 + seconds) * 1000


async def test_a_call_lasts_half_an_hour_at_most_and_a_batch_is_never_long():
    with pytest.raises(Invalid):
        HttpTarget("http://127.0.0.1/", read_timeout=1801)
    with pytest.raises(Invalid):
        HttpTarget("http://127.0.0.1/", read_timeout=60, batch=2)

"""Calls of a provider of keys: shared, bounded, and waited for once while it is silent."""

import asyncio

import pytest

from horae.domain.errors import KeysUnavailable
from horae.security import key_calls
from horae.security.key_calls import CALLS_AT_ONCE, CALLS_OF_TENANT, KeyCalls


async def test_calls_of_a_provider_are_bounded_and_shared(monkeypatch):
    monkeypatch.setattr(key_calls, "PROMPT_PATIENCE_S", 0.02)
    calls, answer, running, most = KeyCalls(), asyncio.Event(), 0, 0
    wait, patience = asyncio.wait, []

    def noted(*args, timeout):
        patience.append(timeout)
        return wait(*args, timeout=timeout)

    monkeypatch.setattr(asyncio, "wait", noted)

    async def call():
        nonlocal running, most
        running += 1
        most = max(most, running)
        await answer.wait()
        running -= 1

    of_one = [calls.start("one", ("one", n), call) for n in range(CALLS_OF_TENANT + 2)]
    assert calls.start("one", ("one", 0), call) is of_one[0]
    await calls.wait(of_one, prompt=True)
    assert running == CALLS_OF_TENANT
    others = [calls.start(n, n, call) for n in range(CALLS_AT_ONCE)]
    for task in others:
        await calls.wait([task], prompt=True)
    assert patience == [0.02, *[0.0] * len(others)], "it is silent: nobody waits for it again"
    assert running == most == CALLS_AT_ONCE
    answer.set()
    await calls.wait([*of_one, *others], prompt=False)
    assert not running
    assert not len(calls)


async def test_more_calls_than_can_wait_are_refused(monkeypatch):
    monkeypatch.setattr(key_calls, "MAX_CALLS", 2)
    calls, answer = KeyCalls(), asyncio.Event()
    begun = [calls.start("one", n, answer.wait) for n in range(2)]
    with pytest.raises(KeysUnavailable):
        calls.start("one", 2, answer.wait)
    answer.set()
    await calls.wait(begun, prompt=False)

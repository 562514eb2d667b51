"""Who is told to end does, even where a library swallowed it; who was not told goes on."""

import asyncio
from contextlib import suppress

import pytest

from horae.runtime import cancellation
from horae.runtime.cancellation import cancel_and_wait, cancellation_requested
from horae.runtime.loop import Loop


async def deaf(times):
    """Hears only the last of so many cancellations."""
    for _ in range(times - 1):
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
    await asyncio.sleep(60)


async def test_whoever_does_not_hear_is_told_again(monkeypatch):
    monkeypatch.setattr(cancellation, "RECANCEL_INTERVAL_S", 0.01)
    tasks = [asyncio.create_task(deaf(times)) for times in (1, 2, 5)]
    await asyncio.sleep(0)
    async with asyncio.timeout(30):
        await cancel_and_wait(*tasks)
    assert all(task.cancelled() for task in tasks)


async def test_whoever_is_over_already_is_not_waited_for():
    over = asyncio.create_task(asyncio.sleep(0, "done"))
    await over
    await cancel_and_wait(over)
    await cancel_and_wait()
    assert over.result() == "done"


class Library:
    """A duty whose library answers in the same turn in which it is told, or cancels it for reasons of its own."""

    def __init__(self, reason):
        self.reason, self.rounds, self.waiting = reason, 0, asyncio.Event()

    async def once(self):
        self.rounds += 1
        if self.reason == "lost connection":
            raise asyncio.CancelledError
        self.waiting.set()
        try:
            await asyncio.Future()
        except asyncio.CancelledError:
            return 1


async def test_a_loop_ends_though_the_cancellation_was_swallowed():
    duty = Library("answer")
    running = asyncio.create_task(Loop("duty", duty, 0.001).run())
    await duty.waiting.wait()
    running.cancel()
    await asyncio.wait_for(running, 30)
    assert duty.rounds == 1


async def test_a_cancellation_that_nobody_asked_for_does_not_end_a_loop():
    duty = Library("lost connection")
    running = asyncio.create_task(Loop("duty", duty, 0.001).run())
    while duty.rounds < 3:
        assert not running.done()
        await asyncio.sleep(0)
    await cancel_and_wait(running)


async def test_a_time_limit_within_does_not_count_as_told():
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await asyncio.sleep(60)
    assert not cancellation_requested()

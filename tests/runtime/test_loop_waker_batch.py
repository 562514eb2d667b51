import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.runtime.batch import halve
from horae.runtime.loop import Loop
from horae.runtime.waker import Waker


async def test_twenty_wakes_between_two_waits_cost_one_look():
    waker = Waker()
    for _ in range(20):
        waker.wake()
    await asyncio.wait_for(waker.wait(60), 30)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(waker.wait(60), 0.05)


async def test_a_wake_during_a_look_is_kept():
    waker = Waker()
    waker.wake()
    await waker.wait(60)
    waker.wake()
    await asyncio.wait_for(waker.wait(60), 30)


class Counting:
    def __init__(self, *answers):
        self.answers, self.rounds = list(answers), 0
        self.called = asyncio.Event()

    async def once(self):
        self.rounds += 1
        self.called.set()
        answer = self.answers.pop(0) if self.answers else 0
        if isinstance(answer, Exception):
            raise answer
        return answer


class Greedy:
    """Says that there is more to do, and never waits for anything."""

    async def once(self):
        return 1


async def test_a_duty_that_never_waits_lets_others_run():
    loop = Loop("greedy", Greedy(), 60)
    running = asyncio.create_task(loop.run())
    for _ in range(3):
        await asyncio.sleep(0)
    loop.stop()
    await asyncio.wait_for(running, 30)


async def test_a_loop_goes_on_at_once_while_there_is_work_and_ends_when_told():
    duty = Counting(5, 3)
    loop = Loop("duty", duty, 60)
    running = asyncio.create_task(loop.run())
    while duty.rounds < 3:
        await asyncio.sleep(0)
    loop.stop()
    await asyncio.wait_for(running, 30)
    assert duty.rounds == 3


async def test_a_round_that_fails_does_not_end_the_loop():
    duty = Counting(RuntimeError("oh"), 1)
    loop = Loop("duty", duty, 0.001)
    running = asyncio.create_task(loop.run())
    while duty.rounds < 3:
        await asyncio.sleep(0)
    loop.stop()
    await asyncio.wait_for(running, 30)


async def test_a_wake_ends_the_pause():
    duty = Counting()
    loop = Loop("duty", duty, 60)
    running = asyncio.create_task(loop.run())
    await duty.called.wait()
    duty.called.clear()
    loop.waker.wake()
    await asyncio.wait_for(duty.called.wait(), 30)
    loop.stop()
    await asyncio.wait_for(running, 30)


@given(st.integers(0, 200), st.sets(st.integers(0, 199)))
def test_a_bad_row_stands_alone_and_the_rest_proceed_in_order(size, bad):
    rows = list(range(size))
    runs = []

    async def run(batch):
        runs.append(len(batch))
        if set(batch) & bad:
            raise ValueError(f"bad: {min(set(batch) & bad)}")
        return list(batch)

    done = asyncio.run(halve(rows, run, (ValueError,)))
    assert done.results == [row for row in rows if row not in bad]
    assert [(refused.row, refused.reason) for refused in done.refused] == [
        (row, f"bad: {row}") for row in rows if row in bad
    ]


async def test_a_failure_that_no_row_caused_is_not_hidden():
    async def run(batch):
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        await halve([1, 2], run, (ValueError,))

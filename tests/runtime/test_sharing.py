"""Tasks of many owners: a slow one keeps no other waiting, and nobody has more than a share of the places."""

import asyncio

import pytest

from horae.runtime.setbacks import LONGEST_PAUSE_S, Setbacks
from horae.runtime.sharing import SharedTasks


async def test_an_owner_whose_tasks_hang_keeps_no_other_waiting():
    tasks, hanging, ran = SharedTasks(4, 2), asyncio.Event(), []

    async def hang():
        ran.append("hanging")
        await hanging.wait()
        return 1

    async def work():
        ran.append("working")
        return 10

    for n in range(20):
        tasks.start("slow", n, hang)
    for n in range(3):
        tasks.start("quick", f"q{n}", work)
    assert await tasks.settle(0.2) == 30
    assert ran.count("hanging") == 2
    tasks.start("slow", 1, work)
    assert len(tasks) == 20  # what runs or waits is not begun again
    hanging.set()
    assert await tasks.settle(5) == 20
    assert len(tasks._places) == 0


async def test_what_fails_is_raised_after_the_others_were_counted_and_closing_ends_the_rest():
    tasks = SharedTasks(4, 2)

    async def fail():
        raise RuntimeError("no")

    async def work():
        return 1

    tasks.start("a", 1, fail)
    tasks.start("b", 2, work)
    with pytest.raises(RuntimeError):
        await tasks.settle(5)
    assert await tasks.settle(0) == 1
    tasks.start("a", 3, asyncio.Event().wait)
    await tasks.close()
    assert len(tasks) == 0


def test_a_thing_that_fails_is_left_alone_for_a_time_that_doubles_up_to_a_minute():
    now = [100.0]
    setbacks = Setbacks(lambda: now[0])
    pauses = []
    for _ in range(9):
        assert setbacks.may_try("a")
        pauses.append(setbacks.record_failure("a"))
        assert not setbacks.may_try("a")
        assert setbacks.may_try("b")
        now[0] += pauses[-1]
    assert pauses == [1, 2, 4, 8, 16, 32, LONGEST_PAUSE_S, LONGEST_PAUSE_S, LONGEST_PAUSE_S]
    setbacks.record_success("a")
    assert setbacks.record_failure("a") == 1

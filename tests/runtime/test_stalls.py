"""A loop that stands still is seen while it does, with the stack of who holds it; one that waits is not."""

import asyncio
import threading
import time

import pytest

from horae.runtime.stalls import StallMonitor


@pytest.fixture
async def watched():
    """A monitor that is started, the stalls it told, and an event that is set with the first."""
    found, seen = [], threading.Event()

    def report(stall):
        found.append(stall)
        seen.set()

    monitor = StallMonitor(0.05, report)
    monitor.start()
    yield found, seen
    monitor.stop()


async def test_whoever_blocks_the_loop_is_named_by_the_stack(watched):
    def blocks_the_loop(seen):
        assert seen.wait(30), "nobody saw it"

    found, seen = watched
    blocks_the_loop(seen)
    assert len(found) == 1
    assert "blocks_the_loop" in found[0].stack
    assert found[0].seconds > 0.05


async def test_a_computation_that_blocks_is_told_with_the_cpu_time_it_took(watched):
    found, seen = watched
    ends = time.thread_time() + 0.2
    while time.thread_time() < ends or (not seen.is_set() and time.thread_time() < ends + 30):
        sum(range(1000))
    await asyncio.sleep(0.06)
    assert found
    assert found[0].cpu_seconds > 0


async def test_a_loop_that_only_waits_stands_not_still(watched):
    found, _ = watched
    for _ in range(20):
        await asyncio.sleep(0.01)
    assert [stall for stall in found if stall.cpu_seconds > 0.05] == []


async def test_a_second_stall_is_told_as_well_and_one_long_one_once(watched):
    found, seen = watched
    for number in (1, 2):
        assert seen.wait(30)
        seen.clear()
        assert not seen.wait(0.2), "one stall was told twice"
        await asyncio.sleep(0.06)
        assert len(found) == number

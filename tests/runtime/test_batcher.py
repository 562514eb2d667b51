"""Batches: at once while it is quiet, paced and larger under load, and never more of them than are worth it."""

import asyncio

import pytest

from horae.runtime import batch_queues
from horae.runtime.batch_queues import RoundRobinQueue
from horae.runtime.batcher import Batcher
from horae.runtime.pace import BUSY_ROWS_PER_S, BatchPace
from tests.counting import counting
from tests.steps import until


class Ticks:
    """A clock that stands until it is moved."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_the_first_batch_goes_at_once_and_the_next_after_the_quiet_gap():
    ticks = Ticks()
    pace = BatchPace(quiet_s=0.02, batches_per_row=0.01, busy_s=0.004, now=ticks)
    assert pace.wait_s() <= 0
    pace.count_batch(1)
    assert pace.wait_s() == pytest.approx(0.02)
    ticks.now += 0.02
    assert pace.wait_s() <= 1e-9


@pytest.mark.parametrize("rate", [2_000, 20_000])
def test_under_load_the_share_of_batches_is_bounded_instead_of_their_number(rate):
    ticks = Ticks()
    pace = BatchPace(quiet_s=0.02, batches_per_row=0.01, busy_s=0.004, now=ticks)
    assert rate > BUSY_ROWS_PER_S
    for _ in range(200):
        ticks.now += 0.01
        pace.count_batch(rate // 100)
    assert pace.wait_s() == pytest.approx(1 / (rate * 0.01), rel=0.1)


def test_when_the_load_is_gone_it_is_quiet_again():
    ticks = Ticks()
    pace = BatchPace(quiet_s=0.02, batches_per_row=0.01, busy_s=0.004, now=ticks)
    for rows in (5_000, 1):
        for _ in range(10):
            ticks.now += 0.1
            pace.count_batch(rows)
    assert pace.wait_s() == pytest.approx(0.02)


class Run:
    """Remembers its batches; each lasts until it is let go."""

    def __init__(self, *, fails=False):
        self.batches = []
        self.may = asyncio.Event()
        self.fails = fails

    async def __call__(self, batch):
        self.batches.append(batch)
        await self.may.wait()
        if self.fails:
            raise ValueError("no")


async def test_one_row_goes_at_once_and_what_comes_together_goes_together():
    run = Run()
    run.may.set()
    batcher = Batcher("b", run, BatchPace(quiet_s=0.001, batches_per_row=0.1, busy_s=0.001))
    for n in range(5):
        batcher.add(n)
    await until(lambda: bool(run.batches))
    assert run.batches == [[0, 1, 2, 3, 4]]
    await batcher.drain()


async def test_no_more_batches_than_allowed_run_at_once_and_none_is_larger_than_it_may_be():
    run = Run()
    batcher = Batcher("b", run, BatchPace(quiet_s=1e-6, batches_per_row=1.0, busy_s=1e-6), most=10, at_once=2)
    batcher.extend(range(100))
    await until(lambda: len(run.batches) == 2)
    assert len(batcher) == 80
    run.may.set()
    await batcher.drain()
    assert [row for batch in run.batches for row in batch] == list(range(100))
    assert max(map(len, run.batches)) == 10


async def test_a_batch_that_fails_takes_only_its_own_rows_along():
    run = Run(fails=True)
    run.may.set()
    batcher = Batcher("b", run, BatchPace(quiet_s=1e-6, batches_per_row=1.0, busy_s=1e-6), most=2)
    batcher.extend(range(4))
    await batcher.drain()
    assert run.batches == [[0, 1], [2, 3]]


async def test_a_batch_that_is_under_way_counts_as_busy_until_it_has_ended():
    going = asyncio.Event()

    async def run(_rows):
        await going.wait()

    batcher = Batcher("test", run, BatchPace(quiet_s=0, batches_per_row=0.5, busy_s=0))
    assert not batcher.busy
    batcher.add(1)
    await until(lambda: not len(batcher))
    assert batcher.busy
    going.set()
    await batcher.drain()
    assert not batcher.busy


async def test_owners_take_turns_and_one_with_very_many_rows_leaves_a_batch_to_the_others():
    run = Run()
    queue = RoundRobinQueue(lambda row: row[0], 2)
    batcher = Batcher(
        "b", run, BatchPace(quiet_s=1e-6, batches_per_row=1.0, busy_s=1e-6), most=10, at_once=3, queue=queue
    )
    batcher.extend(("a", n) for n in range(1000))
    await until(lambda: len(run.batches) == 2)
    batcher.extend([("b", 0), ("c", 0), ("b", 1)])
    await until(lambda: len(run.batches) == 3)
    assert run.batches[2] == [("b", 0), ("c", 0), ("b", 1)]
    batcher.extend([("b", 2), ("c", 1)])
    run.may.set()
    await batcher.drain()
    assert {("b", 2), ("c", 1)} <= {row for batch in run.batches[3:5] for row in batch}
    rows = [row for batch in run.batches for row in batch]
    assert [n for owner, n in rows if owner == "a"] == list(range(1000))
    assert [n for owner, n in rows if owner == "b"] == [0, 1, 2]
    assert len(queue) == 0


@pytest.mark.parametrize("owners", [1, 50_000])
def test_a_turn_costs_the_same_however_many_rows_and_owners_wait(owners):
    few, many = lines_of_a_turn(owners, 4_000), lines_of_a_turn(owners, 200_000)
    assert many <= 1.1 * few, (few, many)


def lines_of_a_turn(owners, rows):
    """Executed lines of the queue for a batch that is taken and ends, on average of some hundred."""
    queue = RoundRobinQueue(lambda row: row % owners, 2)
    for row in range(rows):
        queue.append(row)
    with counting(batch_queues) as steps:
        for _ in range(300):
            queue.finish(queue.take(10))
    return steps.lines / 300

"""A node's garbage is collected whole when nobody waits, and never by the interpreter itself."""

import gc

import pytest

from horae.runtime import garbage
from horae.runtime.garbage import (
    BUSY_COLLECTION_INTERVAL_S,
    QUIET_COLLECTION_INTERVAL_S,
    GarbageCollector,
    freeze_present_objects,
)


class Cycle:
    """Refers to itself: only a collection finds it."""

    gone = 0

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        Cycle.gone += 1


class Rig:
    """A collector with a clock of its own, and somebody who waits or not."""

    def __init__(self) -> None:
        self.tick, self.busy = 0.0, False
        self.collector = GarbageCollector(lambda: self.busy, lambda: self.tick)

    async def look(self, tick: float, *, busy: bool) -> int:
        """How many old cycles a look at that time ends."""
        cycle, Cycle.gone = Cycle(), 0
        gc.collect(1)
        gc.collect(1)  # it is old now
        del cycle
        self.tick, self.busy = tick, busy
        await self.collector.once()
        ended = Cycle.gone
        gc.collect()
        return ended


@pytest.fixture
def settled():
    """Thresholds as they were, afterwards."""
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


async def test_a_quiet_node_collects_everything_every_ten_minutes():
    rig = Rig()
    assert await rig.look(QUIET_COLLECTION_INTERVAL_S - 1, busy=False) == 0
    assert await rig.look(QUIET_COLLECTION_INTERVAL_S, busy=False) == 1
    assert await rig.look(QUIET_COLLECTION_INTERVAL_S + 1, busy=False) == 0


async def test_while_somebody_waits_nothing_is_collected_for_hours():
    rig = Rig()
    assert await rig.look(BUSY_COLLECTION_INTERVAL_S - 1, busy=True) == 0
    assert await rig.look(BUSY_COLLECTION_INTERVAL_S, busy=True) == 1


def test_the_interpreter_never_walks_through_everything_by_itself(settled):
    freeze_present_objects()
    before = gc.get_stats()[2]["collections"]
    kept = [[number] for number in range(garbage.YOUNGEST_OBJECTS * garbage.YOUNG_PER_MIDDLE * 12)]
    assert len(kept) > 300_000
    assert gc.get_stats()[2]["collections"] == before
    assert gc.get_stats()[1]["collections"] > 0

"""After an outage one line says since when the cell was down, and how many fires were late because of it."""

import pytest
from structlog.testing import capture_logs

from horae.engine import outages
from horae.engine.outages import MAX_CATCH_UP_S, QUIET_S, OutageWatch
from horae.store.connections import reachability
from horae.store.connections.reachability import Reach


class Clock:
    now = 1000.0


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    for module in (outages, reachability):
        monkeypatch.setattr(module, "boottime", lambda: clock.now)
    return clock


@pytest.fixture
def reach():
    return Reach("cell-0")


@pytest.fixture
def watch(reach):
    return OutageWatch("cell-0", reach)


def pass_time(clock, watch, seconds):
    clock.now += seconds
    watch.look()


def told(lines):
    return [line for line in lines if line["event"] == "cell.caught_up"]


def fail(clock, watch, reach, seconds):
    reach.mark_down(ConnectionError("gone"))
    watch.look()
    pass_time(clock, watch, seconds)
    reach.mark_up()
    watch.look()


def test_late_fires_of_an_outage_are_counted_until_none_comes_any_more(clock, watch, reach):
    with capture_logs() as lines:
        watch.count_late(5000)  # before the outage: it has another reason
        fail(clock, watch, reach, 22)
        for delay_ms in (22_000, 15_000, 3_000):
            watch.count_late(delay_ms)
        watch.count_late(60_000)  # it was due before the outage
        pass_time(clock, watch, QUIET_S - 1)
        watch.count_late(4_000)  # due after the cell was back, and still behind the others
        pass_time(clock, watch, QUIET_S - 1)
        assert not told(lines)
        pass_time(clock, watch, 1)
        pass_time(clock, watch, 100)
    [line] = told(lines)
    assert (line["cell"], line["down_seconds"], line["late_fires"]) == ("cell-0", 22, 4)


def test_an_outage_of_which_no_look_was_in_time_has_its_line_too(clock, watch, reach):
    with capture_logs() as lines:
        reach.mark_down(ConnectionError("gone"))
        clock.now += 3
        reach.mark_up()
        watch.count_late(2500)
        watch.look()
        pass_time(clock, watch, 0.5)
        pass_time(clock, watch, QUIET_S)
    assert [line["late_fires"] for line in told(lines)] == [1]


def test_a_second_outage_while_catching_up_belongs_to_the_first(clock, watch, reach):
    with capture_logs() as lines:
        fail(clock, watch, reach, 10)
        watch.count_late(9000)
        pass_time(clock, watch, 1)
        fail(clock, watch, reach, 10)
        watch.count_late(9000)
        pass_time(clock, watch, QUIET_S)
    assert [line["late_fires"] for line in told(lines)] == [2]


def test_a_node_that_is_late_for_other_reasons_tells_the_story_nevertheless(clock, watch, reach):
    with capture_logs() as lines:
        fail(clock, watch, reach, 10)
        for _ in range(int(MAX_CATCH_UP_S)):
            watch.count_late(2000)
            pass_time(clock, watch, 1)
    assert len(told(lines)) == 1

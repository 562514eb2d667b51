"""One cell down hurts only what lives there: how duties visit cells, and how questions are asked of them."""

import asyncio
from collections import Counter

import asyncpg
import pytest
from structlog.testing import capture_logs

from horae.store.cells import Cell
from horae.store.connections import reachability
from horae.store.connections.each_cell import Visits, ask_each
from tests.steps import until


@pytest.fixture
def up():
    return Cell("up", "postgresql://nowhere/up")


@pytest.fixture
def down():
    cell = Cell("down", "postgresql://nowhere/down")
    cell.reach.mark_down(ConnectionError("refused"))
    return cell


async def test_a_round_waits_for_no_cell_that_is_down_and_visits_it_once_at_a_time(up, down):
    answer, visits = asyncio.Event(), Counter()

    async def visit(cell):
        visits[cell.name] += 1
        if cell is down:
            await answer.wait()
        return 1

    duty = Visits("duty")
    assert [await duty.each([down, up], visit) for _ in range(3)] == [1, 1, 1]
    assert visits == {"down": 1, "up": 3}
    assert duty.unserved == ["down"]
    answer.set()
    await until(duty._going["down"].done)
    assert await duty.each([down, up], visit) == 2  # with what was done meanwhile
    assert duty.unserved == []


async def test_a_round_stops_waiting_when_others_find_that_the_cell_is_down(up):
    slow = Cell("slow", "postgresql://nowhere/slow")

    async def visit(cell):
        if cell is up:
            slow.reach.mark_down(TimeoutError("no answer"))
            return 1
        await asyncio.Event().wait()
        return 0

    duty = Visits("duty")
    assert await duty.each([slow, up], visit) == 1
    duty._going["slow"].cancel()


async def test_what_leaves_a_cell_out_is_said_once_until_it_is_served_again(up):
    full = Cell("full", "postgresql://nowhere/full")
    has_room = False

    async def visit(cell):
        if cell is full and not has_room:
            raise asyncpg.DiskFullError("no space left")

    duty = Visits("duty")
    with capture_logs() as logs:
        for _ in range(3):
            await duty.each([full, up], visit)
        has_room = True
        await until(lambda: _served(duty, [full, up], visit))
        has_room = False
        await duty.each([full, up], visit)
    said = {"event": "duty.cell_skipped", "duty": "duty", "cell": "full", "reason": "no space left"}
    assert [log | said == log for log in logs] == [True, True]


async def _served(duty, cells, visit):
    await duty.each(cells, visit)
    return duty.unserved == []


async def test_a_mistake_is_raised_after_every_other_cell_had_its_visit(up):
    wrong, visited = Cell("wrong", "postgresql://nowhere/wrong"), []

    async def visit(cell):
        if cell is wrong:
            raise KeyError("a mistake")
        await asyncio.sleep(0)
        visited.append(cell)

    with pytest.raises(KeyError, match="a mistake"):
        await Visits("duty").each([wrong, up], visit)
    assert visited == [up]


async def test_whoever_is_told_to_end_ends_what_is_under_way(up):
    began, ended = asyncio.Event(), []

    async def visit(cell):
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(cell)

    going = asyncio.create_task(Visits("duty").each([up], visit))
    await began.wait()
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going
    assert ended == [up]


async def test_a_round_after_one_that_was_cancelled_begins_anew(up):
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def visit(_cell):
        begun.set()
        await may_end.wait()
        return 1

    duty = Visits("duty")
    going = asyncio.create_task(duty.each([up], visit))
    await begun.wait()
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going
    may_end.set()
    assert await duty.each([up], visit) == 1


async def test_a_question_is_answered_by_the_cells_that_are_there_and_names_the_others(up, down):
    async def ask(cell):
        if cell is down:
            await asyncio.Event().wait()
        return cell.name

    assert await ask_each([down, up], ask) == ({up: "up"}, ["down"])

    async def wrong(_cell):
        raise LookupError("a mistake")

    with pytest.raises(LookupError):
        await ask_each([down, up], wrong)


async def test_whoever_gives_up_soon_does_not_take_the_turn_of_the_one_who_tries_in_earnest(down, monkeypatch):
    """Lists are asked for more often than a duty tries, and are cancelled before a slow connection is there."""
    monkeypatch.setattr(reachability, "PROBE_INTERVAL_S", 0.0)
    down.reach.mark_down(ConnectionError("refused"), connecting=True)

    async def ask(cell):
        return cell.reach.connecting_s(6.0)

    assert await ask_each([down], ask) == ({down: reachability.BRIEF_CONNECT_TIMEOUT_S}, [])
    assert down.reach.connecting_s(6.0) == 6.0


def test_that_a_cell_is_down_and_back_is_told_once(down):
    with capture_logs() as logs:
        for _ in range(3):
            down.reach.mark_down(ConnectionError("refused"))
        for _ in range(3):
            down.reach.mark_up()
    assert [log["event"] for log in logs] == ["cell.reachable"]
    with capture_logs() as logs:
        down.reach.mark_down(TimeoutError())
    assert [(log["event"], log["cell"], log["reason"]) for log in logs] == [
        ("cell.unreachable", "down", "TimeoutError")
    ]

"""Runners without a server: who runs beside whom, and what is left behind for the next."""

import asyncio
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any

from horae_client.work.runners import Runners

VARIABLE: ContextVar[str] = ContextVar("variable", default="nothing")


def held() -> Any:
    return SimpleNamespace(task=None)


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_handlers_that_never_wait_share_a_task():
    tasks = []

    async def perform(_kind: object, _held: object) -> None:
        tasks.append(asyncio.current_task())

    runners = Runners(perform)
    for _ in range(100):
        runners.add(None, held())  # type: ignore[arg-type]
    await settle()
    assert len(tasks) == 100
    assert len(set(tasks)) < 5, "but for what the loop had to do in between"


async def test_as_many_run_beside_each_other_as_wait():
    go_on, begun = asyncio.Event(), []

    async def perform(_kind: object, one: object) -> None:
        begun.append(one)
        await go_on.wait()

    runners = Runners(perform)
    many = [held() for _ in range(20)]
    for one in many:
        runners.add(None, one)  # type: ignore[arg-type]
    while len(begun) < 20:
        await asyncio.sleep(0)
    assert begun == many
    assert len({one.task for one in many}) == 20
    go_on.set()
    await settle()
    assert {one.task for one in many} == {None}


async def test_what_one_leaves_in_its_context_no_other_finds():
    found = []

    async def perform(_kind: object, _held: object) -> None:
        found.append(VARIABLE.get())
        VARIABLE.set("something of mine")

    VARIABLE.set("of the worker")
    runners = Runners(perform)
    for _ in range(5):
        runners.add(None, held())  # type: ignore[arg-type]
    while len(found) < 5:
        await asyncio.sleep(0)
    assert found == ["of the worker"] * 5


async def test_who_is_cancelled_or_fails_is_so_alone():
    done, waits = [], asyncio.Event()

    async def perform(number: int, _held: object) -> None:
        if number == 0:
            try:
                await waits.wait()
            except asyncio.CancelledError:
                done.append("cancelled")
            return
        async with asyncio.timeout(30):  # it would think that it was cancelled itself
            await asyncio.sleep(0)
        done.append(number)

    runners = Runners(perform)  # type: ignore[arg-type]
    first = held()
    runners.add(0, first)  # type: ignore[arg-type]
    await asyncio.sleep(0)
    runner = first.task
    for number in (1, 2):
        runners.add(number, held())  # type: ignore[arg-type]
    runner.cancel()
    await asyncio.wait_for(runner, 30)
    while len(done) < 3:
        await asyncio.sleep(0)
    assert set(done) == {"cancelled", 1, 2}
    assert not runner.cancelled()


async def test_what_was_not_begun_can_be_taken_back():
    ran = []

    async def perform(_kind: object, one: object) -> None:
        ran.append(one)

    runners = Runners(perform)
    runners.add(None, held())  # type: ignore[arg-type]
    assert len(runners.withdraw()) == 1
    await settle()
    assert ran == []

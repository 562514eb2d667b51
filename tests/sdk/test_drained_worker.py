"""A worker process that a person drains: it claims nothing more, finishes what it holds, and goes on when resumed."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator

import pytest

from horae_client import AsyncClient, Keyed, Worker, errors
from tests.sdk.served import Home
from tests.system.children import Child

NAME = "host-1/4711"


@pytest.fixture
async def asked(home: Home) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(home.url, home.key) as client:
        await client.jobs.create("T", trigger=Keyed())
        yield client


async def drain(asked: AsyncClient, name: str = NAME):
    """Drain a worker as soon as it is listed."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return await asked.workers.drain(name, "the host is replaced")
        except errors.NotFound:
            assert time.monotonic() < deadline, "it was never listed"
            await asyncio.sleep(0.2)


async def ended(asked: AsyncClient, key: str) -> None:
    deadline = time.monotonic() + 60
    while (await asked.tasks.get("T", key)).live is not None:
        assert time.monotonic() < deadline, f"{key} has not ended"
        await asyncio.sleep(0.05)


async def test_after_a_drain_nothing_is_claimed_held_work_ends_and_a_resume_takes_the_rest(home, asked, tmp_path):
    child = Child("worker", tmp_path / "worker.log")

    def said() -> list[str]:
        return child.log.read_text().splitlines()

    async def until(line: str) -> None:
        deadline = time.monotonic() + 60
        while line not in said():
            assert time.monotonic() < deadline, (line, said())
            await asyncio.sleep(0.02)

    child.spawn([sys.executable, "-m", "tests.sdk.gated_child", home.url, home.key, NAME, tmp_path])
    try:
        await asked.tasks.schedule("T", "held")
        await until("began held")
        drained = await drain(asked)
        assert (drained.status, drained.claimed, drained.queues) == ("DRAINING", 1, ["T"])
        await asked.tasks.schedule("T", "later")
        await until("drained: no new tasks until a person resumes it")
        polled = await asked.workers.poll("T", NAME, wait=0.2)
        assert (polled.items, polled.drained) == ([], True)
        (tmp_path / "held").touch()
        (tmp_path / "later").touch()
        await until("ended held")
        await ended(asked, "held")
        [listed] = [one async for one in asked.workers.list()]
        assert (listed.status, listed.drain_reason, listed.claimed) == ("DRAINED", "the host is replaced", 0)
        assert (await asked.tasks.get("T", "later")).live.state == "INIT"
        assert "began later" not in said()
        assert (await asked.workers.resume(NAME)).status == "ACTIVE"
        await until("ended later")
        await ended(asked, "later")
        assert said().index("resumed: claiming again") < said().index("began later")
    finally:
        child.end()


async def test_a_worker_that_stops_when_drained_finishes_what_it_holds_and_ends(home, asked):
    begun, may_end = asyncio.Event(), asyncio.Event()
    worker = Worker(home.url, home.key, name=NAME, wait=0.3, stop_when_drained=True)

    @worker.task("T")
    async def handle(ctx):
        begun.set()
        await may_end.wait()

    await asked.tasks.schedule("T", "held")
    serving = asyncio.create_task(worker.serve())
    await asyncio.wait_for(begun.wait(), 60)
    await drain(asked)
    while not worker.stopping:
        await asyncio.sleep(0.02)
    assert not serving.done(), "it still holds a task"
    may_end.set()
    await asyncio.wait_for(serving, 60)
    assert (worker.drained, worker.counts["done"], worker.counts["returned"]) == (True, 1, 0)

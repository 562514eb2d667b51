"""Workers that are killed, paused, told to end, or cut off: nothing is lost, and nobody's stale report is taken."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP, SIGTERM

import pytest

from horae.engine.rescue import Rescuer
from horae.engine.territory import Territory
from horae.repositories.definitions import Definitions
from horae.repositories.settle import Settler
from horae_client import AsyncClient, Keyed, Put, Queue, receive
from tests.sdk.databases import Database, Make
from tests.sdk.served import Home, Served
from tests.system.children import Child

MANY = 40
KEYS = [f"k-{n}" for n in range(MANY)]


class Line:
    """A way to the server that can be cut."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._open: set[asyncio.StreamWriter] = set()
        self._cut = False
        self.port = 0

    @asynccontextmanager
    async def lying(self) -> AsyncIterator["Line"]:
        server = await asyncio.start_server(self._join, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            self.cut()
            server.close()

    def cut(self) -> None:
        """Everything under way is lost, and nobody gets through."""
        self._cut = True
        for one in self._open:
            one.transport.abort()

    def mend(self) -> None:
        self._cut = False

    async def _join(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        if self._cut:
            back.transport.abort()
            return
        far, on = await asyncio.open_connection("127.0.0.1", self._to)
        self._open |= {back, on}
        await asyncio.gather(self._carry(near, on), self._carry(far, back))
        self._open -= {back, on}

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(65536):
                sink.write(data)
                await sink.drain()
        sink.transport.abort()


class Scene:
    """Tasks that wait, workers that take them, and someone who rescues what a worker left."""

    def __init__(self, served: Served, home: Home, database: Database, folder: Path) -> None:
        self.served, self.home, self.database, self.folder = served, home, database, folder
        self.workers: list[Child] = []

    async def begin(self) -> None:
        async with AsyncClient(self.home.url, self.home.key) as client:
            await client.jobs.create("LOAD", trigger=Keyed(), target=Queue("LOAD", claim_seconds=3.0))
            await client.tasks.schedule_many("LOAD", [Put(key) for key in KEYS])

    def worker(self, url: str | None = None) -> Child:
        child = Child(f"worker-{len(self.workers)}", self.folder / f"worker-{len(self.workers)}.log")
        command = [
            sys.executable,
            "-m",
            "tests.sdk.worker_child",
            url or self.home.url,
            self.home.key,
            self.database.dsn,
        ]
        child.spawn(command)
        self.workers.append(child)
        return child

    async def rescue(self) -> None:
        """What a node does, for this tenant's cells."""
        for cell in self.served.store.cells:
            territory = Territory(self.served.store.shards_of(cell))
            await Rescuer(cell, territory, Definitions(), Settler(cell)).once()

    async def until(self, true: Callable[[], bool], seconds: float = 90.0) -> None:
        deadline = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < deadline, "it never came true"
            await asyncio.to_thread(self.served.run, self.rescue())
            await asyncio.sleep(0.1)

    def effects(self) -> int:
        return int(self.database.rows("select count(*) from effect")[0][0])

    async def end(self) -> list[dict[str, int]]:
        """Tell all that are left to end; what they say they did."""
        said = []
        for child in self.workers:
            if child.running:
                child.signal(SIGTERM)
                assert await child.ended(60) == 0, child.tail()
                said.append(json.loads(child.log.read_text().splitlines()[-1]))
        return said

    async def ended(self) -> list[object]:
        """Every instance there ever was, by what became of it."""
        async with AsyncClient(self.home.url, self.home.key) as client:
            return [one async for one in client.jobs.history("LOAD")]


@pytest.fixture
async def scene(served: Served, home: Home, databases: dict[str, Make], tmp_path: Path) -> AsyncIterator[Scene]:
    database = databases["postgresql"]()
    with database.connect() as connection:
        connection.cursor().execute(receive.ddl("postgresql"))
    scene = Scene(served, home, database, tmp_path)
    await scene.begin()
    yield scene
    for child in scene.workers:
        child.signal(SIGCONT)
        child.signal(SIGKILL)
        await child.ended(10)


async def all_done(scene: Scene) -> None:
    """Each task took effect, and is over."""
    await scene.until(lambda: scene.effects() == MANY)
    deadline = time.monotonic() + 60
    while any(one.state != "SUCCESS" for one in await scene.ended()):
        assert time.monotonic() < deadline, "something is not over"
        await asyncio.to_thread(scene.served.run, scene.rescue())
        await asyncio.sleep(0.1)
    assert sorted(one.key for one in await scene.ended()) == sorted(KEYS)


async def test_killed_in_the_middle_nothing_is_lost(scene):
    first = scene.worker()
    scene.worker()
    await scene.until(lambda: scene.effects() >= 5)
    first.signal(SIGKILL)
    await first.ended()
    await all_done(scene)
    [said] = await scene.end()
    assert said["late"] == 0
    assert scene.effects() == MANY


async def test_paused_beyond_its_deadline_its_reports_are_not_taken(scene):
    first = scene.worker()
    await scene.until(lambda: scene.effects() >= 5)
    first.signal(SIGSTOP)
    stopped_at = time.monotonic()
    scene.worker()
    # Not until all is done: it may have been stopped in the midst of an effect, which then waits for it.
    await scene.until(lambda: time.monotonic() - stopped_at > 4.0)
    first.signal(SIGCONT)
    await all_done(scene)
    said = await scene.end()
    assert sum(one["done"] for one in said) == MANY
    assert scene.effects() == MANY


async def test_told_to_end_under_load_it_leaves_nothing_behind_and_costs_no_attempt(scene):
    first = scene.worker()
    await scene.until(lambda: scene.effects() >= 5)
    first.signal(SIGTERM)
    assert await first.ended(60) == 0, first.tail()
    said = json.loads(first.log.read_text().splitlines()[-1])
    assert {one.state for one in await scene.ended()} <= {"SUCCESS", "INIT"}
    scene.worker()
    await all_done(scene)
    [then] = await scene.end()
    assert said["done"] + then["done"] == MANY
    assert {one.attempt for one in await scene.ended()} == {1}


async def test_cut_off_for_longer_than_its_deadlines_nothing_is_lost(scene):
    async with Line(scene.served.door.port).lying() as line:
        scene.worker(f"http://127.0.0.1:{line.port}")
        await scene.until(lambda: scene.effects() >= 5)
        line.cut()
        cut_at = time.monotonic()
        await scene.until(lambda: time.monotonic() - cut_at > 4.0)
        line.mend()
        await all_done(scene)
        [said] = await scene.end()
    assert said["done"] + said["late"] >= MANY - 16
    assert scene.effects() == MANY

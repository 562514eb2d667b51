"""The task lifecycle through `store/`: PUT a new key, claim it, end it, with its ledger."""

import asyncio
import time
from datetime import timedelta
from itertools import count
from uuid import UUID

import asyncpg
import uvloop

from benchmarks.measure import Slice, own_cpu
from benchmarks.meter import Meter
from benchmarks.server import Server
from horae.domain import keys
from horae.domain.instances import Lane, Priority
from horae.domain.lifecycle import State
from horae.domain.outcomes import Ended
from horae.domain.placement import SHARDS, Run, spot
from horae.domain.tasks import Create, Decision, Intent, decide
from horae.runtime.chance import mint, token
from horae.runtime.clock import Clock
from horae.store import clock, instances, tasks
from horae.store.cells import SESSION, speak_json
from horae.store.instances import Attempt, Claim, Ending
from horae.store.looks import Look, Mark
from horae.store.tasks import Birth, Place
from horae.store.tx import Tx

BATCH = 100
REACH = timedelta(hours=1)
TYPE, TENANT = UUID(int=10), UUID(int=1)
DONE = Ended(State.SUCCESS, 0)
numbers = count(time.time_ns())


class Author:
    """One connection that schedules a hundred keys, then claims and ends what is due in its run of shards."""

    def __init__(self, number: int, workers: int) -> None:
        self.run = Run(SHARDS * number // workers, SHARDS * (number + 1) // workers - 1)
        self.done = 0

    async def work(self, dsn: str, until: float) -> None:
        """A hundred keys, one drain, and again until the wall clock says stop; once at least."""
        connection = await asyncpg.connect(dsn, server_settings=SESSION)
        await speak_json(connection)
        ours = Clock()
        sent = ours.ticks()
        (await clock.read(connection)).set(ours, sent)
        try:
            while not self.done or time.monotonic() < until:
                for _ in range(BATCH):
                    await put(Tx(connection, ours.now()))
                self.done += BATCH
                await self.drain(Tx(connection, ours.now()))
        finally:
            await connection.close()

    async def drain(self, tx: Tx) -> None:
        """Look for a batch, claim it and end it. Other authors write into this run too: the look reaches back."""
        mark = Mark(Priority.NORMAL, Lane.FIRST).before(tx.now - REACH)
        found = await instances.due(tx, self.run, Look(tx.now, limit=BATCH), [mark])
        taken = await instances.claim(tx, found, Claim(token(), token())) if found else []
        if taken:
            await instances.end(tx, [Ending(ran, DONE, Attempt(ran.attempt, 200), 2) for ran in taken])


async def put(tx: Tx) -> None:
    """What the service does for a key never used: read, decide, write."""
    key = f"k{next(numbers)}"
    place = Place(spot(key) % SHARDS, TENANT, TYPE, key)
    intent = Intent(tx.now, {"n": 1})
    change = decide(await tasks.find(tx, place), intent)
    assert isinstance(change, Create)
    birth = Birth(mint(place.shard, tx.now), keys.task(TYPE, key, 1), 1, Priority.NORMAL, 13_000)
    note = tasks.note_of(Decision.CREATED, change, "bench", tx.now)
    written = await tasks.create(tx, place, change, intent, birth, note)
    assert written is not None


def ours(server: Server, database: str, meter: Meter, seconds: float, workers: int) -> Slice:
    """One slice of tasks through the store."""
    authors = [Author(number, workers) for number in range(workers)]

    async def work() -> None:
        until = time.monotonic() + seconds
        await asyncio.gather(*(author.work(server.dsn(database), until) for author in authors))

    with meter.measuring() as cost:
        began, cpu = time.monotonic(), own_cpu()
        uvloop.run(work())
        took, cpu = time.monotonic() - began, own_cpu() - cpu
    return cost.slice(sum(author.done for author in authors), took, cpu)

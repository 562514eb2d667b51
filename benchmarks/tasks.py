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
from horae.domain.instances import idempotency_keys
from horae.domain.instances.instances import Lane, Priority
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import InstanceEnd
from horae.domain.placement import SHARDS, Run, spot
from horae.domain.tasks.tasks import CreateDecision, Decision, Intent, decide
from horae.runtime.clock import Clock
from horae.runtime.randomness import new_id, new_token
from horae.store.cells import SESSION, use_json
from horae.store.databases import clock
from horae.store.instances import instances
from horae.store.instances.instances import Attempt, Claim, EndRow
from horae.store.nodes.scans import ScanMark, ScanRange
from horae.store.tasks import tasks
from horae.store.tasks.tasks import TaskPlace, TaskRow
from horae.store.tx import Tx

BATCH = 100
REACH = timedelta(hours=1)
TYPE, TENANT = UUID(int=10), UUID(int=1)
DONE = InstanceEnd(State.SUCCESS, 0)
numbers = count(time.time_ns())


class Author:
    """One connection that schedules a hundred keys, then claims and ends what is due in its run of shards."""

    def __init__(self, number: int, workers: int) -> None:
        self.run = Run(SHARDS * number // workers, SHARDS * (number + 1) // workers - 1)
        self.done = 0

    async def work(self, dsn: str, until: float) -> None:
        """A hundred keys, one drain, and again until the wall clock says stop; once at least."""
        connection = await asyncpg.connect(dsn, server_settings=SESSION)
        await use_json(connection)
        ours = Clock()
        sent = ours.ticks()
        (await clock.read(connection)).apply_to(ours, sent)
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
        mark = ScanMark(Priority.NORMAL, Lane.FIRST).before(tx.now - REACH)
        found = await instances.due(tx, self.run, ScanRange(tx.now, limit=BATCH), [mark])
        taken = await instances.claim(tx, found, Claim(new_token(), new_token())) if found else []
        if taken:
            await instances.end(tx, [EndRow(ran, DONE, Attempt(ran.attempt, 200), 2) for ran in taken])


async def put(tx: Tx) -> None:
    """What the service does for a key never used: read, decide, write."""
    key = f"k{next(numbers)}"
    place = TaskPlace(spot(key) % SHARDS, TENANT, TYPE, key)
    intent = Intent(tx.now, {"n": 1})
    change = decide(await tasks.find(tx, place), intent)
    assert isinstance(change, CreateDecision)
    birth = TaskRow(new_id(place.shard, tx.now), idempotency_keys.task_key(TYPE, key, 1), 1, Priority.NORMAL, 13_000)
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

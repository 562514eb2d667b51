"""Scenes: for each planted bug the order of events in which it bites. Without the bug each ends well."""

import random
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import msgspec

from horae.domain.schedules.triggers import IntervalTrigger, KeyedTrigger
from horae.domain.targets.targets import QueueTarget
from horae.engine.rescue import Rescuer
from horae.engine.territory import Territory
from horae.repositories.definitions import Definitions
from horae.repositories.settle import Settler
from horae.service.workers import workers
from horae.store.instances import instances
from horae.store.schedules import cursors
from horae.store.store import Store
from tests.engine.running import running
from tests.nodes import node_in
from tests.steps import claim_everywhere, query, until
from tests.system.planted import local_clock, persisted_bound, unguarded_rescue
from tests.system.stage import Stage

Put = Callable[[Any, str, Any], None]
Scene = Callable[[Stage, Put, random.Random], Awaitable[None]]
TTL = timedelta(seconds=2)
LOST = 20.0  # longer than any deadline here


async def a_frozen_owner_answers_late(stage: Stage, put: Put, chance: random.Random) -> None:
    """Its attempt was rescued and is another's now; the same number, another token."""
    job = await stage.job("PUBLISH", KeyedTrigger())
    await stage.put("PUBLISH", f"key-{chance.random()}", seconds=-1)
    [frozen] = await claim_everywhere(stage.store)
    late = await stage.deliver(frozen, job)
    await stage.pass_time(LOST)
    await _rescue(stage)
    [heir] = await claim_everywhere(stage.store)
    right = await stage.deliver(heir, job)
    cell, arrived = stage.store.cell(frozen.shard), stage.now()
    await until(lambda: cell.clock.now() > arrived)  # it runs behind by up to a round trip
    settler = Settler(cell)
    await settler.settle([late])
    await settler.settle([right])
    assert settler.late == 1, "one of the two was refused"
    stage.struck("pause")


async def a_node_with_a_clock_of_its_own(stage: Stage, put: Put, chance: random.Random) -> None:
    """Its host's clock is three seconds ahead of the database's."""
    right = local_clock.wall
    put(local_clock, "wall", lambda: right() + 3)
    await stage.job(f"tick-{chance.random()}", IntervalTrigger(1.0, stage.began))
    async with running(stage.store, ttl=timedelta(seconds=60)):
        await until(lambda: _ended(stage), 30)


async def an_outage(stage: Stage, put: Put, chance: random.Random) -> None:
    """Nobody fires for half a minute; then someone does."""
    await stage.job(f"tick-{chance.random()}", IntervalTrigger(5.0, stage.began))
    await stage.pass_time(25 + 5 * chance.random())
    await stage.node().drain()


async def an_answer_comes_while_it_is_rescued(stage: Stage, put: Put, chance: random.Random) -> None:
    """The rescuer has read that it is overdue; before it writes, the attempt has failed and waits for its retry."""
    put(unguarded_rescue, "MOMENT", 0.0)
    job = await stage.job("AUDIT", KeyedTrigger(), "/fail/1")
    await stage.put("AUDIT", f"key-{chance.random()}", seconds=-1)
    [slow] = await claim_everywhere(stage.store)
    failed = await stage.deliver(slow, job)
    await stage.pass_time(LOST)
    read = instances.abandoned

    async def abandoned(*args: Any) -> Any:
        found = await read(*args)
        if found:
            await Settler(stage.store.cell(slow.shard)).settle([failed])
        return found

    put(instances, "abandoned", abandoned)
    await _rescue(stage)
    put(instances, "abandoned", read)
    node = stage.node()
    for _ in range(3):
        await stage.pass_time(5)
        await node.drain()
    stage.struck("slow database")


async def a_worker_asks_for_little(stage: Stage, put: Put, chance: random.Random) -> None:
    """Twenty wait in a queue, and a worker wants a few."""
    await stage.job("WORK", KeyedTrigger(), target=QueueTarget("work"))
    for n in range(20):
        await stage.put("WORK", f"key-{n}", seconds=-1)
    many = chance.randint(1, 3)
    claim = workers.claim
    told: Any = msgspec.to_builtins
    await stage.log.call("claim", lambda: claim(stage.ctx, "work", "w", many), told=told, limit=many)


async def two_nodes_on_one_host(stage: Stage, put: Put, chance: random.Random) -> None:
    """Both serve."""
    cells = [(cell.name, cell.dsn) for cell in stage.store.cells]
    async with running(stage.store, ttl=TTL):
        other = Store([type(stage.store.cells[0])(*cell) for cell in cells])
        async with other:
            node = node_in(other, "n", TTL)
            await node.start()
            try:
                stage.nodes = 2
                await until(lambda: any(node.leases.held_shards(cell) for cell in other.cells))
                stage.seen = await stage.verdict()
            finally:
                await node.stop(1)


async def a_takeover_after_a_lost_wake(stage: Stage, put: Put, chance: random.Random) -> None:
    """A task was written behind what its owner has looked at, and nobody heard of it; then there is another owner."""
    put(persisted_bound, "folder", lambda: stage.folder)
    await stage.job("PUBLISH", KeyedTrigger())
    first = stage.node()
    await first.drain()
    await stage.put("PUBLISH", f"key-{chance.random()}", seconds=10)
    await first.leave()
    await stage.pass_time(120)
    await stage.node().drain()


async def the_answer_of_a_commit_is_lost(stage: Stage, put: Put, chance: random.Random) -> None:
    """A fire was written, and the node that wrote it does not know. It lives on."""
    write = cursors.fire

    async def lost(*args: Any) -> Any:
        put(cursors, "fire", write)
        await write(*args)
        raise ConnectionResetError

    await stage.job(f"tick-{chance.random()}", IntervalTrigger(3600.0, stage.began.replace(microsecond=0)))
    await stage.pass_time(3600)
    put(cursors, "fire", lost)
    node = stage.node()
    for seconds in (0, LOST, LOST, LOST):
        await stage.pass_time(seconds)
        await node.drain()


async def _rescue(stage: Stage) -> None:
    for cell in stage.store.cells:
        territory = Territory(stage.store.shards_of(cell))
        await Rescuer(cell, territory, Definitions(), Settler(cell)).once()


async def _ended(stage: Stage) -> bool:
    return bool(await query(stage.store, "select from instance_history"))

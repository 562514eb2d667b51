"""Several nodes in this process, each with connections of its own, under jobs that fire every few seconds."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.policies import Policies
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget
from horae.engine.node import Node
from horae.runtime.settings import CellSettings
from horae.service.context import Context
from horae.store.store import Store
from tests.bulk import bulk_jobs
from tests.catcher import Catcher
from tests.engine.running import running
from tests.steps import query, until

USUAL = Policies()
ALL_ROWS = """
    select job_id, fire_time from instance_live where generation is null
    union all
    select job_id, fire_time from instance_history where generation is null"""


@asynccontextmanager
async def another(cells: Sequence[CellSettings], **facts: Any) -> AsyncIterator[Node]:
    """One more node with its own pools, as a process of its own would have them."""
    async with Store.of(cells) as store, running(store, **facts) as node:
        yield node


@asynccontextmanager
async def several(cells: Sequence[CellSettings], number: int, **facts: Any) -> AsyncIterator[list[Node]]:
    async with AsyncExitStack() as all_of_them:
        yield [await all_of_them.enter_async_context(another(cells, **facts)) for _ in range(number)]


async def steady(
    ctx: Context,
    store: Store,
    catcher: Catcher,
    number: int,
    period: float = 1,
    *,
    policies: Policies = USUAL,
    **facts: Any,
) -> datetime:
    """So many jobs that fire every `period` seconds, spread over it; returns the first fire of the first."""
    start = store.cells[0].clock.now().replace(microsecond=0) + timedelta(seconds=1)
    groups = min(number, 20)
    for group in range(groups):
        at = start + timedelta(milliseconds=round(1000 * period * group / groups))
        target = HttpTarget(f"{catcher.url}/{group}", **facts)
        made = Definition(trigger=IntervalTrigger(period, at), target=target, policies=policies)
        part = number // groups + (group < number % groups)
        await bulk_jobs(ctx, store, part, made, at, f"steady-{group}")
    return start


async def every_fire_has_one_row(store: Store, jobs: int, period: float = 1) -> int:
    """No job has a gap between its first and its last fire, and no fire two rows; returns how many fires."""
    fires: dict[Any, list[datetime]] = {}
    for row in await query(store, ALL_ROWS):
        fires.setdefault(row["job_id"], []).append(row["fire_time"])
    assert len(fires) == jobs
    anchors = {row["job_id"]: row["next_fire_at"] for row in await query(store, "select * from job_cursor")}
    for job, times in fires.items():
        assert len(times) == len(set(times)), "a fire has one row"
        steps = (anchors[job] - min(times)) / timedelta(seconds=period)
        assert len(times) == round(steps), "from the first fire to the cursor none is missing"
    return sum(map(len, fires.values()))


async def caught_up(store: Store) -> bool:
    """Nothing is due and nothing is under way."""
    now = store.cells[0].clock.now() - timedelta(seconds=1)
    due = await query(store, "select from job_cursor where next_fire_at < $1 limit 1", now)
    return not due and not await query(store, "select from instance_live where due_at < $1 limit 1", now)


async def end_of_schedules(store: Store) -> None:
    """From now on nothing new fires; what was fired may end."""
    await query(store, "update job_cursor set next_fire_at = next_fire_at + interval '1 year' where true")


async def settled(store: Store, seconds: float = 30) -> None:
    async def nothing_lives() -> bool:
        return not await query(store, "select from instance_live limit 1")

    await until(nothing_lives, seconds)


async def kill(node: Node) -> None:
    """As SIGKILL would: no shard is handed back and nobody hears of what was in flight."""
    leases, tasks = node.leases, node._tasks
    leases._loop.call_soon_threadsafe(leases._ended.set)
    for post in node.runners.values():
        post.flights.close()
        post.hold(())
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    node._tasks = []
    node.quotas.pacer.close()
    await node.sender.client.close()
    for bursar in node.quotas._renewers.values():
        bursar.line.drop_connection()
    for listener in node._listeners.values():
        listener._line.drop_connection()
    await asyncio.to_thread(leases._thread.join)

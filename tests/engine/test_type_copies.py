"""A type that was changed: its tasks in other cells are sent by the version they were made with, or by a newer one."""

from datetime import timedelta

from msgspec.structs import replace

from horae.domain.targets.targets import HttpTarget
from horae.repositories import definitions
from horae.service.schedules import schedules
from horae.service.tasks import tasks
from horae.service.tenants.places import shards_of_keys
from horae.upkeep.copies import Copier
from tests.engine.running import TTL
from tests.nodes import node_in
from tests.steps import a_type, move_clock


async def schedule_elsewhere(ctx, store, job, prefix, many, **when):
    """Schedule tasks whose keys lie in another cell than their type."""
    shards = await shards_of_keys(ctx, job, [f"{prefix}-{n}" for n in range(100)])
    keys = [key for key, shard in shards.items() if store.cell(shard) is not store.cell(job.shard)]
    for key in keys[:many]:
        await tasks.schedule(ctx, "T", key, **when)


async def test_a_task_of_a_changed_type_waits_until_the_change_has_arrived_in_its_cell(ctx, store, catcher):
    job = await a_type(ctx, "T", target=HttpTarget(f"{catcher.url}/old"))
    copier = Copier(store)
    await copier.once()
    node = node_in(store, "n", TTL)
    try:
        await schedules.update(ctx, "T", replace(job.definition, target=HttpTarget(f"{catcher.url}/new")))
        await schedule_elsewhere(ctx, store, job, "first", 3)
        await node.drain()
        assert not catcher.arrivals
        await copier.once()
        await node.drain()
        assert [arrival.path for arrival in catcher.arrivals] == ["/new"] * 3
    finally:
        await node.leave()


async def test_tasks_of_an_old_version_follow_the_newest_copy(ctx, store, catcher, monkeypatch):
    """Their own version is in the cell of the type alone; what stands for it is remembered for a moment."""
    monkeypatch.setattr(definitions, "NEWER_REMEMBERED_S", 0.0, raising=False)
    job = await a_type(ctx, "T", target=HttpTarget(f"{catcher.url}/1"))
    copier, later = Copier(store), store.cell(job.shard).clock.now() + timedelta(hours=1)
    await schedule_elsewhere(ctx, store, job, "now", 1)
    await schedule_elsewhere(ctx, store, job, "later", 1, at=later)
    node = node_in(store, "n", TTL)
    try:
        for n in (2, 3):
            target = HttpTarget(f"{catcher.url}/{n}")
            job = await schedules.update(ctx, "T", replace(job.definition, target=target))
            await copier.once()
            await node.drain()
            await move_clock(store, hours=1, seconds=1)
        await node.drain()
        assert [arrival.path for arrival in catcher.arrivals] == ["/2", "/3"]
    finally:
        await node.leave()

"""What is sealed of a definition is read by itself: one that this release refuses stops nobody else."""

from datetime import timedelta

from horae.domain.jobs.jobs import Definition
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets import templates
from horae.domain.targets.targets import HttpTarget
from horae.service.context import Context, PlatformContext
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.upkeep.copies import Copier
from tests.bulk import bulk_jobs
from tests.engine.running import TTL
from tests.nodes import node_in
from tests.steps import a_job, a_type, claim_everywhere, move_clock, query


async def drained(store):
    """Everything that is due, by a node of its own."""
    node = node_in(store, "n", TTL)
    try:
        return await node.drain()
    finally:
        await node.leave()


async def test_a_sealed_part_of_a_later_release_waits_and_stops_nobody_else(ctx, store, catcher, monkeypatch):
    """A placeholder that this release does not know stands where only the key of its tenant reads it."""
    other = Context.of(store, await tenants.create(PlatformContext(store, "test"), "other", width=64), "test")
    abandoned = [await a_type(one, "T", target=target(catcher, "abandoned", one is ctx)) for one in (ctx, other)]
    await Copier(store).once()
    for one in (ctx, other):
        await tasks.schedule(one, "T", "k")
    assert len(await claim_everywhere(store)) == 2
    start = store.cells[0].clock.now().replace(microsecond=0)
    plain = Definition(trigger=IntervalTrigger(3600, start), target=target(catcher, "well", later=False))
    await bulk_jobs(other, store, 50, plain, start + timedelta(hours=1), "well")
    future = await a_job(ctx, "future", IntervalTrigger(3600, start), target=target(catcher, "future", later=True))
    with monkeypatch.context() as older:
        older.setattr(templates, "NAMES", templates.NAMES - {"job"})
        await move_clock(store, hours=1)
        await drained(store)
        assert {arrival.path for arrival in catcher.arrivals} == {"/well", "/abandoned"}
        assert len(catcher.effects) == 51
    await move_clock(store, minutes=10)
    await drained(store)
    paths = [arrival.path for arrival in catcher.arrivals]
    assert paths.count("/abandoned") == len(abandoned)
    assert paths.count("/future") == 1
    fired = await query(store, "select fired from job_cursor where job_id = $1", future.id)
    assert [row["fired"] for row in fired] == [1]


def target(catcher, path, later):
    """A target that is sealed in part, whose body this release cannot read when it is `later`'s."""
    body = {"job": "{{job}}", "fire_time": "{{fire_time}}", "attempt": "{{attempt}}"}
    body |= {"idempotency_key": "{{idempotency_key}}", "instance": "{{instance}}"}
    return HttpTarget(f"{catcher.url}/{path}", body=body) if later else HttpTarget(f"{catcher.url}/{path}")

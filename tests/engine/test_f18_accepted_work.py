"""F18: how much runs at once is bounded where it runs for long, too: behind a 202, and not for a queue of workers."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from horae.domain.errors import Invalid
from horae.domain.instances.outcomes import Success
from horae.domain.limits.limits import Limit
from horae.domain.targets.targets import HttpTarget, QueueTarget
from horae.domain.tenants.tenants import Allowance
from horae.domain.workers.completion_tokens import completion_token
from horae.domain.workers.workers import Finish
from horae.service.schedules import schedules
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.service.workers import workers
from horae.upkeep.copies import Copier
from tests.engine.running import hurry, running
from tests.steps import a_job, a_type, query, until

TTL = timedelta(seconds=8)
TASKS = 6
ACCEPTED = "select id, attempt, token from instance_live where state = 'RUNNING' and worker_id = 'target'"


async def finish_accepted(ctx, store):
    """The targets tell the ends of all they have accepted."""
    rows = await query(store, ACCEPTED)
    ends = [
        Finish(row["id"], row["attempt"], completion_token(row["id"], row["attempt"], row["token"]), Success())
        for row in rows
    ]
    if ends:
        await workers.finish(ctx, ends)
    return len(ends)


async def schedule_tasks(ctx, store, catcher, **facts):
    """Tasks of a type whose target accepts everything and tells of the end much later."""
    catcher.answer = lambda _: 202
    target = HttpTarget(catcher.url, completion_seconds=300, **facts.pop("target", {}))
    await a_type(ctx, "T", target=target, **facts)
    await Copier(store).once()
    for n in range(TASKS):
        await tasks.schedule(ctx, "T", str(n))


@pytest.mark.parametrize("limited", ["job", "quota", "tenant"])
async def test_f18_no_more_is_accepted_at_once_than_a_limit_of_concurrency_allows(ctx, store, catcher, limited):
    two = Limit(concurrency=2)
    if limited != "job":
        allowance = Allowance(limit=two) if limited == "tenant" else Allowance(quotas={"reports": two})
        await tenants.allow(ctx, ctx.tenant.name, allowance)
    facts = {"job": {"limit": two}, "quota": {"quotas": ("reports",)}, "tenant": {}}[limited]
    await schedule_tasks(ctx, store, catcher, **facts)
    async with running(store, ttl=TTL) as node:
        ended = 0
        while ended < TASKS:
            await until(lambda: len(catcher.arrivals) >= min(ended + 2, TASKS))  # noqa: B023
            for _ in range(3):  # those who wait have asked again, and were refused
                held = sum(node.admission.held.values())
                await until(lambda: ended + 2 >= TASKS or sum(node.admission.held.values()) > held)  # noqa: B023
            assert len(catcher.arrivals) <= ended + 2
            await until(has_accepted(store, len(catcher.arrivals) - ended))
            ended += await finish_accepted(ctx, store)
    assert len(catcher.arrivals) == TASKS


async def test_f18_a_deadline_that_passes_gives_the_permit_back(ctx, store, catcher):
    await schedule_tasks(ctx, store, catcher, limit=Limit(concurrency=1))
    async with running(store, ttl=TTL) as node:
        await until(has_accepted(store, 1))
        assert len(catcher.arrivals) == 1
        await hurry(store, node, minutes=6)
        await until(lambda: len(catcher.arrivals) > 1, 30)


async def test_f18_a_node_that_takes_over_counts_what_was_accepted_before(ctx, store, catcher):
    await schedule_tasks(ctx, store, catcher, limit=Limit(concurrency=1))
    async with running(store, ttl=TTL):
        await until(has_accepted(store, 1))
    async with running(store, ttl=TTL) as node:
        accepted = [post.accepted for post in node.runners.values()]
        await until(lambda: any(one._counted for one in accepted))
        assert len(catcher.arrivals) == 1
        assert await finish_accepted(ctx, store) == 1
        await until(lambda: len(catcher.arrivals) == 2)


async def test_f18_the_requests_that_a_target_bears_at_once_end_with_their_answers(ctx, store, catcher):
    await schedule_tasks(ctx, store, catcher, target={"max_concurrency": 1})
    async with running(store, ttl=TTL):
        await until(has_accepted(store, TASKS))


@pytest.mark.parametrize("facts", [{"limit": Limit(concurrency=1)}, {"limit": Limit(rate=5)}, {"quotas": ("reports",)}])
async def test_f18_a_queue_of_workers_has_no_limit_that_nobody_would_keep(ctx, store, facts):
    with pytest.raises(Invalid, match="workers"):
        await a_job(ctx, "pulled", target=QueueTarget("q"), **facts)
    job = await a_job(ctx, "pulled", target=QueueTarget("q"))
    with pytest.raises(Invalid, match="workers"):
        await schedules.update(ctx, "pulled", replace(job.definition, **facts))
    await a_job(ctx, "pushed", **facts)


def has_accepted(store, many):
    async def has():
        return len(await query(store, ACCEPTED)) >= many

    return has

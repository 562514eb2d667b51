"""One tenant's workers fill all that a tenant may have in line; another tenant's worker is given its task."""

import asyncio

import pytest

from horae.domain.errors import RateLimited
from horae.domain.targets.targets import QueueTarget
from horae.service.context import Context, PlatformContext
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.service.workers import polls
from horae.service.workers.polls import Polls
from tests.steps import a_type, until

MANY = 60


async def test_a_tenant_with_every_place_in_line_taken_keeps_no_other_tenants_worker_waiting(ctx, store, monkeypatch):
    monkeypatch.setattr(polls, "MAX_WAITING", MANY)
    victim = Context.of(store, await tenants.create(PlatformContext(store, "test"), "globex", width=16), "test")
    await a_type(victim, "T", target=QueueTarget("q"))
    line = Polls(store)
    for listener in line.listeners:
        await listener.once()
    crowd = [asyncio.create_task(line.poll(ctx, f"nobody-{n}", "w", wait=60)) for n in range(MANY)]
    try:
        await until(lambda: [watch.waiting for watch in line.watches.values()] == [MANY], 30)
        with pytest.raises(RateLimited):
            await line.poll(ctx, "one-more", "w", wait=60)
        worker = asyncio.create_task(line.poll(victim, "q", "w", wait=60))
        await until(lambda: victim.tenant.id in line.watches, 30)
        await tasks.schedule(victim, "T", "k")
        assert [one.key for one in await worker] == ["k"]
        assert not any(task.done() for task in crowd)
    finally:
        await line.close()
        await asyncio.gather(*crowd)

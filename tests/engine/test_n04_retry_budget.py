"""N4: retries that a node reads from rows keep to the budget of their target, as those that it follows in memory."""

import asyncio
from datetime import timedelta

from horae.domain.instances.instances import Lane
from horae.domain.instances.outcomes import ErrorCode, Retryable
from horae.domain.targets.targets import HttpTarget
from horae.engine.admission.target import BURST_RETRIES
from horae.service.tasks import tasks
from horae.upkeep.copies import Copier
from tests.engine.running import running
from tests.steps import a_type, claim_everywhere, query, settle, until

TASKS = 100


async def test_n04_a_target_that_comes_back_after_a_takeover_is_not_buried_by_its_retries(ctx, store, catcher):
    await a_type(ctx, "T", target=HttpTarget(catcher.url))
    await Copier(store).once()
    for n in range(TASKS):
        await tasks.schedule(ctx, "T", str(n))
    for ran in await claim_everywhere(store):
        await settle(store, ran, Retryable(ErrorCode.HTTP_5XX, "answered 503", 3.0))
    rows = await query(store, "select lane from instance_live where state = 'FAIL'")
    assert [row["lane"] for row in rows] == [Lane.RETRY] * TASKS
    async with running(store, ttl=timedelta(seconds=8)):
        await until(lambda: len(catcher.arrivals) > 0)
        first = catcher.arrivals[0].began
        await until(lambda: asyncio.get_running_loop().time() > first + 1)
        at_once = sum(one.began < first + 1 for one in catcher.arrivals)
    assert at_once <= 2 * BURST_RETRIES

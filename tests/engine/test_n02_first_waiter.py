"""N2: a fire that a shared limit holds for more than a moment is recorded, the first that waits there as all others."""

from datetime import timedelta

import pytest

from horae.domain.limits.limits import Limit
from horae.domain.schedules.triggers import IntervalTrigger
from horae.domain.targets.targets import HttpTarget
from horae.domain.tenants.tenants import Allowance
from horae.service.tenants import tenants
from horae.upkeep.copies import Copier
from tests.engine.running import running
from tests.steps import a_job, query, until


@pytest.mark.parametrize("jobs", [1, 4])
async def test_n02_every_schedule_goes_on_while_a_limit_holds_its_calls_back(ctx, store, catcher, jobs):
    """Calls every second, one at a time for the whole tenant, and the first of them does not end."""
    catcher.answer = lambda _: None
    await tenants.allow(ctx, ctx.tenant.name, Allowance(limit=Limit(concurrency=1)))
    await Copier(store).once()
    start = store.cells[0].clock.now().replace(microsecond=0) + timedelta(seconds=3)
    for n in range(jobs):
        target = HttpTarget(f"{catcher.url}/{n}", read_timeout=30)
        await a_job(ctx, f"slow-{n}", IntervalTrigger(1, start), target=target)

    async def go_on():
        rows = await query(store, "select fired from job_cursor")
        return min(row["fired"] for row in rows) >= 5

    async with running(store):
        await until(lambda: len(catcher.arrivals) == 1)
        await until(go_on)
        assert len(catcher.arrivals) == 1
        catcher.release()

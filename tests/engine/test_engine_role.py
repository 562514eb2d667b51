"""A node with the rights of the role it has in production, and no more."""

from contextlib import AsyncExitStack
from datetime import timedelta

from structlog.testing import capture_logs

from horae.boot.secrets import secrets_of
from horae.boot.serving import run_node
from horae.domain.instances.retries import RetryPolicy
from horae.domain.limits.limits import Limit
from horae.domain.schedules import OnOverlap, Policies
from horae.domain.schedules.triggers import OnceTrigger, cron
from horae.domain.targets.targets import HttpTarget
from horae.domain.tenants.tenants import Allowance
from horae.runtime.settings import Settings
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.store.store import Store
from tests.receiver import receiving
from tests.steps import a_job, a_type, move_clock, query, until
from tests.store.walls import as_node


async def test_a_node_does_all_its_work_with_the_rights_of_its_role(ctx, store, cells):
    settings = Settings(environment="test")

    async def all_is_done():
        ended = await query(store, "select distinct state from instance_history")
        waits = await query(store, "select distinct state from instance_live")
        single = await query(store, "select from job where name = 'single' and status = 'COMPLETED'")
        dead = await query(store, "select from dead_letter")
        enough = {"SUCCESS", "DEAD"} <= {row["state"] for row in ended} and {"FAIL"} <= {row["state"] for row in waits}
        return bool(enough and single and dead)

    async with AsyncExitStack() as leaving:
        receiver = leaving.enter_context(receiving())
        good = HttpTarget(f"{receiver.url}/good")
        now = store.cells[0].clock.now()
        await tenants.allow(ctx, ctx.tenant.name, Allowance(limit=Limit(rate=1000, concurrency=100)))
        await a_job(ctx, "every-minute", cron("* * * * *"), target=good)
        await a_job(ctx, "exclusive", cron("* * * * *"), target=good, policies=Policies(overlap=OnOverlap.QUEUE_ONE))
        await a_job(
            ctx, "dies", cron("* * * * *"), target=HttpTarget("http://127.0.0.1:9/"), retry=RetryPolicy(max_failures=1)
        )
        await a_job(ctx, "retries", cron("* * * * *"), target=HttpTarget("http://127.0.0.1:9/"))
        await a_job(ctx, "single", OnceTrigger(now + timedelta(seconds=30)), target=good)
        await a_job(ctx, "pulled", cron("* * * * *"))
        await a_type(ctx, target=good)
        await tasks.schedule(ctx, "ARTICLE_PUBLISH", "42", at=now + timedelta(seconds=20))
        await move_clock(store, seconds=120)
        engine = await leaving.enter_async_context(Store.of(as_node(cells)))
        await leaving.enter_async_context(run_node(settings, engine, await secrets_of(settings, engine)))
        logs = leaving.enter_context(capture_logs())
        await until(all_is_done, 60)
    assert "duty.failed" not in [line["event"] for line in logs]
    assert await query(store, "select from quota_bucket")
    assert await query(store, "select from signal")

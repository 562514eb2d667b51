"""What one tenant's rules, rows and channels do to alerts concerns that tenant alone."""

import pytest

from horae.runtime import setbacks
from horae.service.context import Context, PlatformContext
from horae.service.tenants import tenants
from tests.alerts.world import a_channel, alert_world, die
from tests.steps import a_job, query

UNREADABLE_ALLOWANCE = """
    update reference set body = jsonb_set(body, '{allowance}', '{"weight": 5000}') where kind = 'tenant' and id = $1"""


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(setbacks, "FIRST_PAUSE_S", 0.0)


@pytest.fixture
async def other(store):
    return Context.of(store, await tenants.create(PlatformContext(store, "test"), "globex", width=4096), "test")


@pytest.fixture
async def both(ctx, other, hook):
    """The two duties, and two tenants with a channel."""
    async with alert_world(ctx.store, ctx.tenant.id, other.tenant.id) as world:
        for one in (ctx, other):
            await a_channel(one, hook)
        await world.round()
        yield world


async def test_a_channel_is_not_called_while_the_egress_rules_of_its_tenant_are_unknown(ctx, both, hook):
    await die(ctx, await a_job(ctx), 1)
    await query(ctx.store, UNREADABLE_ALLOWANCE, ctx.tenant.id)
    await both.round(seconds=15)
    assert hook.tried == 0
    [message] = await query(ctx.store, "select state, error from alert_message")
    assert message["state"] == "PENDING"
    assert "egress" in message["error"]
    await query(ctx.store, "update reference set body = body - 'allowance' where id = $1", ctx.tenant.id)
    await both.round(seconds=15)
    assert [one["status"] for one in hook.got] == ["firing"]

"""A tenant's own rules of where its calls may go hold for its webhooks, and for calls of a tenant not known yet."""

import asyncio

import pytest

from horae.delivery.broker_connections import Lines
from horae.delivery.client import Client
from horae.delivery.outlets import Outlets
from horae.delivery.secrets import secrets_in_memory
from horae.domain.errors import Unavailable
from horae.domain.events.channels import Subscription, WebhookAddress
from horae.domain.ids import shard_in
from horae.domain.targets.egress import Egress
from horae.domain.tenants.tenants import Allowance
from horae.engine.allowances import Allowances
from horae.service.context import PlatformContext
from horae.service.events import subscriptions
from horae.service.tasks import tasks
from horae.service.tenants import tenants
from horae.upkeep.copies import Copier
from horae.upkeep.feed import Feed
from tests.egress import ANYWHERE
from tests.events.test_outward import SECRET, Hook
from tests.steps import a_type


@pytest.fixture
async def hook():
    hook = Hook(SECRET)
    server = await asyncio.start_server(hook.visited, "127.0.0.1", 0)
    hook.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/events"
    yield hook
    server.close()


@pytest.fixture
async def feed(ctx, store):
    """A deployment whose own rules open this machine; nothing of the tenant has ever come due here."""

    async def learn(_tenant_id, _name):
        pass

    client = Client(ANYWHERE)
    feed = Feed(
        store, Outlets(Lines({}), client, secrets_in_memory({ctx.tenant.id: {"crm": SECRET}}), learn), store.shards_of
    )
    yield feed
    await feed.close()
    await client.close()


async def subscribe(ctx, hook):
    await subscriptions.put(ctx, "hook", Subscription(WebhookAddress(hook.url, "crm")))
    await a_type(ctx, "PUBLISH")
    await Copier(ctx.store).once()


async def tell(ctx, feed, key):
    """Something happens, and the feed looks at it."""
    await tasks.schedule(ctx, "PUBLISH", key)
    while await feed.once() or feed._going:
        pass


async def narrow(store, egress):
    await tenants.allow(PlatformContext(store, "test"), "acme", Allowance(egress=egress))
    await Copier(store).once()


async def test_a_webhook_is_called_only_where_its_tenant_may_call(ctx, store, feed, hook):
    await narrow(store, Egress())
    await subscribe(ctx, hook)
    await tell(ctx, feed, "a-1")
    assert hook.posts == 0
    assert "may not be called" in (await subscriptions.show(ctx, "hook")).progress.error


async def test_rules_that_are_narrowed_hold_from_the_next_step_on(ctx, store, feed, hook):
    await subscribe(ctx, hook)
    await tell(ctx, feed, "a-1")
    posts = hook.posts
    assert posts
    await narrow(store, Egress())
    await tell(ctx, feed, "a-2")
    assert hook.posts == posts


async def test_rules_of_a_tenant_without_a_copy_are_read_at_its_home(ctx, store):
    """No copy in a cell is no leave to go by the deployment's rules."""
    await tenants.allow(PlatformContext(store, "test"), "acme", Allowance(egress=Egress()))
    home = store.cell(shard_in(ctx.tenant.id))
    [elsewhere] = [cell for cell in store.cells if cell is not home]
    allowances = Allowances(lambda _tenant_id: home)
    with pytest.raises(Unavailable, match="not known"):
        allowances.egress(ctx.tenant.id)
    await allowances.learn(elsewhere, {ctx.tenant.id})
    assert allowances.egress(ctx.tenant.id) == Egress()

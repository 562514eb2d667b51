"""A compensation is refused for good only where it can never be made: not while its key is held, or a copy is late."""

import asyncpg
import msgspec
import pytest

from horae.domain.ids import shard_in
from horae.domain.targets.targets import QueueTarget
from horae.runtime import setbacks
from horae.runtime.randomness import new_id
from horae.service.context import Context, PlatformContext
from horae.service.tasks import compensations, tasks
from horae.service.tenants import tenants as tenancies
from horae.service.workers import workers
from horae.store import idempotency
from horae.store.tenants import tenants
from horae.upkeep.copies import Copier
from horae.upkeep.relay import Relay
from tests.steps import a_type, query
from tests.upkeep.test_relay import asking, decisions

HOLD = """
    insert into idempotency
        (shard_id, tenant_id, route, resource, key, fingerprint, instance_id, answer, created_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, null, null, now(), now() + interval '1 day')"""

UNREADABLE = """
    update reference set body = jsonb_set(body, '{allowance}', '{"weight": 5000}') where kind = 'tenant' and id = $1"""


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(setbacks, "FIRST_PAUSE_S", 0.0)
    monkeypatch.setattr(idempotency, "FIRST_REQUEST_TIMEOUT", "50ms")


@pytest.fixture
async def asked(ctx, store):
    """A payment whose end asked for a refund."""
    await a_type(ctx, "PAY", target=QueueTarget("pay"))
    await a_type(ctx, "REFUND", target=QueueTarget("refund"))
    await Copier(store).once()
    await tasks.schedule(ctx, "PAY", "order")
    [payment] = await workers.claim(ctx, "pay", "w")
    await workers.finish(ctx, [asking(payment, ("REFUND", "r-0"))])


async def refused(store):
    return await query(store, "select from outbox where event = 'COMPENSATION_REFUSED'")


async def test_a_key_that_a_frozen_node_holds_uncommitted_is_waited_for(ctx, store, asked, monkeypatch):
    reserve, held = idempotency.reserve, []

    async def held_first(tx, request, instance_id, answer):
        if not held:
            held.append(await asyncpg.connect(store.cell(request.shard).dsn))
            await held[0].execute("begin")
            await held[0].execute(HOLD, *request)
        return await reserve(tx, request, instance_id, answer)

    monkeypatch.setattr(idempotency, "reserve", held_first)
    relay = Relay(store, store.shards_of)
    await relay.once()
    await held[0].close()  # the frozen node's transaction is rolled back
    await relay.once()
    assert not await refused(store)
    assert await decisions(ctx, "r-0") == ["created"]


async def test_a_tenant_whose_copy_has_not_arrived_is_waited_for(ctx, store, asked):
    await query(store, "delete from reference where kind = 'tenant' and id = $1", ctx.tenant.id)
    relay = Relay(store, store.shards_of)
    await relay.once()
    assert not await refused(store)
    async with store.tx(shard_in(ctx.tenant.id)) as tx:
        await tenants.publish(tx, ctx.tenant.id)
    await Copier(store).once()
    await relay.once()
    assert await decisions(ctx, "r-0") == ["created"]


async def test_a_tenant_whose_allowance_only_a_newer_release_can_read_is_waited_for(ctx, store, asked):
    await query(store, UNREADABLE, ctx.tenant.id)
    relay = Relay(store, store.shards_of)
    await relay.once()
    assert not await refused(store)
    await query(store, "update reference set body = body - 'allowance' where id = $1", ctx.tenant.id)
    await relay.once()
    assert await decisions(ctx, "r-0") == ["created"]


async def test_a_row_that_cannot_be_read_refuses_no_request(ctx, store, asked, monkeypatch):
    """Only a request that cannot be read itself is refused for good."""
    found = tasks.schedule

    async def unreadable(*_, **__):
        raise msgspec.ValidationError("a row of a newer release")

    monkeypatch.setattr(tasks, "schedule", unreadable)
    relay = Relay(store, store.shards_of)
    await relay.once()
    assert not await refused(store)
    monkeypatch.setattr(tasks, "schedule", found)
    await relay.once()
    assert await decisions(ctx, "r-0") == ["created"]


async def test_a_request_that_cannot_be_read_is_refused(store, asked):
    await query(store, "update outbox set body = body - 'type' where event = 'COMPENSATION_ASKED'")
    await Relay(store, store.shards_of).once()
    assert len(await refused(store)) == 1


async def test_a_tenant_that_was_removed_is_refused(ctx, store, asked):
    await query(
        store,
        """update reference set body = body || '{"held": {"status": "REMOVED", "until": null}}'
        where kind = 'tenant' and id = $1""",
        ctx.tenant.id,
    )
    await Relay(store, store.shards_of).once()
    assert len(await refused(store)) == 1


async def test_a_type_that_was_made_since_the_tenant_was_widened_is_found_by_whoever_has_not_heard_of_that(store):
    narrow = Context.of(store, await tenancies.create(PlatformContext(store, "test"), "narrow", width=1), "test")
    wide = Context.of(store, await tenancies.widen(PlatformContext(store, "test"), "narrow", 256), "test")
    home = shard_in(narrow.tenant.id)
    name = next(name for name in map("REFUND-{}".format, range(100)) if wide.tenant.shard(name) != home)
    await a_type(wide, name, target=QueueTarget("refund"))
    at = store.cell(home).clock.now()
    await compensations.create_task(narrow, new_id(home, at), at, {"number": 0, "type": name, "key": "r-0"})
    assert (await tasks.show(wide, name, "r-0")).decisions

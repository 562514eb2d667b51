"""What was removed is forgotten when every copy has heard of it, and what waits for that is bounded."""

import pytest

from horae.domain.errors import CountReached, NotFound
from horae.domain.events.channels import Subscription, WebhookAddress
from horae.domain.ids import shard_in
from horae.domain.limits import counts
from horae.domain.limits.counts import CountBounds
from horae.domain.tenants.tenants import Allowance
from horae.security.roles import Role
from horae.service.context import Context, PlatformContext
from horae.service.encryption import secrets
from horae.service.events import subscriptions
from horae.service.identity import api_keys, role_bindings
from horae.service.tenants import tenants
from horae.upkeep import tombstones
from horae.upkeep.copies import Copier
from horae.upkeep.identities import IdentityCopier
from horae.upkeep.tombstones import TombstoneForgetter
from tests.steps import move_clock, query


async def rows_of(store, table):
    return [
        [row["name"] for row in await query(cell, f"select name from {table} order by name")] for cell in store.cells
    ]


async def put_and_remove(ctx, *names):
    for name in names:
        await secrets.put(ctx, name, "value")
        await secrets.remove(ctx, name)


async def test_removed_secrets_and_channels_are_forgotten_in_all_cells_after_a_day(ctx, store, monkeypatch):
    monkeypatch.setattr(tombstones, "BATCH", 2)
    await put_and_remove(ctx, "a", "b", "c")
    await secrets.put(ctx, "kept", "value")
    await a_subscription(ctx, "gone")
    await a_subscription(ctx, "stays")
    await subscriptions.remove(ctx, "gone")
    await Copier(store).once()
    forgetter = TombstoneForgetter(store)
    assert await forgetter.once() == 0
    await move_clock(store, hours=25)
    while await forgetter.once():
        pass
    assert await rows_of(store, "secret") == [["kept"], ["kept"]]
    assert await rows_of(store, "channel") == [["stays"], ["stays"]]


async def test_a_cell_that_missed_a_removal_hears_of_it_before_it_is_forgotten(ctx, store, tenant):
    home = store.cell(shard_in(tenant.id))
    [other] = [cell for cell in store.cells if cell is not home]
    await secrets.put(ctx, "a", "value")
    await Copier(store).once()
    await secrets.remove(ctx, "a")
    await move_clock(store, hours=25)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(other, "statement", refuses)
        assert await TombstoneForgetter(store).once() == 0
    assert await query(home, "select from secret"), "nobody else could tell the other cell"
    await TombstoneForgetter(store).once()
    assert await rows_of(store, "secret") == [[], []]


async def test_a_name_that_is_used_again_replaces_what_a_late_copy_left(ctx, store, tenant):
    home = store.cell(shard_in(tenant.id))
    await put_and_remove(ctx, "a")
    await Copier(store).once()
    await query(home, "delete from secret")
    await secrets.put(ctx, "a", "anew")
    await Copier(store).once()
    assert [row["sealed"] is not None for row in await query(store, "select sealed from secret")] == [True, True]


async def test_who_puts_and_removes_ever_new_names_is_refused(ctx, store, monkeypatch):
    monkeypatch.setattr(counts, "MOST_REMOVED", 3)
    await put_and_remove(ctx, "a", "b", "c")
    with pytest.raises(CountReached, match="removed 3 secrets"):
        await secrets.put(ctx, "d", "value")
    await put_and_remove(ctx, "a", "b", "a")
    await move_clock(store, hours=25)
    await TombstoneForgetter(store).once()
    await secrets.put(ctx, "d", "value")


async def test_revoked_keys_and_emptied_bindings_are_forgotten_in_all_cells(ctx, store):
    made = await api_keys.create(ctx, "old", [Role.VIEWER])
    kept = await api_keys.create(ctx, "kept", [Role.VIEWER])
    await role_bindings.bind(ctx, "user:gone", [Role.VIEWER])
    await IdentityCopier(store).once()
    await api_keys.revoke(ctx, made.key.id)
    await role_bindings.bind(ctx, "user:gone", [])
    await move_clock(store, hours=25)
    assert await TombstoneForgetter(store).once() == 3
    for cell in store.cells:
        assert [row["name"] for row in await query(cell, "select name from api_key")] == ["kept"]
        assert [row["principal"] for row in await query(cell, "select principal from role_binding")] == [
            kept.key.principal
        ]
    with pytest.raises(NotFound):
        await role_bindings.bind(ctx, made.key.principal, [Role.VIEWER])


async def test_keys_and_bindings_are_bounded(store, tenant):
    await tenants.allow(PlatformContext(store, "test"), tenant.name, Allowance(counts=CountBounds(keys=2, bindings=1)))
    ctx = Context.of(store, tenant, "test")
    made = [await api_keys.create(ctx, name, [Role.VIEWER]) for name in ("a", "b")]
    with pytest.raises(CountReached, match="2 keys"):
        await api_keys.create(ctx, "c", [Role.VIEWER])
    await api_keys.revoke(ctx, made[0].key.id)
    await api_keys.create(ctx, "c", [Role.VIEWER])
    await role_bindings.bind(ctx, "user:a", [Role.VIEWER])
    await role_bindings.bind(ctx, "user:a", [Role.EDITOR])
    await role_bindings.bind(ctx, "user:b", [])
    with pytest.raises(CountReached, match="1 bindings"):
        await role_bindings.bind(ctx, "user:b", [Role.VIEWER])


async def a_subscription(ctx, name):
    await subscriptions.put(ctx, name, Subscription(WebhookAddress("http://127.0.0.1:9/", "crm")))


def refuses():
    raise ConnectionRefusedError

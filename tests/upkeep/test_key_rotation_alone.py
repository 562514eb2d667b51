"""What cannot be sealed or wrapped anew of one tenant keeps no other tenant's keys waiting."""

from itertools import count

import pytest

from horae.domain.errors import Unavailable
from horae.domain.ids import shard_in
from horae.domain.placement import home_of
from horae.security import keyrings
from horae.service.context import Context, PlatformContext
from horae.service.encryption import data_keys, secrets
from horae.service.tenants import tenants
from horae.upkeep import key_rotation
from horae.upkeep.key_rotation import Reencrypter, Rewrapper
from tests.keyring import copied
from tests.steps import move_clock, query

SECONDS = key_rotation.NEW_KEY_SETTLE_TIME.total_seconds() + 1


@pytest.fixture
def ring(tmp_path, store):
    return copied(tmp_path / "ring.json", store)


@pytest.fixture
async def pair(store):
    """Two tenants at home in one cell, the first of whom is walked first."""
    names = [name for _, name in zip(range(200), map("tenant-{}".format, count()), strict=False)]
    here = [name for name in names if store.cell(home_of(name)) is store.cells[0]][:2]
    made = [await tenants.create(PlatformContext(store, "test"), name, width=1) for name in sorted(here, key=home_of)]
    return [Context.of(store, tenant, "test") for tenant in made]


async def rotate(pair, store):
    for ctx in pair:
        assert await data_keys.rotate(ctx) == 2
    await move_clock(store, seconds=SECONDS)


async def walked(store):
    """The tenants whose newest key was walked for."""
    rows = await query(store, "select tenant_id from data_key where version = 2 and resealed_at is not null")
    return {row["tenant_id"] for row in rows}


async def test_a_removed_secret_is_passed_over(ring, pair, store):
    for ctx in pair:
        await secrets.put(ctx, "token", "s3cret")
    await secrets.put(pair[0], "gone", "s3cret")
    await secrets.remove(pair[0], "gone")
    await rotate(pair, store)
    assert await Reencrypter(store).once() == 2
    assert await walked(store) == {ctx.tenant.id for ctx in pair}


async def test_a_secret_that_does_not_open_is_left_as_it_is(ring, pair, store):
    for ctx in pair:
        await secrets.put(ctx, "token", "s3cret")
    await query(store, "update secret set hosts = '{other.example}' where tenant_id = $1", pair[0].tenant.id)
    await rotate(pair, store)
    assert await Reencrypter(store).once() == 1
    assert await walked(store) == {ctx.tenant.id for ctx in pair}


async def test_a_tenant_that_fails_hides_no_other_even_where_it_fills_a_page(ring, pair, store, monkeypatch):
    await rotate(pair, store)
    monkeypatch.setattr(key_rotation, "PAGE", 1)
    learn, failed = store.cipher.learn, []

    async def learns(tenant_id, version):
        if tenant_id == pair[0].tenant.id:
            failed.append(version)
            raise ValueError("nobody expected this")
        return await learn(tenant_id, version)

    monkeypatch.setattr(store.cipher, "learn", learns)
    resealer = Reencrypter(store)
    for _ in range(3):
        await resealer.once()
    assert await walked(store) == {pair[1].tenant.id}
    assert failed == [2], "it is left alone for a while"


async def test_a_data_key_that_cannot_be_wrapped_anew_is_named_and_the_others_are(ring, pair, store):
    await query(store, "update data_key set wrapped = 'gone:xyz' where tenant_id = $1", pair[0].tenant.id)
    keyrings.rotate(ring, "second")
    rewrapper = Rewrapper(store, store.cipher)
    await rewrapper.once()
    rows = await query(store, "select wrapped from data_key where tenant_id = $1", pair[1].tenant.id)
    assert {row["wrapped"].split(":")[1] for row in rows} == {"second"}
    with pytest.raises(Unavailable, match=str(pair[0].tenant.id)):
        await rewrapper.rewrap_all()


async def test_the_walk_of_keys_ends_where_the_current_key_itself_is_away(ring, pair, store, monkeypatch):
    """Else every one of thousands would wait for it."""
    keyrings.rotate(ring, "second")
    rewrapper, asked = Rewrapper(store, store.cipher), []
    keks = store.cipher.keks
    current = await keks.current()

    async def away(*_):
        asked.append(1)
        raise key_rotation.KeysUnavailable("no answer")

    async def current_once():
        if asked:
            raise key_rotation.KeysUnavailable("no answer")
        return current

    monkeypatch.setattr(keks, "rewrap", away)
    monkeypatch.setattr(keks, "current", current_once)
    with pytest.raises(key_rotation.KeysUnavailable):
        await rewrapper._cell(store.cell(shard_in(pair[0].tenant.id)))
    assert len(asked) == 1

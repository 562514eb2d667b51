"""After a rotation: data keys are wrapped anew, live payloads and secrets are sealed anew, what has ended is not."""

import pytest

from horae.domain.errors import KeysUnavailable
from horae.domain.schedules.triggers import ManualTrigger
from horae.repositories.envelopes import Envelopes
from horae.repositories.secret_book import SecretBook
from horae.security import keyrings
from horae.security.keks import Keks
from horae.security.keyrings import Keyring
from horae.security.payload_cipher import PayloadCipher
from horae.service.encryption import data_keys, secrets
from horae.service.instances import instances
from horae.service.tasks import tasks
from horae.upkeep import key_rotation
from horae.upkeep.copies import Copier
from horae.upkeep.key_rotation import Reencrypter, Rewrapper
from tests.keyring import clear, copied
from tests.steps import a_job, a_type, move_clock, query

SECONDS = key_rotation.NEW_KEY_SETTLE_TIME.total_seconds() + 1


@pytest.fixture
def ring(tmp_path, store):
    return copied(tmp_path / "ring.json", store)


async def versions(store):
    rows = await query(store, "select payload from instance_live where payload is not null")
    return sorted({row["payload"].get("$sealed", "clear")[:4] for row in rows})


async def later(store):
    await move_clock(store, seconds=SECONDS)


async def test_live_payloads_are_sealed_with_the_newest_key_and_clear_ones_for_the_first_time(ring, ctx, store):
    await a_type(ctx)
    sealing, store.cipher = store.cipher, PayloadCipher()
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "clear", payload={"n": "clear"})
    store.cipher = sealing
    for n in range(30):
        await tasks.schedule(ctx, "ARTICLE_PUBLISH", f"old{n}", payload={"n": f"old{n}"})
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "none")
    assert await data_keys.rotate(ctx) == 2
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "new", payload={"n": "new"})
    assert await versions(store) == ["1.1.", "1.2.", "clea"]
    assert await Reencrypter(store).once() == 0  # others may still seal with the key before
    await later(store)
    assert await Reencrypter(store).once() == 31
    assert await versions(store) == ["1.2."]
    for row in await query(store, "select * from instance_live where payload is not null"):
        assert (await clear(store, row))["payload"] == {"n": row["business_key"]}
    assert await Reencrypter(store).once() == 0
    [*_, walked] = await query(store, "select resealed_at from data_key where version = 2 order by resealed_at")
    assert walked["resealed_at"] is not None


async def test_a_payload_that_changes_meanwhile_is_left_alone(ring, ctx, store, monkeypatch):
    await a_type(ctx)
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "42", payload="before")
    await data_keys.rotate(ctx)
    await later(store)
    real = Reencrypter._reencrypt

    async def changed_meanwhile(self, key, one):
        await tasks.schedule(ctx, "ARTICLE_PUBLISH", "42", payload="after")
        return await real(self, key, one)

    monkeypatch.setattr(Reencrypter, "_reencrypt", changed_meanwhile)
    assert await Reencrypter(store).once() == 0
    [row] = await query(store, "select * from instance_live")
    assert (await clear(store, row))["payload"] == "after"


async def test_data_keys_are_wrapped_anew_and_the_old_key_can_go(ring, ctx, store):
    await a_job(ctx, "run", ManualTrigger(), payload={"a": 1})
    keyrings.rotate(ring, "second")
    assert await Rewrapper(store, store.cipher).rewrap_all() == 1
    assert await Rewrapper(store, store.cipher).rewrap_all() == 0
    await Copier(store).once()
    rows = await query(store, "select wrapped, revision from data_key")
    assert len({row["wrapped"] for row in rows}) == 1
    assert [row["wrapped"].split(":")[1] for row in rows] == ["second"] * 2
    alone = keyrings.load(ring)
    ring.unlink()
    keyrings._write(ring, alone._replace(keys={"second": alone.keys["second"]}))
    store.cipher = Envelopes(store, Keks([Keyring(ring)]))
    made = await instances.trigger(ctx, "run", "k", payload={"b": 2}, even_if_down=True)
    [row] = await query(store, "select * from instance_live")
    assert (row["id"], (await clear(store, row))["payload"]) == (made.instance_id, {"b": 2})


async def test_secrets_are_sealed_anew_and_stay_the_same(ring, ctx, store):
    await secrets.put(ctx, "token", "s3cret")
    await data_keys.rotate(ctx)
    await later(store)
    assert await Reencrypter(store).once() == 1
    [row] = await query(store, "select sealed from secret")
    assert row["sealed"]["$sealed"].startswith("1.2.")
    await Copier(store).once()
    for cell in store.cells:
        book = SecretBook(store)
        await book.learn(cell, {ctx.tenant.id: ["token"]})
        assert book(ctx.tenant.id, "token") == "s3cret"


async def test_a_key_that_cannot_be_had_postpones_everything(ring, ctx, store, tmp_path):
    await a_type(ctx)
    await tasks.schedule(ctx, "ARTICLE_PUBLISH", "42", payload=1)
    await data_keys.rotate(ctx)
    await later(store)
    keyrings.create(tmp_path / "other.json", "other")
    store.cipher = Envelopes(store, Keks([Keyring(tmp_path / "other.json")]))
    assert await Reencrypter(store).once() == 0
    assert await versions(store) == ["1.1."]
    with pytest.raises(KeysUnavailable):
        await store.cipher.key(ctx.tenant.id)

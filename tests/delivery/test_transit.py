"""Data keys wrapped by a key engine behind HTTP: our stand-in for Vault, in a process of its own."""

from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import pytest

from horae.boot.encryption import ANYWHERE
from horae.delivery.client import Client
from horae.delivery.transit import Transit, TransitKek
from horae.domain.errors import KeysUnavailable, Unopenable
from horae.security import keyrings
from horae.security.keks import Keks
from horae.security.keyrings import Keyring
from tests.delivery.transit import TOKEN, KeyEngine, key_engine


@pytest.fixture
def engine() -> Iterator[KeyEngine]:
    with key_engine() as engine:
        yield engine


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    client = Client(ANYWHERE)
    yield client
    await client.close()


def kek(client: Client, engine: KeyEngine, token: str = TOKEN) -> TransitKek:
    return TransitKek(client, Transit(engine.url, "horae", lambda: token))


async def test_a_data_key_is_wrapped_unwrapped_and_wrapped_anew(engine, client):
    keks, tenant = Keks([kek(client, engine)]), uuid4()
    old = await keks.make(tenant, 1)
    assert old.startswith("transit:vault:v1:")
    assert old.startswith(await keks.current())
    engine.rotate("horae")
    assert not old.startswith(await keks.current())
    new = await keks.rewrap(old)
    assert new.startswith("transit:vault:v2:")
    for wrapped in (old, new):
        assert (await keks.unwrap(tenant, 1, wrapped)).version == 1
    with pytest.raises(Unopenable):
        await keks.unwrap(uuid4(), 1, new)


async def test_what_the_engine_refuses_is_told_without_repeating_anything(engine, client):
    for broken in ("vault:v1:AAAA", "vault:v9:AAAA", "nothing"):
        with pytest.raises(Unopenable) as refused:
            await kek(client, engine).unwrap(broken)
        assert broken not in str(refused.value)


async def test_a_wrong_token_and_a_dead_engine_are_for_now(engine, client):
    with pytest.raises(KeysUnavailable, match="403") as refused:
        await kek(client, engine, "wrong-token").wrap(b"x")
    assert "wrong-token" not in str(refused.value)
    engine.end()
    with pytest.raises(KeysUnavailable):
        await kek(client, engine).wrap(b"x")


async def test_the_engine_takes_over_from_a_keyring(engine, client, tmp_path):
    keyrings.create(tmp_path / "ring", "old")
    ring, tenant = Keyring(tmp_path / "ring"), uuid4()
    wrapped = await Keks([ring]).make(tenant, 1)
    both = Keks([kek(client, engine), ring])
    moved = await both.rewrap(wrapped)
    assert moved.startswith("transit:")
    assert (await both.unwrap(tenant, 1, wrapped)).version == 1
    alone = Keks([kek(client, engine)])
    assert (await alone.unwrap(tenant, 1, moved)).version == 1


async def test_a_token_file_that_cannot_be_read_now_is_for_now(engine, client, tmp_path):
    gone = tmp_path / "token"
    lost = TransitKek(client, Transit(engine.url, "horae", gone.read_text))
    for asked in (lost.unwrap("vault:v1:AAAA"), lost.wrap(b"x"), lost.rewrap("vault:v1:AAAA")):
        with pytest.raises(KeysUnavailable) as refused:
            await asked
        assert str(gone) not in str(refused.value)
    gone.write_bytes(b"\xff")
    with pytest.raises(KeysUnavailable):
        await lost.wrap(b"x")
    gone.write_text(TOKEN)
    assert await lost.unwrap(await lost.wrap(b"x")) == b"x"

"""Sealed values open where they were sealed, with their own key, unchanged; nowhere and in no other way."""

import os
import random
from uuid import UUID, uuid4

import pytest

from horae.domain.encryption.encrypted_values import (
    EncryptedValue,
    Spot,
    answer_of,
    definition_of,
    payload_of,
    read,
    secret_of,
)
from horae.domain.errors import Invalid, Unopenable
from horae.security import envelopes
from horae.security.envelopes import DataKey, version_of
from horae.security.payload_cipher import PayloadCipher, encrypt_value

TENANT, JOB = uuid4(), uuid4()
SPOT = payload_of(JOB, "job:article-42:1")


def a_key(tenant_id: UUID = TENANT, version: int = 1) -> DataKey:
    return DataKey(tenant_id, version, os.urandom(32))


@pytest.mark.parametrize("value", [0, "", "text", False, [], {}, {"a": [1, {"b": None}]}, "é" * 1000, 1.5])
def test_every_value_comes_back_as_it_was(value):
    key = a_key()
    sealed = key.encrypt(SPOT, value)
    assert key.decrypt(SPOT, sealed) == value
    assert version_of(sealed) == 1


def test_the_same_value_never_looks_the_same_and_shows_nothing_of_itself():
    key = a_key()
    texts = {key.encrypt(SPOT, "canary").text for _ in range(1000)}
    assert len(texts) == 1000
    assert not any("canary" in text for text in texts)


def test_a_thousand_texts_that_were_moved_open_nowhere():
    secret, other_tenant = os.urandom(32), uuid4()
    key, foreign, newer = (DataKey(*who, secret) for who in ((TENANT, 1), (other_tenant, 1), (TENANT, 2)))
    spots = [payload_of(uuid4(), f"row:{n}") for n in range(250)]
    texts = [key.encrypt(spot, {"n": n}) for n, spot in enumerate(spots)]
    tries = 0
    for n, (spot, text) in enumerate(zip(spots, texts, strict=True)):
        elsewhere = spots[n - 1]
        other_field, other_owner = answer_of(spot.owner_id, spot.name), payload_of(uuid4(), spot.name)
        for at in (elsewhere, other_field, other_owner, definition_of(spot.owner_id), secret_of(spot.name)):
            with pytest.raises(Unopenable):
                key.decrypt(at, text)
            tries += 1
        with pytest.raises(Unopenable):
            foreign.decrypt(spot, text)  # even with the same bits as its key
        with pytest.raises(Unopenable):
            newer.decrypt(spot, EncryptedValue("1.2." + text.text.removeprefix("1.1.")))
        tries += 2
        assert key.decrypt(spot, text) == {"n": n}
    assert tries >= 1000


def test_no_flipped_bit_and_no_cut_is_taken():
    key = a_key()
    text = key.encrypt(SPOT, {"title": "x"}).text
    for place in range(len(text)):
        flipped = chr(ord(text[place]) ^ 1)
        with pytest.raises(Unopenable):
            key.decrypt(SPOT, EncryptedValue(text[:place] + flipped + text[place + 1 :]))
        with pytest.raises(Unopenable):
            key.decrypt(SPOT, EncryptedValue(text[:place]))


@pytest.mark.parametrize("text", ["", ".", "1", "1..", "1.1.", "1.1.!!", "2.1.AAAA", "1.x.AAAA", "1.99999999999.AAAA"])
def test_what_was_never_sealed_is_refused(text):
    with pytest.raises(Unopenable):
        a_key().decrypt(SPOT, EncryptedValue(text))


def test_names_and_fields_cannot_be_shifted_into_each_other():
    key = a_key()
    sealed = key.encrypt(Spot(JOB, "b", "a\0"), 1)
    with pytest.raises(Unopenable):
        key.decrypt(Spot(JOB, "\0b", "a"), sealed)


def test_a_new_salt_is_drawn_before_random_nonces_could_meet(monkeypatch):
    monkeypatch.setattr(envelopes, "MOST_WITH_ONE_SALT", 10)
    key = a_key()
    texts = [key.encrypt(SPOT, n) for n in range(100)]
    assert len({text.text[4:24] for text in texts}) == 10  # the salt is in front
    assert [key.decrypt(SPOT, text) for text in texts] == list(range(100))


def test_readers_remember_few_salts_and_open_all():
    secret = os.urandom(32)
    texts = [DataKey(TENANT, 1, secret).encrypt(SPOT, n) for n in range(600)]
    reader = DataKey(TENANT, 1, secret)
    order = list(enumerate(texts))
    random.Random(4).shuffle(order)
    assert all(reader.decrypt(SPOT, text) == n for n, text in order)
    assert len(reader._derived) <= envelopes.MOST_DERIVED


def test_a_key_shows_itself_to_nobody():
    key = DataKey(TENANT, 1, b"k" * 32)
    assert "kkkk" not in f"{key!r} {key}"


def test_without_a_key_values_pass_as_they_are_unless_they_look_sealed():
    assert encrypt_value(None, SPOT, {"a": 1}) == {"a": 1}
    assert encrypt_value(a_key(), SPOT, None) is None
    with pytest.raises(Invalid):
        encrypt_value(None, SPOT, {"$sealed": "1.1.AAAA"})
    assert read({"$sealed": "x", "y": 1}) == {"$sealed": "x", "y": 1}


async def test_what_looks_sealed_to_a_person_is_opened_once_only():
    key = a_key()
    inner = {"$sealed": key.encrypt(SPOT, "inner").text}
    assert key.decrypt(SPOT, encrypt_value(key, SPOT, inner)) == inner


async def test_clear_values_need_no_key_to_be_opened():
    assert await PayloadCipher().decrypt(TENANT, SPOT, {"a": 1}) == {"a": 1}

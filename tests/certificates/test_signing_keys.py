"""The deployment's signing keys: made, rotated, and never shown."""

import pytest

from horae.domain.errors import Conflict
from horae.security.signing_keys import SigningKey, key_id, key_of, new_seed
from horae.service.certificates import signing_keys
from tests.certificates.verifier import is_signed
from tests.steps import query


async def test_the_newest_key_signs_and_older_ones_stay(ctx, store):
    with pytest.raises(Conflict, match="there is no signing key"):
        await signing_keys.current(ctx)
    first, second = [(await signing_keys.create(ctx)).key for _ in range(2)]
    assert [one.key.public for one in await signing_keys.listing(ctx)] == [first.public, second.public]
    assert (await signing_keys.current(ctx)).public == second.public
    made = await query(store, "select detail from audit_log where action = 'keyring.signing_key_created'")
    assert {row["detail"]["public"] for row in made} == {first.public.hex(), second.public.hex()}
    stored = await query(store, "select * from secret where name like 'signing-key.%' and sealed is not null")
    assert {tuple(row["hosts"]) for row in stored} == {("signing-keys.invalid",)}
    assert all(set(row["sealed"]) == {"$sealed"} for row in stored)


def test_the_script_verifies_what_a_key_signs_and_nothing_else():
    for number in range(4):
        key = SigningKey(bytes([number]) * 32)
        signature = key.sign(b"a certificate")
        assert is_signed(key.public, b"a certificate", signature)
        assert not is_signed(key.public, b"another one", signature)
        assert not is_signed(key.public, b"a certificate", signature + b"\0")
        assert not is_signed(SigningKey(b"x" * 32).public, b"a certificate", signature)


def test_a_key_is_named_by_its_public_half_and_shows_no_secret():
    seed = new_seed()
    key = key_of(seed)
    assert key.id == key_id(key.public)
    assert seed not in repr(key)

"""Nodes know the values of secrets, and of their changes, without being asked to; the deployment's own are beneath."""

import pytest

from horae.domain.errors import KeysUnavailable
from horae.domain.ids import shard_in
from horae.security import keyrings
from horae.security.keks import Keks
from horae.security.keyrings import Keyring
from horae.service import secrets
from horae.store.envelopes import Envelopes
from horae.store.secret_book import SecretBook


async def test_a_changed_a_new_and_a_removed_secret_are_known_after_one_look(ctx, store, tenant):
    book = SecretBook(store, lambda _tenant, name: "from the deployment" if name == "a" else None)
    await secrets.put(ctx, "a", "one")
    await book.learn(_home(store, tenant), [tenant.id])
    assert (book(tenant.id, "a"), book(tenant.id, "b")) == ("one", None)
    await secrets.put(ctx, "a", "two")
    await secrets.put(ctx, "b", "new")
    await book.once()
    assert (book(tenant.id, "a"), book(tenant.id, "b")) == ("two", "new")
    await secrets.remove(ctx, "a")
    await book.once()
    assert (book(tenant.id, "a"), book(tenant.id, "b")) == ("from the deployment", "new")
    await secrets.put(ctx, "a", "three")
    await book.once()
    assert book(tenant.id, "a") == "three"


async def test_a_tenant_nobody_asked_for_is_not_remembered(ctx, store, tenant):
    book = SecretBook(store)
    await secrets.put(ctx, "a", "one")
    await book.once()
    assert (book(tenant.id, "a"), len(book._of)) == (None, 0)


async def test_a_secret_that_cannot_be_opened_is_not_taken_for_a_missing_one(ctx, store, tenant, tmp_path):
    await secrets.put(ctx, "a", "one")
    right = store.sealing
    keyrings.create(tmp_path / "other.json", "other")
    store.sealing = Envelopes(store, Keks([Keyring(tmp_path / "other.json")]))
    book = SecretBook(store)
    await book.learn(_home(store, tenant), [tenant.id])
    with pytest.raises(KeysUnavailable, match="'a'"):
        book(tenant.id, "a")
    store.sealing = right
    await book.learn(_home(store, tenant), [tenant.id])
    assert book(tenant.id, "a") == "one"


async def test_values_are_in_no_representation(ctx, store, tenant):
    await secrets.put(ctx, "a", "s3cret-value")
    book = SecretBook(store)
    await book.learn(_home(store, tenant), [tenant.id])
    assert "s3cret-value" not in f"{book!r} {book._of!r}"


def _home(store, tenant):
    return store.cell(shard_in(tenant.id))

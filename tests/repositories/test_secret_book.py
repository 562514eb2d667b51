"""Nodes know the values of secrets, and of their changes, without being asked to; the deployment's own are beneath."""

import asyncio

import pytest

from horae.domain.errors import KeysUnavailable
from horae.domain.ids import shard_in
from horae.repositories import secret_book
from horae.repositories.envelopes import Envelopes
from horae.repositories.secret_book import SecretBook
from horae.runtime.randomness import new_token
from horae.security import keyrings
from horae.security.keks import Keks
from horae.security.keyrings import Keyring
from horae.service.encryption import secrets
from horae.store.encryption import secrets as rows
from horae.upkeep.copies import Copier
from tests.steps import query, until


async def test_a_changed_a_new_and_a_removed_secret_are_known_after_one_look(ctx, store, tenant):
    book = SecretBook(store, lambda _tenant, name: "from the deployment" if name == "a" else None)
    await secrets.put(ctx, "a", "one")
    await book.learn(_home(store, tenant), {tenant.id: ["a", "b"]})
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
    assert not book._of


async def test_a_secret_that_was_forgotten_is_not_taken_for_a_missing_one(ctx, store, tenant, monkeypatch):
    """F25: another tenant's secrets came between the learning and the call."""
    monkeypatch.setattr(secret_book, "MOST_TENANTS", 2)
    book, cell = SecretBook(store), _home(store, tenant)
    await secrets.put(ctx, "a", "one")
    await book.learn(cell, {tenant.id: ["a"]})
    for _ in range(3):
        await book.learn(cell, {new_token(): ["a"], tenant.id: ["a"]})
        assert book(tenant.id, "a") == "one", "who is needed is forgotten last"
    await book.learn(cell, {new_token(): ["a"], new_token(): ["a"]})
    with pytest.raises(KeysUnavailable, match="'a'"):
        book(tenant.id, "a")


async def test_a_secret_that_cannot_be_opened_is_not_taken_for_a_missing_one(ctx, store, tenant, tmp_path):
    await secrets.put(ctx, "a", "one")
    right = store.cipher
    keyrings.create(tmp_path / "other.json", "other")
    store.cipher = Envelopes(store, Keks([Keyring(tmp_path / "other.json")]))
    book = SecretBook(store)
    await book.learn(_home(store, tenant), {tenant.id: ["a"]})
    with pytest.raises(KeysUnavailable, match="'a'"):
        book(tenant.id, "a")
    store.cipher = right
    await book.learn(_home(store, tenant), {tenant.id: ["a"]})
    assert book(tenant.id, "a") == "one"


async def test_a_secret_put_a_moment_ago_is_known_whenever_it_is_needed(ctx, store, tenant):
    book = SecretBook(store)
    await secrets.put(ctx, "a", "one")
    await book.learn(_home(store, tenant), {tenant.id: ["a"]})
    await secrets.put(ctx, "b", "new")
    await book.learn(_home(store, tenant), {tenant.id: ["b"]})
    assert book(tenant.id, "b") == "new"


async def test_where_copies_have_not_come_yet_the_home_is_asked(ctx, store, tenant):
    book = SecretBook(store)
    await secrets.put(ctx, "a", "one")
    await book.learn(_elsewhere(store, tenant), {tenant.id: ["a"]})
    assert book(tenant.id, "a") == "one"


async def test_nobody_sees_a_part_of_a_tenants_secrets(ctx, store, tenant, monkeypatch):
    """Two cells need them at the same time: the second must not take what the first has not opened yet for missing."""
    await secrets.put(ctx, "a", "one")
    book, opening, go_on, right = SecretBook(store), [], asyncio.Event(), store.cipher.decrypt

    async def slow(*args):
        opening.append(args)
        await go_on.wait()
        return await right(*args)

    monkeypatch.setattr(store.cipher, "decrypt", slow)
    first = asyncio.create_task(book.learn(_home(store, tenant), {tenant.id: ["a"]}))
    await until(lambda: len(opening) == 1)
    second = asyncio.create_task(book.learn(_home(store, tenant), {tenant.id: ["a"]}))
    await until(lambda: second.done() or len(opening) == 2)
    assert not second.done()
    go_on.set()
    await asyncio.gather(first, second)
    assert book(tenant.id, "a") == "one"


async def test_what_the_home_cannot_be_asked_for_is_not_taken_for_missing(ctx, store, tenant, monkeypatch):
    await secrets.put(ctx, "a", "one")
    book, home, asked = SecretBook(store), _home(store, tenant), []

    def refuses():
        asked.append(1)
        raise ConnectionRefusedError

    with monkeypatch.context() as patched:
        patched.setattr(home, "statement", refuses)
        for _ in range(3):
            await book.learn(_elsewhere(store, tenant), {tenant.id: ["a"]})
            with pytest.raises(KeysUnavailable, match="'a'"):
                book(tenant.id, "a")
    assert len(asked) == 1  # and it is not asked at every turn
    await Copier(store).once()
    await book.learn(_elsewhere(store, tenant), {tenant.id: ["a"]})
    assert book(tenant.id, "a") == "one"


async def test_values_are_in_no_representation(ctx, store, tenant):
    await secrets.put(ctx, "a", "s3cret-value")
    book = SecretBook(store)
    await book.learn(_home(store, tenant), {tenant.id: ["a"]})
    assert "s3cret-value" not in f"{book!r} {book._of!r}"


async def test_a_missing_secret_is_asked_for_once_and_no_other_is_read(ctx, store, tenant, monkeypatch):
    """A job that fires each second names a secret that nobody put; its tenant has put and removed many others."""
    for number in range(20):
        await secrets.put(ctx, f"other-{number}", "value")
        await secrets.remove(ctx, f"other-{number}")
    asked, right = [], rows.named

    async def counted(tx, wanted):
        found = await right(tx, wanted)
        asked.append(len(found))
        return found

    monkeypatch.setattr(rows, "named", counted)
    book = SecretBook(store)
    for _ in range(50):
        await book.learn(_home(store, tenant), {tenant.id: ["missing"]})
        await book.learn(_elsewhere(store, tenant), {tenant.id: ["missing"]})
        assert book(tenant.id, "missing") is None
    assert asked == [0]
    await book.once()
    assert list(book._of[tenant.id]) == ["missing"]
    await secrets.put(ctx, "missing", "found")
    await book.once()
    assert book(tenant.id, "missing") == "found"


async def test_a_name_that_was_removed_and_forgotten_can_be_used_anew(ctx, store, tenant):
    book = SecretBook(store)
    for value in ("one", "two", "three"):
        await secrets.put(ctx, "a", value)
    await book.learn(_home(store, tenant), {tenant.id: ["a"]})
    await secrets.remove(ctx, "a")
    await book.once()
    await query(store, "delete from secret")
    await secrets.put(ctx, "a", "four")
    await book.once()
    assert book(tenant.id, "a") == "four"


def _home(store, tenant):
    return store.cell(shard_in(tenant.id))


def _elsewhere(store, tenant):
    return next(cell for cell in store.cells if cell is not _home(store, tenant))

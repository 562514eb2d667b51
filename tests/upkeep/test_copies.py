"""Copies are carried page by page, and what changed lately does not wait for all that ever was."""

import pytest

from horae.domain.ids import shard_in
from horae.security.roles import Role
from horae.service.encryption import secrets as secrets_service
from horae.service.identity import api_keys
from horae.store.encryption import data_keys, secrets
from horae.store.tenants import references
from horae.upkeep import copies
from horae.upkeep.copies import Copier
from horae.upkeep.identities import IdentityCopier
from tests.steps import query

REMOVED = """
    insert into secret (shard_id, tenant_id, name, sealed, changed_by, changed_at, version)
    select $1, $2, 'gone-' || n, null, 'test', timestamptz '2020-01-01' + n * interval '1 second', 2
    from generate_series(1, 100) n"""


@pytest.fixture
async def homes(ctx, store):
    """The tenant's home cell with a hundred removed secrets, and the other one."""
    home = store.cell(shard_in(ctx.tenant.id))
    await Copier(store).once()
    await query(home, REMOVED, shard_in(ctx.tenant.id), ctx.tenant.id)
    return home, next(cell for cell in store.cells if cell is not home)


@pytest.fixture
def pages(monkeypatch):
    """How many rows each statement carried."""
    carried, copy = [], secrets.copy

    async def counted(tx, rows):
        carried.append(len(rows))
        return await copy(tx, rows)

    monkeypatch.setattr(secrets, "copy", counted)
    monkeypatch.setattr(copies, "PAGE", 10)
    monkeypatch.setattr(copies, "FULL_PAGES", 1)
    return carried


async def names(cell):
    return {row["name"] for row in await query(cell, "select name from secret")}


async def test_a_change_is_carried_at_once_while_a_full_look_goes_on(ctx, store, homes, pages):
    _, other = homes
    await secrets_service.put(ctx, "new", "s3cret")
    copier = Copier(store, (references, data_keys, secrets))
    assert await copier.once()
    found = await names(other)
    assert "new" in found
    assert len(found) < 50, "the full look has only begun"
    while await copier.once():
        pass
    assert len(await names(other)) == 101
    assert set(pages) == {1, 10}
    assert pages.count(10) == 10, "a statement for a page, not for a row"


async def test_a_full_look_comes_again_after_a_rest(ctx, store, homes, pages):
    _, other = homes
    copier = Copier(store, (secrets,))
    while await copier.once():
        pass
    before = len(pages)
    await query(other, "delete from secret")
    while await copier.once():
        pass
    assert len(pages) == before, "it rests"
    for looks in copier._looks.values():
        looks._due = copies.Looks(1)._due
    while await copier.once():
        pass
    assert len(await names(other)) == 100


async def test_keys_and_roles_are_carried_as_they_are(ctx, store):
    await api_keys.create(ctx, "robot", [Role.VIEWER], scopes=["jobs.read"])
    await IdentityCopier(store).once()
    for table in ("api_key", "role_binding"):
        home, copy = [[dict(row) for row in await query(cell, f"select * from {table}")] for cell in store.cells]
        assert len(home) == 1
        assert home == copy

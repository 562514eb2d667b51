"""A secret is bound to hosts when it is put, keeps them with a new value, and a node goes by them."""

from horae.domain.errors import KeysUnavailable
from horae.repositories.secret_book import SecretBook
from horae.security.roles import Role
from horae.upkeep.copies import Copier
from tests.steps import query


async def test_a_secret_is_bound_to_hosts_and_stays_so_with_a_new_value(client, store, tenant):
    admin = await client(Role.ADMIN)
    put = await admin.put("/secrets/token", json={"value": "v1", "hosts": ["API.example.com", "*.example.org"]})
    assert put.status_code == 200, put.text
    assert put.json()["hosts"] == ["*.example.org", "api.example.com"]
    again = await admin.put("/secrets/token", json={"value": "v2"})
    assert (again.json()["version"], again.json()["hosts"]) == (2, ["*.example.org", "api.example.com"])
    assert (await admin.get("/secrets")).json()["items"][0]["hosts"] == ["*.example.org", "api.example.com"]
    await Copier(store).once()
    for cell in store.cells:
        book = SecretBook(store)
        await book.learn(cell, {tenant.id: ["token"]})
        assert book(tenant.id, "token") == "v2"
        assert list(book.hosts(tenant.id, "token")) == ["*.example.org", "api.example.com"]
    opened = await admin.put("/secrets/token", json={"value": "v3", "hosts": []})
    assert opened.json()["hosts"] == []
    bad = await admin.put("/secrets/token", json={"value": "v4", "hosts": ["http://x/"]})
    assert bad.status_code in {400, 422}


async def test_who_writes_other_hosts_into_the_row_cannot_open_the_value(client, store, tenant):
    admin = await client(Role.ADMIN)
    await admin.put("/secrets/token", json={"value": "v1", "hosts": ["api.example.com"]})
    await query(store, "update secret set hosts = '{evil.example.net}'")
    book = SecretBook(store)
    await book.learn(store.cell(tenant.shard("x")), {tenant.id: ["token"]}, force=True)
    try:
        value = book(tenant.id, "token")
    except KeysUnavailable:
        value = None
    assert value is None

"""Secrets come from the environment or a file, by a tenant's name or id."""

import json

import pytest

from horae.boot.secrets import secrets_of
from horae.domain.errors import KeysUnavailable
from horae.domain.ids import Prefix, public
from horae.repositories.secret_book import SecretBook
from horae.runtime.settings import Settings
from horae.service.context import PlatformContext
from horae.service.tenants import tenants


async def test_a_tenant_is_written_down_by_name_or_id_and_an_unknown_one_has_none(store, tenant, monkeypatch, tmp_path):
    file = tmp_path / "secrets.json"
    by_id = public(Prefix.TENANT, tenant.id)
    file.write_text(json.dumps({"acme": {"a": "by name", "b": "by name"}, "nobody": {"a": "x"}, by_id: {"c": "by id"}}))
    monkeypatch.setenv("HORAE_SECRETS_FILE", str(file))
    secrets = await secrets_of(Settings(), store)
    assert isinstance(secrets, SecretBook)
    await secrets.learn(store.cells[0], {tenant.id: "abcd"})
    assert [secrets(tenant.id, name) for name in "abcd"] == ["by name", "by name", "by id", None]


async def test_a_tenant_made_later_has_the_secrets_that_were_written_down_for_it(store, tenant, monkeypatch):
    monkeypatch.setenv("HORAE_SECRETS", json.dumps({"globex": {"crm": "s3cret"}, "nobody": {"crm": "x"}}))
    secrets = await secrets_of(Settings(), store)
    await secrets.learn(store.cells[0], {tenant.id: ["crm"]})
    assert secrets(tenant.id, "crm") is None
    made = await tenants.create(PlatformContext(store, "test"), "globex")
    for cell in store.cells:
        await secrets.learn(cell, {made.id: ["crm", "other"]})
    assert [secrets(made.id, name) for name in ("crm", "other")] == ["s3cret", None]


async def test_a_secret_is_not_missing_while_its_tenants_home_cannot_be_asked(store, tenant, monkeypatch):
    monkeypatch.setenv("HORAE_SECRETS", json.dumps({"acme": {"crm": "s3cret"}}))

    async def down(*_):
        raise ConnectionError("no answer")

    find = tenants.find
    monkeypatch.setattr(tenants, "find", down)
    secrets = await secrets_of(Settings(), store)
    await secrets.learn(store.cells[0], {tenant.id: ["crm"]})
    with pytest.raises(KeysUnavailable):
        secrets(tenant.id, "crm")
    monkeypatch.setattr(tenants, "find", find)
    await secrets.learn(store.cells[0], {tenant.id: ["crm"]})
    assert secrets(tenant.id, "crm") == "s3cret"


def test_settings_do_not_print_secrets(monkeypatch):
    monkeypatch.setenv("HORAE_SECRETS", json.dumps({"acme": {"a": "s3cret"}}))
    assert "s3cret" not in repr(Settings())

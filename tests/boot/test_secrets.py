"""Secrets come from the environment or a file, by a tenant's name or id."""

import json

from horae.boot.secrets import secrets_of
from horae.domain.ids import Prefix, public
from horae.runtime.settings import Settings
from horae.store.secret_book import SecretBook


async def test_a_tenant_is_written_down_by_name_or_id_and_an_unknown_one_has_none(store, tenant, monkeypatch, tmp_path):
    file = tmp_path / "secrets.json"
    file.write_text(json.dumps({"acme": {"a": "from file", "b": "from file"}, "nobody": {"a": "x"}}))
    monkeypatch.setenv("HORAE_SECRETS_FILE", str(file))
    monkeypatch.setenv(
        "HORAE_SECRETS", json.dumps({"acme": {"b": "over it"}, public(Prefix.TENANT, tenant.id): {"c": "by id"}})
    )
    secrets = await secrets_of(Settings(), store)
    assert isinstance(secrets, SecretBook)
    await secrets.learn(store.cells[0], {tenant.id: "abcd"})
    assert [secrets(tenant.id, name) for name in "abcd"] == ["from file", "over it", "by id", None]


def test_settings_do_not_print_secrets(monkeypatch):
    monkeypatch.setenv("HORAE_SECRETS", json.dumps({"acme": {"a": "s3cret"}}))
    assert "s3cret" not in repr(Settings())

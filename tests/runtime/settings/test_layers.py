"""Settings come from the file, then the environment; a value that is given twice is refused by name."""

import json

import pytest

from horae.domain.errors import Invalid
from horae.runtime.settings import Settings, read_settings
from horae.runtime.settings.layers import read_layers

CELLS = [{"name": "cell-0", "dsn": "postgresql://a@127.0.0.1/horae"}]
WHOLE = """
environment = "test"
slots = 500
disk_bytes = "500GiB"
api_trusted_proxies = ["10.0.0.0/8"]

[[cells]]
name = "north"
dsn = "postgresql://horae_engine:hunter2@127.0.0.1/north"
upkeep_dsn_file = "{upkeep}"

[[cells]]
name = "south"
dsn = "postgresql://horae_engine@127.0.0.1/south"

[egress]
networks = ["10.20.0.0/16"]
plain = true

[oidc]
issuer = "https://login.example.com"
client_id = "horae"
client_secret_file = "{client}"
redirect_url = "https://horae.example.com/login/callback"

[brokers.main]
kind = "nats"
url = "nats://horae:hunter2@127.0.0.1"

[secrets.acme]
crm = "hunter2"
"""


def test_one_file_holds_everything_with_tables_and_secret_files(settings_file, secret_file):
    upkeep = secret_file("upkeep", "postgresql://horae_migrate:hunter3@127.0.0.1/north\n")
    settings_file(WHOLE.format(upkeep=upkeep, client=secret_file("client", "s3cret\n")))
    settings = read_settings()
    assert [cell.name for cell in settings.all_cells()] == ["north", "south"]
    assert settings.cells[0].upkeep_dsn == "postgresql://horae_migrate:hunter3@127.0.0.1/north"
    assert settings.oidc.client_secret == "s3cret"
    assert settings.egress.networks == ["10.20.0.0/16"]
    assert (settings.slots, settings.brokers["main"].kind, settings.secrets) == (
        500,
        "nats",
        {"acme": {"crm": "hunter2"}},
    )


def test_the_environment_wins_over_the_file_key_by_key(settings_file, secret_file, monkeypatch):
    settings_file('environment = "test"\nslots = 500\napi_port = 8001\n[egress]\nplain = true\nports = ["80"]\n')
    monkeypatch.setenv("HORAE_SLOTS", "600")
    monkeypatch.setenv("HORAE_EGRESS__PORTS", '["8080"]')
    monkeypatch.setenv("HORAE_API_SECRET_FILE", secret_file("api", "x" * 40))
    settings = read_settings()
    assert (settings.slots, settings.api_port, settings.api_secret) == (600, 8001, "x" * 40)
    assert (settings.egress.plain, settings.egress.ports) == (True, ["8080"])
    origins = {name: [str(one.kind) for one in found] for name, found in read_layers(Settings).origins.items()}
    assert origins == {
        "environment": ["file"],
        "slots": ["environment"],
        "api_port": ["file"],
        "egress": ["environment", "file"],
        "api_secret": ["secret file"],
    }


@pytest.mark.parametrize("value", ["", "\n"])
def test_an_empty_secret_file_is_refused(secret_file, monkeypatch, value):
    monkeypatch.setenv("HORAE_API_SECRET_FILE", secret_file("api", value))
    with pytest.raises(Invalid, match=r"HORAE_API_SECRET_FILE: .*/api is empty"):
        read_settings(environment="test")


def test_an_empty_variable_is_not_set(monkeypatch):
    monkeypatch.setenv("HORAE_SLOTS", "")
    monkeypatch.setenv("HORAE_API_SECRET_FILE", "")
    assert read_settings(environment="test").slots == 2000


def test_a_list_of_cells_may_be_in_a_secret_file(secret_file, monkeypatch):
    monkeypatch.setenv("HORAE_CELLS_FILE", secret_file("cells", json.dumps(CELLS)))
    assert read_settings(environment="test").all_cells()[0].dsn == CELLS[0]["dsn"]


def test_a_nested_secret_of_the_environment_may_be_in_a_file(secret_file, monkeypatch):
    given = {"issuer": "https://i", "client_id": "h", "redirect_url": "https://h"}
    monkeypatch.setenv("HORAE_OIDC", json.dumps(given))
    monkeypatch.setenv("HORAE_OIDC__CLIENT_SECRET_FILE", secret_file("client", "s3cret"))
    assert read_settings(environment="test").oidc.client_secret == "s3cret"


def test_the_token_of_the_key_service_stays_a_file_that_is_read_at_every_call(secret_file, monkeypatch):
    file = secret_file("token", "one\n")
    monkeypatch.setenv("HORAE_TRANSIT__URL", "https://vault")
    monkeypatch.setenv("HORAE_TRANSIT__KEY", "horae")
    monkeypatch.setenv("HORAE_TRANSIT__TOKEN_FILE", file)
    transit = read_settings(environment="test").transit
    assert transit.current_token() == "one"
    secret_file("token", "two\n")
    assert transit.current_token() == "two"
    monkeypatch.setenv("HORAE_TRANSIT__TOKEN", "three")
    with pytest.raises(Invalid, match="token and token_file are both given"):
        read_settings(environment="test")


def test_a_secret_beside_its_file_is_refused_by_name(secret_file, monkeypatch):
    monkeypatch.setenv("HORAE_API_SECRET", "hunter2")
    monkeypatch.setenv("HORAE_API_SECRET_FILE", secret_file("api", "hunter3"))
    with pytest.raises(Invalid) as refused:
        read_settings(environment="test")
    assert str(refused.value) == "HORAE_API_SECRET and HORAE_API_SECRET_FILE are both given: keep one of them"


def test_one_database_and_a_list_of_databases_are_refused_in_one_layer(settings_file, monkeypatch):
    monkeypatch.setenv("HORAE_DSN", "postgresql://a@127.0.0.1/b")
    monkeypatch.setenv("HORAE_CELLS", json.dumps(CELLS))
    with pytest.raises(Invalid, match="HORAE_DSN and HORAE_CELLS are both given"):
        read_settings(environment="test")
    monkeypatch.delenv("HORAE_DSN")
    settings_file('dsn = "postgresql://in_the_file@127.0.0.1/b"\nupkeep_dsn = "postgresql://too@127.0.0.1/b"\n')
    settings = read_settings(environment="test")
    assert (settings.dsn, settings.upkeep_dsn, settings.all_cells()[0].dsn) == (None, None, CELLS[0]["dsn"])


def test_the_role_of_upkeep_goes_with_a_single_database(monkeypatch):
    monkeypatch.setenv("HORAE_DSN", "postgresql://horae_engine@127.0.0.1/horae")
    monkeypatch.setenv("HORAE_UPKEEP_DSN", "postgresql://horae_migrate@127.0.0.1/horae")
    [cell] = read_settings(environment="test").all_cells()
    assert (cell.dsn, cell.upkeep_dsn) == (
        "postgresql://horae_engine@127.0.0.1/horae",
        "postgresql://horae_migrate@127.0.0.1/horae",
    )

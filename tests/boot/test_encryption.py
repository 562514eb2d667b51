"""Processes ask for keys before they begin; people make and rotate them from the command line."""

import json
import os

import pytest
from typer.testing import CliRunner

from horae.boot.cli import whole
from tests.boot.api_thread import ApiThread
from tests.receiver import receiving


@pytest.fixture
def serve(cells):
    """Starts an API with these settings, and returns its address and a key as settings of commands."""
    made = []

    def start(**settings):
        made.append(ApiThread(cells, **settings))
        return {"horae_url": made[-1].url, "horae_key": made[-1].key()}

    yield start
    for one in made:
        one.close()


@pytest.fixture
def horae(cells, monkeypatch):
    for name in [name for name in os.environ if name.startswith("HORAE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HORAE_CELLS", json.dumps([{"name": cell.name, "dsn": cell.dsn} for cell in cells]))
    monkeypatch.setenv("HORAE_ENVIRONMENT", "test")
    monkeypatch.setenv("HORAE_API_SECRET", "kV3mQ9xT7pLw2ZrB8nYc5HdJ4sGfAeUo")
    monkeypatch.setenv("COLUMNS", "300")

    def call(*words, fails=False, said=None, **more):
        done = CliRunner().invoke(whole(), words, input=said, env={name.upper(): value for name, value in more.items()})
        assert (done.exit_code != 0) is fails, done.output
        return done.output

    return call


def test_nothing_begins_without_keys_unless_payloads_are_to_stay_in_clear(horae, serve, tmp_path):
    horae("migrate")
    for words in (("api", "--port", "0"), ("node", "--once")):
        said = horae(*words, fails=True)
        assert "HORAE_KEYRING" in said
        assert "HORAE_ENCRYPTION=off" in said
    horae("node", "--once", horae_encryption="off")
    (tmp_path / "open.json").write_text("{}")
    (tmp_path / "open.json").chmod(0o644)
    assert "chmod 600" in horae("node", "--once", fails=True, horae_keyring=str(tmp_path / "open.json"))
    clear = serve(keyring=None, encryption="off")
    horae("job", "create", "clear", "--keyed", **clear)
    refused = horae("secret", "put", "a", said="x", fails=True, **clear)
    assert "SCH_409_CONFLICT" in refused


def test_a_keyring_is_made_rotated_and_its_payloads_reach_their_target(horae, serve, tmp_path):
    ring = {"horae_keyring": str(tmp_path / "ring.json")}
    with receiving() as receiver:
        horae("keyring", "create", "--name", "one", **ring)
        assert "exists already" in horae("keyring", "create", fails=True, **ring)
        horae("migrate", **ring)
        ring |= serve(keyring=tmp_path / "ring.json")
        horae("job", "create", "MAIL", "--keyed", "--url", f"{receiver.url}/mail", **ring)
        horae("task", "put", "MAIL", "1", "--payload", '{"n": 1}', **ring)
        assert "two wraps from now on" in horae("keyring", "rotate", "--name", "two", **ring)
        assert "version 2" in horae("keyring", "rotate-data", **ring)
        assert "1 data keys rewrapped" in horae("keyring", "rewrap", **ring)  # the other was made by `two`
        horae("task", "put", "MAIL", "2", "--payload", '{"n": 2}', **ring)
        horae("node", "--once", **ring)
        assert sorted(call["payload"]["n"] for call in receiver.calls) == [1, 2]
        assert (
            horae("secret", "put", "token", said="s3cret-value\n", **ring) == "secret token, version 1, for any host\n"
        )
        listed = horae("secret", "list", **ring)
        assert ("token" in listed, "s3cret-value" in listed) == (True, False)
        assert "is gone" in horae("secret", "remove", "token", **ring)

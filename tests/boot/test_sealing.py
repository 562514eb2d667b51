"""Processes ask for keys before they begin; people make and rotate them from the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.receiver import receiving

HORAE = Path(sys.executable).parent / "horae"


@pytest.fixture
def horae(cells):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HORAE_")} | {
        "HORAE_CELLS": json.dumps([{"name": cell.name, "dsn": cell.dsn} for cell in cells]),
        "HORAE_ENVIRONMENT": "test",
        "HORAE_API_SECRET": "kV3mQ9xT7pLw2ZrB8nYc5HdJ4sGfAeUo",
    }

    def call(*words, said=None, **more):
        env = environment | {name.upper(): value for name, value in more.items()}
        done = subprocess.run(
            [HORAE, *words], env=env, input=said, capture_output=True, text=True, timeout=60, check=False
        )
        return done.returncode, done.stdout + done.stderr

    return call


def test_nothing_begins_without_keys_unless_payloads_are_to_stay_in_clear(horae, tmp_path):
    horae("migrate")
    for words in (("api", "--port", "0"), ("node", "--once")):
        status, said = horae(*words)
        assert (status, "HORAE_KEYRING" in said, "HORAE_SEALING=off" in said) == (1, True, True)
    assert horae("node", "--once", horae_sealing="off")[0] == 0
    status, said = horae("job", "create", "a", "--cron", "@daily", "--payload", '{"a": 1}')
    assert (status, "SCH_503_KEYS" in said) == (1, True)
    (tmp_path / "open.json").write_text("{}")
    status, said = horae("node", "--once", horae_keyring=str(tmp_path / "open.json"))
    assert (status, "chmod 600" in said) == (1, True)


def test_a_keyring_is_made_rotated_and_its_payloads_reach_their_target(horae, tmp_path):
    ring = {"horae_keyring": str(tmp_path / "ring.json")}
    with receiving() as receiver:
        assert horae("keyring", "create", "--name", "one", **ring)[0] == 0
        assert "exists already" in horae("keyring", "create", **ring)[1]
        horae("migrate", **ring)
        horae("job", "create", "MAIL", "--keyed", "--url", f"{receiver.url}/mail", **ring)
        assert horae("task", "put", "MAIL", "1", "--payload", '{"n": 1}', **ring)[0] == 0
        assert "two wraps from now on" in horae("keyring", "rotate", "--name", "two", **ring)[1]
        assert "version 2" in horae("keyring", "rotate-data", **ring)[1]
        assert "1 data keys wrapped anew" in horae("keyring", "rewrap", **ring)[1]
        assert horae("task", "put", "MAIL", "2", "--payload", '{"n": 2}', **ring)[0] == 0
        horae("node", "--once", **ring)
        assert sorted(call["payload"]["n"] for call in receiver.calls) == [1, 2]
        status, said = horae("secrets", "put", "token", said="s3cret-value\n", **ring)
        assert (status, said) == (0, "secret token, version 1\n")
        listed = horae("secrets", "list", **ring)[1]
        assert ("token" in listed, "s3cret-value" in listed) == (True, False)
        assert "is gone" in horae("secrets", "remove", "token", **ring)[1]

"""The command line over the cells of a test: inside the test's own process, and in processes of its own."""

import json
import os
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from horae.boot.cli import whole
from horae.domain.tenants.tenants import SYSTEM
from tests.api.api_servers import CLEAN, SECRET
from tests.boot.api_thread import ApiThread
from tests.keyring import keyring

HORAE = Path(sys.executable).parent / "horae"
OVER_POSTGRESQL = {
    *("migrate", "node", "api", "serve", "dev", "doctor", "keyring", "init", "config", "cell", "why", "version"),
    "certificate",
}
"""The commands that need no API. `key bootstrap` and `audit` need none either, and may have one."""


@pytest.fixture
def api(cells):
    """An API over the cells of the test, which starts with the first command that needs it."""
    made = ApiThread(cells)
    yield made
    made.close()


@pytest.fixture
def horae(cells, monkeypatch, api):
    """Calls a command, checks its status, and returns what it printed. `platform` calls it with a key of `system`."""
    monkeypatch.setenv("HORAE_CELLS", json.dumps([{"name": cell.name, "dsn": cell.dsn} for cell in cells]))
    monkeypatch.setenv("HORAE_ENVIRONMENT", "test")
    monkeypatch.setenv("COLUMNS", "200")

    def result(*words, status=0, tenant=None, roles=()):
        if words[0] not in OVER_POSTGRESQL:
            monkeypatch.setenv("HORAE_URL", api.url)
            monkeypatch.setenv("HORAE_KEY", api.key(tenant or os.environ.get("HORAE_TENANT", "default"), *roles))
        done = CliRunner().invoke(whole(), words)
        assert done.exit_code == status, (done.output, done.exception)
        return done

    def call(*words, status=0, **facts):
        done = result(*words, status=status, **facts)
        return done.stdout if status == 0 else done.stderr

    call.result = result
    call.json = lambda *words, **facts: json.loads(call(*words, "--json", **facts))
    call.platform = lambda *words, **facts: call(*words, tenant=SYSTEM, **facts)
    return call


@pytest.fixture
def started(tmp_path):
    """Starts `horae` with these words on these cells; what was started is ended. `number` tells two apart."""
    made = []

    def start(kind, cells, *words, number="", **settings):
        told = {"HORAE_CELLS": json.dumps([cell.model_dump() for cell in cells]), "HORAE_ENVIRONMENT": "test"}
        child = kind(words[0], tmp_path / f"{words[0]}{number}.log")
        made.append(child)
        keys = {"HORAE_API_SECRET": SECRET, "HORAE_KEYRING": str(keyring()), "PYTHONUNBUFFERED": "1"}
        child.spawn([HORAE, *words], CLEAN | told | keys | settings)
        return child

    yield start
    for child in made:
        child.end()

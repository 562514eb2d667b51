"""The command line over the cells of a test: inside the test's own process, and in processes of its own."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from horae.boot.cli import whole
from tests.api.api_servers import CLEAN, SECRET
from tests.keyring import keyring

HORAE = Path(sys.executable).parent / "horae"


@pytest.fixture
def horae(cells, monkeypatch):
    """Calls a command, checks its status, and returns what it printed."""
    monkeypatch.setenv("HORAE_CELLS", json.dumps([{"name": cell.name, "dsn": cell.dsn} for cell in cells]))
    monkeypatch.setenv("HORAE_ENVIRONMENT", "test")
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words, status=0):
        done = CliRunner().invoke(whole(), words)
        assert done.exit_code == status, (done.output, done.exception)
        return done.stdout if status == 0 else done.stderr

    call.json = lambda *words: json.loads(call(*words, "--json"))
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

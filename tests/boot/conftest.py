"""The command line over the cells of a test, inside the test's own process."""

import json

import pytest
from typer.testing import CliRunner

from horae.boot.cli import whole


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

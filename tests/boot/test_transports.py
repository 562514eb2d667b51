"""In production no command sends rows over a network without a verified certificate, unless a setting says so."""

import json

import pytest
from typer.testing import CliRunner

from horae.boot.cli import whole
from tests.api.api_servers import SECRET

REMOTE = "postgresql://horae_engine@db.example.invalid/horae"
COMMANDS = [
    ("node",),
    ("node", "--once"),
    ("api", "--port", "0"),
    ("migrate",),
    ("key", "bootstrap", "--reason", "first key"),
    ("cell", "trust-clock", "--reason", "repaired"),
]


@pytest.fixture
def production(cells, monkeypatch):
    """Calls commands in production and returns all they say; each DSN of the first cell may be another one."""
    monkeypatch.setenv("HORAE_ENVIRONMENT", "production")
    monkeypatch.setenv("HORAE_API_SECRET", SECRET)
    monkeypatch.setenv("COLUMNS", "400")

    def call(*words, status, **dsns):
        given = [cell.model_dump() for cell in cells]
        given[0] |= dsns
        monkeypatch.setenv("HORAE_CELLS", json.dumps(given))
        done = CliRunner().invoke(whole(), words)
        assert done.exit_code == status, (done.output, done.exception)
        return " ".join(done.output.split())

    return call


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_command_uses_such_a_dsn(production, words):
    told = production(*words, status=5, dsn=REMOTE)
    assert "SCH_503_UNFIT cell-0: TLS to PostgreSQL is prefer to db.example.invalid" in told
    assert "HORAE_DATABASE_TLS=optional" in told


@pytest.mark.parametrize("name", ["direct_dsn", "upkeep_dsn"])
def test_no_other_dsn_of_a_cell_is_overlooked(production, name):
    assert "TLS to PostgreSQL" in production("node", status=5, **{name: f"{REMOTE}?sslmode=require"})


def test_the_setting_lets_it_pass_and_the_doctor_shows_both(production, monkeypatch):
    assert "prefer to db.example.invalid" in production("doctor", status=1, dsn=REMOTE)
    monkeypatch.setenv("HORAE_DATABASE_TLS", "optional")
    told = production("doctor", status=1, dsn=REMOTE)
    assert "prefer to db.example.invalid; HORAE_DATABASE_TLS=optional" in told
    assert "TLS" not in production("node", status=5, dsn=REMOTE), "it is refused for its other cell"

"""Commands that rescue a deployment without an API ask for a reason, and are audited with the system's user."""

import asyncio
import json
import os
import pty
import subprocess

import pytest
from typer.testing import CliRunner

from horae.boot.cli import whole
from horae.boot.session import system_user
from horae.store.store import Store
from tests.boot.conftest import HORAE

COMMANDS = [("cell", "move-clock", "60"), ("cell", "trust-clock"), ("key", "bootstrap")]
AUDITED = "select actor, action, resource, detail from audit_log where detail ? 'reason' order by at"
TENANT = "select count(*) from tenant where name = 'system'"


@pytest.fixture
def rescue(cells, monkeypatch):
    """Runs a command that knows the cells and no API, and checks its status."""
    monkeypatch.setenv("HORAE_CELLS", json.dumps([cell.model_dump() for cell in cells]))
    monkeypatch.setenv("HORAE_ENVIRONMENT", "test")
    monkeypatch.setenv("HORAE_URL", "http://127.0.0.1:1")

    def call(*words, status=0):
        done = CliRunner().invoke(whole(), words)
        assert done.exit_code == status, (done.output, done.exception)
        return " ".join(done.output.split())

    return call


def rows(cells, statement=AUDITED):
    """The rows that a statement finds, for each cell."""

    async def look():
        async with Store.of(cells) as store:
            found = []
            for cell in store.cells:
                async with cell.statement() as tx:
                    found.append([tuple(row) for row in await tx.rows(statement)])
            return found

    return asyncio.run(look())


def audited(action, cell, **detail):
    return [(system_user(), action, f"cell/{cell.name}", detail)]


def test_without_a_reason_nothing_is_changed(rescue, cells):
    for words in COMMANDS:
        assert "--reason" in rescue(*words, status=2)
        for reason in ("  ", "two\nlines", "x" * 501):
            assert "reason" in rescue(*words, "--reason", reason, status=2)
    assert rows(cells, TENANT) == [[(0,)], [(0,)]]


def test_a_confirmed_clock_is_audited_in_its_own_cell(rescue, cells):
    rescue("cell", "trust-clock", "cell-1", "--reason", "NTP was repaired")
    assert rows(cells) == [[], audited("clock.trusted", cells[1], reason="NTP was repaired")]
    rescue("cell", "trust-clock", "cell-0", "--reason", "the same machine")
    assert rows(cells)[0] == audited("clock.trusted", cells[0], reason="the same machine")


def test_a_moved_clock_is_audited_in_each_cell(rescue, cells):
    rescue("cell", "move-clock", "60", "--reason", "tomorrow's fires")
    detail = {"reason": "tomorrow's fires", "seconds": 60.0}
    assert rows(cells) == [audited("clock.moved", cell, **detail) for cell in cells]


def test_a_clock_that_may_not_be_moved_leaves_no_audit_row(rescue, cells):
    async def make_production():
        async with Store.of(cells) as store:
            for cell in store.cells:
                async with cell.direct() as connection:
                    await connection.execute("update cell set environment = 'production'")

    asyncio.run(make_production())
    assert "SCH_409" in rescue("cell", "move-clock", "60", "--reason", "a try", status=4)
    assert rows(cells) == [[], []]


def test_the_first_key_is_audited_with_its_reason(rescue, cells):
    made = json.loads(rescue("key", "bootstrap", "--reason", "installed", "--json"))
    [found] = [row for cell in rows(cells) for row in cell]
    assert found[:3] == (system_user(), "key.created", made["id"])
    assert found[3]["reason"] == "installed"
    [creator] = [
        row for cell in rows(cells, "select actor from audit_log where action = 'tenant.created'") for row in cell
    ]
    assert creator == (system_user(),)


def test_on_a_terminal_the_reason_is_asked_for(rescue, cells):
    ours, theirs = pty.openpty()
    os.write(ours, b"asked and answered\n")
    try:
        done = subprocess.run(
            [HORAE, "cell", "trust-clock"], stdin=theirs, capture_output=True, text=True, timeout=60, check=False
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert (done.returncode, "reason, for the audit log" in done.stderr) == (0, True), done.stderr
    assert [found[0][3] for found in rows(cells)] == [{"reason": "asked and answered"}] * 2

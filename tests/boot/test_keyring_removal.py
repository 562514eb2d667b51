"""A key-encryption key leaves the keyring only when no data key and no backup needs it."""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from horae.boot.cli import whole
from horae.security import keyrings
from tests.steps import query

WHY = ("--reason", "the last backup with it is gone")


@pytest.fixture
def remove(cells, monkeypatch, tmp_path):
    file = tmp_path / "keyring.json"
    keyrings.create(file, "first")
    keyrings.rotate(file, "second")
    monkeypatch.setenv("HORAE_CELLS", json.dumps([cell.model_dump() for cell in cells]))

    async def call(name, oldest_backup, status=0):
        words = [
            "keyring",
            "remove",
            name,
            "--file",
            str(file),
            "--oldest-backup",
            f"{oldest_backup:%Y-%m-%dT%H:%M:%S}",
        ]
        done = await asyncio.to_thread(CliRunner().invoke, whole(), [*words, *WHY])
        assert done.exit_code == status, (done.output, done.exception)
        return " ".join(done.output.split()), set(keyrings.load(file).keys)

    return call


async def wrap(store, ctx, text, revision, changed_at):
    statement = "insert into data_key select $1, $2, $3, 0, gen_random_uuid(), 1, $4"
    columns = "(created_at, changed_at, revision, shard_id, tenant_id, version, wrapped)"
    await query(
        store.cells[0], statement.replace("data_key", f"data_key {columns}"), changed_at, changed_at, revision, text
    )


async def test_a_key_that_wraps_a_data_key_stays(store, ctx, remove):
    await wrap(store, ctx, "keyring:first:x", 1, datetime.now(UTC))
    told, keys = await remove("first", datetime.now(UTC), status=4)
    assert ("horae keyring rewrap" in told, keys) == (True, {"first", "second"})


async def test_a_key_that_an_old_backup_may_need_stays_until_that_backup_is_gone(store, ctx, remove):
    rewrapped = datetime.now(UTC) - timedelta(days=7)
    await wrap(store, ctx, "keyring:second:x", 2, rewrapped)
    told, keys = await remove("first", rewrapped - timedelta(days=1), status=4)
    assert ("may need 'first'" in told, keys) == (True, {"first", "second"})
    _, keys = await remove("first", rewrapped + timedelta(days=1))
    assert keys == {"second"}
    [row] = await query(store, "select detail from audit_log where action = 'keyring.key_removed'")
    assert row["detail"]["reason"] == WHY[1]


async def test_the_key_that_wraps_and_one_that_is_not_there_are_refused(store, ctx, remove):
    assert "rotate" in (await remove("second", datetime.now(UTC), status=4))[0]
    assert "no key" in (await remove("third", datetime.now(UTC), status=3))[0]

"""A database that the release before made is migrated by ours, and its jobs go on."""

import json
import os
import subprocess
import sys

import pytest

from horae.runtime.settings import CellSettings
from tests.boot.api_thread import ApiThread
from tests.system.children import ROOT
from tests.system.releases import export_release, find_release_before

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
async def empty_cell(cluster):
    name = await cluster.make_empty()
    yield CellSettings(name="cell-0", dsn=cluster.dsn(name))
    await cluster.drop([name])


@pytest.fixture
def horae(empty_cell, tmp_path):
    """Runs a command of a release on the database."""

    def run(source, *words, module="horae", **access):
        settings = {
            "PYTHONPATH": f"{source}:{ROOT}",
            "HORAE_CELLS": json.dumps([empty_cell.model_dump()]),
            "HORAE_ENVIRONMENT": "test",
            "HORAE_KEYRING": str(tmp_path / "ring.json"),
            "HORAE_TENANT": "default",
        }
        command = [sys.executable, "-m", module, *words]
        done = subprocess.run(
            command, env=os.environ | settings | access, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_a_database_of_the_release_before_is_migrated_and_its_jobs_go_on(horae, empty_cell, tmp_path):
    commit = find_release_before()
    if commit is None:
        pytest.skip("there is no release before: this checkout has no history, or none with fewer migrations")
    before, ours = export_release(commit, tmp_path), ROOT / "src"
    horae(before, "keyring", "create", "--name", "one")
    horae(before, "migrate")
    horae(before, "default", "nightly", "0 3 * * *", module="tests.system.release_job")
    assert "cell-0: 00" in horae(ours, "migrate")
    api = ApiThread([empty_cell], keyring=tmp_path / "ring.json")
    try:
        [job] = json.loads(horae(ours, "job", "list", "--json", HORAE_URL=api.url, HORAE_KEY=api.key()))
    finally:
        api.close()
    assert (job["name"], job["trigger"]["expression"], job["payload"]) == ("nightly", "0 3 * * *", {"shop": 7})
    horae(ours, "node", "--once")
    assert horae(ours, "migrate").strip() == "nothing to do"

"""`docs/api/walk.sh` as a reader runs it: real processes, curl, nothing else."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

HORAE = Path(sys.executable).parent / "horae"
WALK = Path(__file__).parents[2] / "docs" / "api" / "walk.sh"
SECRET = "kV3mQ9xT7pLw2ZrB8nYc5HdJ4sGfAeUo"


@pytest.fixture
def environment(cells):
    return os.environ | {
        "HORAE_CELLS": json.dumps([{"name": cell.name, "dsn": cell.dsn} for cell in cells]),
        "HORAE_ENVIRONMENT": "test",
        "HORAE_API_SECRET": SECRET,
    }


@contextmanager
def running(environment, *words):
    with subprocess.Popen([HORAE, *words], env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(120)


@pytest.mark.timeout(600)
def test_the_walk_of_the_documentation_runs_as_it_is_written(environment):
    made = subprocess.run(
        [HORAE, "key", "bootstrap", "--reason", "first key"],
        check=True,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    key = made.stdout.splitlines()[-1]
    with running(environment, "api", "--port", "0") as api, running(environment, "node"):
        url = api.stdout.readline().split()[-1]
        walk = subprocess.run(
            [WALK],
            check=False,
            env=os.environ | {"HORAE_URL": url, "HORAE_KEY": key, "TENANT": "acme"},
            capture_output=True,
            text=True,
            timeout=300,
        )
    assert walk.returncode == 0, walk.stderr
    assert walk.stdout.splitlines()[-1] == "walked"
    answers = [json.loads(line) for line in walk.stdout.splitlines() if line.startswith("{")]
    decisions = [one["decision"] for one in answers if "decision" in one]
    assert decisions == ["created", "moved"]
    runs = [one["instance_id"] for one in answers if set(one) == {"instance_id", "job_id", "job"}]
    assert len(runs) == 2
    assert len(set(runs)) == 1
    [history] = [
        one for one in answers if one.get("items") and "fire_time" in one["items"][0] and "state" in one["items"][0]
    ]
    states = {one["id"]: one["state"] for one in history["items"]}  # a full five minutes may add a fire of its own
    assert states[runs[0]] == "SUCCESS"
    assert answers[-2]["triggerDelayP95Ms"] >= 0
    assert answers[-1]["items"][0]["action"] == "instance.triggered"
    assert key not in walk.stdout + walk.stderr
    assert "horae_" not in walk.stdout

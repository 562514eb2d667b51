"""The example workers, as people start them, against a real API process; where their toolchain is present."""

import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from horae.domain.schedules.triggers import ManualTrigger
from horae.domain.targets.targets import QueueTarget
from horae.security.roles import Role
from horae.service.identity import api_keys
from horae.service.instances import instances
from tests.cluster import free_port
from tests.steps import a_job, query, until

ROOT = Path(__file__).parents[2]
WORKERS = ROOT / "examples" / "workers"
BUILT = ROOT / ".venv" / "go"
"""Go's own library takes it half a minute to compile: once is enough."""
SECRET = "kV3mQ9xT7pLw2ZrB8nYc5HdJ4sGfAeUo"
PROGRAMS = {"go": ["go", "run", "."], "java": ["java", "Worker.java"]}


@contextmanager
def process(command, log, **how):
    with log.open("wb") as out:
        started = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True, **how)
    try:
        yield started
    finally:
        if started.poll() is None:
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()


@pytest.fixture
async def url(cells, tmp_path):
    port = free_port()
    env = os.environ | {
        "HORAE_CELLS": json.dumps([{"name": cell.name, "dsn": cell.dsn} for cell in cells]),
        "HORAE_ENVIRONMENT": "test",
        "HORAE_API_SECRET": SECRET,
    }
    command = [sys.executable, "-m", "horae", "api", "--port", str(port)]
    with process(command, tmp_path / "api.log", env=env) as api:

        def answers():
            assert api.poll() is None, (tmp_path / "api.log").read_text()
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5):
                    return True
            except OSError:
                return False

        await until(answers, 60)
        yield f"http://127.0.0.1:{port}"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("language", sorted(PROGRAMS))
async def test_a_worker_in_another_language_handles_what_is_due(ctx, store, url, tmp_path, language):
    if shutil.which(PROGRAMS[language][0]) is None:
        pytest.skip(f"no {language} here")
    await a_job(ctx, "mail", ManualTrigger(), target=QueueTarget("mail"))
    for n in range(5):
        await instances.trigger(ctx, "mail", f"ok-{n}", payload={"n": n, "text": 'a "b" \\ é\n'}, even_if_down=True)
    await instances.trigger(ctx, "mail", "bad", payload={"fail": True}, even_if_down=True)
    key = (await api_keys.create(ctx, "worker", [Role.WORKER])).text
    env = os.environ | {"HORAE_URL": url, "HORAE_KEY": key, "HORAE_QUEUE": "mail", "GOCACHE": str(BUILT)}
    log = tmp_path / "worker.log"
    with process(PROGRAMS[language], log, cwd=WORKERS / language, env=env) as worker:

        async def handled():
            assert worker.poll() is None, log.read_text()
            done = await query(store, "select state from instance_history")
            failed = await query(store, "select error_msg from instance_live where retry_count > 0")
            return len(done) == 5 and [row["error_msg"] for row in failed] == ["the payload says so"]

        await until(handled, 240)
        os.killpg(worker.pid, signal.SIGTERM)
        worker.wait(60)
    assert {row["state"] for row in await query(store, "select state from instance_history")} == {"SUCCESS"}
    assert log.read_text().count("handled ") == 5

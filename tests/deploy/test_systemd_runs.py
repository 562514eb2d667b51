"""A real systemd starts our units, restarts one that makes no progress, and stops them: `make long`."""

import json
import os
import signal
from pathlib import Path

import pytest

from horae.runtime.clock import boottime
from tests.api.api_servers import SECRET
from tests.cluster import free_port
from tests.deploy.systemd_manager import SystemdManager
from tests.steps import until

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]
LONG = 60.0


@pytest.fixture
async def manager(cells, tmp_path):
    settings = {
        "HORAE_CELLS": json.dumps([cell.model_dump() for cell in cells], default=str),
        "HORAE_ENVIRONMENT": "test",
        "HORAE_ENCRYPTION": "off",
        "HORAE_API_SECRET": SECRET,
        "HORAE_API_PORT": str(free_port()),
        "HORAE_LEASE_TTL": "2",
        "HORAE_NODE_MONITORING_PORT": "0",
        "HORAE_API_MONITORING_PORT": "0",
    }
    with SystemdManager(tmp_path, settings) as made:
        await until(made.is_up, LONG)
        yield made


@pytest.mark.parametrize("word", ["node", "api"])
async def test_systemd_starts_watches_and_stops_a_unit(manager, word, record_property):
    unit = f"horae-{word}"
    began = boottime()
    assert manager.systemctl("start", unit, timeout=LONG) == "", manager.systemctl(
        "show", unit, "--property", "ExecMainStatus,Result,NRestarts"
    )
    record_property("start_s", round(boottime() - began, 1))
    assert manager.show(unit, "ActiveState") == "active"
    assert manager.show(unit, "StatusText") == "ready"
    first = int(manager.show(unit, "MainPID"))
    status = Path(f"/proc/{first}/status").read_text()
    assert "Uid:\t65534" in status
    assert "CapEff:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status
    os.kill(first, signal.SIGUSR1)  # blocks the event loop for longer than the watchdog waits
    await until(lambda: manager.show(unit, "NRestarts") == "1", LONG)
    await until(lambda: manager.show(unit, "StatusText") == "ready", LONG)
    assert int(manager.show(unit, "MainPID")) not in {0, first}
    assert "Fatal Python error: Aborted" in manager.log.read_text(), "it says where it was"
    assert manager.systemctl("stop", unit, timeout=LONG) == ""
    assert manager.show(unit, "ActiveState") == "inactive"
    assert manager.show(unit, "Result") == "success"

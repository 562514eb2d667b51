"""A benchmark run as people run it: one JSON object on the last line, with the promised keys."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster import free_port

ROOT = Path(__file__).parents[2]


@pytest.mark.long  # the gate makes such runs
def test_a_short_run_prints_one_object_with_the_promised_keys(tmp_path):
    tmp_path.chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o055)
    environment = os.environ | {"HORAE_BENCH_DIR": str(tmp_path / "bench"), "HORAE_BENCH_PORT": str(free_port())}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.run", "store", "1"],
        cwd=ROOT, env=environment | {"HORAE_BENCH_JOBS": "10000"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == (0 if found["ok"] else 1), done.stderr
    promised = {"name", "commit", "machine", "settings", "rate", "bare", "ratio", "ok"}
    figures = {"pg_cpu_ratio", "client_cpu_ms_per_fire", "wal_bytes_per_fire", "tx_per_fire", "bare_vs_single_table"}
    assert promised | figures | {"task_ratio", "rows_in_history"} <= set(found)
    assert found["fires"] == found["rows_in_history"] > 0

"""What grows with nodes and cells: how it is counted, and `benchmarks.growth` on real nodes, small and in full size."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.deployment import Stretch

from benchmarks import growth
from tests.cluster import free_port

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that PostgreSQL's own user may enter, whatever pytest does to the folders of others."""
    with tempfile.TemporaryDirectory(prefix="horae-growth-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def measure(folder: Path, *words: str) -> list[dict]:
    """Run `benchmarks.growth` in a folder of its own; returns its deployments."""
    environment = os.environ | {
        "HORAE_BENCH_DIR": str(folder / "bench"),
        "HORAE_BENCH_PORT": str(free_port()),
        "HORAE_BENCH_TARGET_PORT": str(free_port()),
        "HORAE_BENCH_SETTINGS": json.dumps({"shared_buffers": "128MB", "max_connections": "200"}),
    }
    out = folder / "growth.json"
    command = [sys.executable, "-m", "benchmarks.growth", "--out", str(out), *words]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text())["deployments"]


STRETCH = Stretch(
    seconds=10.0,
    fires=0,
    node_cpu_s=0.4,
    postgresql_cpu_s=0.2,
    target_cpu_s=0.0,
    others_cpu_s=0.0,
    statements=120.0,
    fire_statements=0.0,
    result_statements=0.0,
    lease_statements=20.0,
    connections=48,
    late_ms=(),
)


def test_a_fire_costs_what_is_beyond_an_idle_deployment():
    loaded = STRETCH._replace(
        seconds=5.0, fires=1000, node_cpu_s=1.2, postgresql_cpu_s=0.6, statements=660.0, fire_statements=400.0,
        result_statements=100.0,
    )  # fmt: skip
    assert growth.each_fire(loaded, STRETCH) == {
        "fire_statements": 0.4,
        "result_statements": 0.1,
        "other_statements": 0.1,
        "node_cpu_ms": 1.0,
        "postgresql_cpu_ms": 0.5,
    }


def test_an_idle_deployment_is_divided_by_its_pairs_of_nodes_and_cells():
    assert growth.each_second(STRETCH, 4) == {
        "statements": 3.0,
        "lease_statements": 0.5,
        "connections": 12.0,
        "node_cpu_ms": 10.0,
        "postgresql_cpu_ms": 5.0,
    }


@pytest.mark.long  # three nodes and a PostgreSQL of their own
@pytest.mark.timeout(300)
def test_every_pair_of_a_node_and_a_cell_has_the_same_connections_and_leases(folder):
    deployments = measure(folder, "--nodes", "1,2", "--cells", "2", "--seconds", "2")
    assert [(one["nodes"], one["cells"]) for one in deployments] == [(1, 2), (2, 2)]
    for one in deployments:
        assert one["fires"] > 0
        assert 0 < one["each_fire"]["fire_statements"] <= 1.1
        assert 0 < one["each_second_idle"]["lease_statements"] < 4
        assert one["each_second_idle"]["connections"] <= 17


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_the_cost_of_an_idle_node_in_a_cell_does_not_grow_with_their_number(folder, record_property):
    deployments = measure(folder)
    assert len(deployments) == 9
    each = [one["each_second_idle"]["lease_statements"] for one in deployments]
    record_property("lease_statements_per_s_least", min(each))
    record_property("lease_statements_per_s_most", max(each))
    assert max(each) <= 2 * min(each)

"""The doors tried with requests that schemathesis makes from the OpenAPI document: all checks, right and wrong data,
single requests and sequences, over a socket, on real PostgreSQL.
"""

import asyncio
import os
import re
import sys
from collections import Counter
from pathlib import Path

import httpx2
import pytest

from horae.api import gate
from horae.boot.doors import opened
from horae.domain.tenants import SYSTEM
from horae.runtime.meter import Rate
from horae.security.roles import Role
from horae.service import keys, tenants
from horae.service.context import Context
from tests.api.world import own_shards

ROOT = Path(__file__).parents[2]
FUZZ = ROOT / "tests" / "api" / "fuzz"
PROGRAM = Path(sys.executable).parent / "schemathesis"
FREE = Rate(1e6, 1e6)

pytestmark = pytest.mark.long  # until a whole run has been seen to pass: no run has reached its end yet


@pytest.fixture
def fuzz(settings, store, monkeypatch, tmp_path):
    """Runs it: `await fuzz(examples, seed)` gives how many requests were answered, by status."""
    monkeypatch.setattr(gate, "FAILURES", FREE)
    free = settings.model_copy(update={"api_port": 0, "api_rate": FREE.rate, "api_burst": FREE.burst})

    async def run(examples: int, seed: int) -> Counter[int]:
        await own_shards(store)
        system = await tenants.create(store, SYSTEM, "test", width=1)
        made = await keys.create(Context.of(store, system, "test"), "fuzz", [Role.ADMIN, Role.WORKER])
        headers = {"Authorization": f"Bearer {made.text}"}
        async with opened(free, store) as address, httpx2.AsyncClient(headers=headers, timeout=60) as client:
            (tmp_path / "openapi.json").write_text((await client.get(f"{address}/openapi.json")).text)
            with (tmp_path / "said").open("wb") as said:
                process = await asyncio.create_subprocess_exec(
                    *(PROGRAM, "--config-file", FUZZ / "schemathesis.toml", "run", "openapi.json", "--url", address),
                    *("--checks", "all", "--max-examples", str(examples), "--seed", str(seed)),
                    *("--header", f"Authorization: {headers['Authorization']}"),
                    env=os.environ | {"PYTHONPATH": str(ROOT), "FUZZ_OWN_KEY": made.key.principal},
                    cwd=tmp_path,
                    stdout=said,
                    stderr=asyncio.subprocess.STDOUT,
                )
                await process.wait()
            told = (await client.get(f"{address}/metrics")).text
        assert process.returncode == 0, (tmp_path / "said").read_text()
        return answered(told)

    return run


def answered(metrics: str) -> Counter[int]:
    """Requests by status, as the server counted them."""
    found: Counter[int] = Counter()
    for status, many in re.findall(
        r'^horae_api_requests_total\{.*status="(\d+)".*\} ([\d.e+]+)$', metrics, re.MULTILINE
    ):
        found[int(status)] += int(float(many))
    return found


@pytest.mark.timeout(600)
async def test_thousands_of_generated_requests_find_nothing(fuzz):
    seen = await fuzz(examples=10, seed=7)
    assert seen.total() >= 3_000, seen
    assert not [status for status in seen if status >= 500], seen


@pytest.mark.long
@pytest.mark.timeout(7200)
async def test_a_hundred_thousand_generated_requests_find_nothing(fuzz):
    seen = await fuzz(examples=700, seed=8)
    assert seen.total() >= 100_000, seen
    assert not [status for status in seen if status >= 500], seen

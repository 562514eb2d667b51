"""`horae capacity` needs neither an API nor a database."""

import json
import subprocess
import sys
from pathlib import Path

from horae.domain.capacity.figures import STORE
from tests.api.api_servers import CLEAN

HORAE = Path(sys.executable).parent / "horae"
WORDS = ("capacity", "--jobs", "300000", "--fires", "1000", "--peak", "5000")


def run(*words):
    return subprocess.run([HORAE, *words], env=CLEAN, capture_output=True, text=True, check=False, timeout=60)


def test_it_says_what_is_needed_and_by_which_report():
    needs = {need["name"]: need for need in json.loads(run(*WORDS, "--json").stdout)}
    nodes = needs["nodes"]["amount"]
    assert needs["cells"]["amount"] == 1
    assert nodes > 1
    assert STORE.source in needs["cells"]["basis"]
    assert f"{nodes:g} processes" in run(*WORDS).stdout


def test_what_no_measurement_supports_is_refused():
    refused = run(*WORDS, "--p95", "1")
    assert refused.returncode == 1
    assert "no measurement supports a p95 of 1 ms" in refused.stderr

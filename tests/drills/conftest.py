"""Cells of staging, nodes as processes on them, and `horae drill` as a process of its own."""

import json
import sys
from pathlib import Path

import pytest

from tests.keyring import keyring
from tests.steps import query
from tests.system.children import Child

HORAE = Path(sys.executable).parent / "horae"
LONG_S = 90.0
ALIVE = "select from node where expires_at > now()"


@pytest.fixture
def environment(monkeypatch, cells):
    """The settings of every process of these tests; they are those of staging."""
    told = {
        "HORAE_CELLS": json.dumps([cell.model_dump() for cell in cells]),
        "HORAE_ENVIRONMENT": "staging",
        "HORAE_KEYRING": str(keyring()),
        "HORAE_LEASE_TTL": "4",
        "HORAE_GRACE": "2",
        "PYTHONUNBUFFERED": "1",
    }
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    return told


@pytest.fixture
async def staging(store, environment):
    """The cells belong to staging."""
    await query(store, "update cell set environment = 'staging'")
    return store


@pytest.fixture
def started(tmp_path):
    """Starts `horae` with these words, with the environment of the test; what was started is ended."""
    made = []

    def start(*words):
        child = Child(words[0], tmp_path / f"{words[0]}-{len(made)}.log")
        made.append(child)
        child.spawn([HORAE, *words])
        return child

    yield start
    for child in made:
        child.signal(18)
        child.end()


def last_answer(child):
    """What a drill printed with `--json`."""
    [line] = [line for line in child.log.read_text().splitlines() if line.startswith('{"passed"')]
    return json.loads(line)

"""The release before this one: the newest commit whose migrations are only the beginning of ours, and its processes."""

import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from horae.runtime.settings import CellSettings
from tests.keyring import keyring
from tests.system.children import ROOT, Child

MIGRATIONS = "src/horae/store/migrations"
LEASE_TTL_S = 2
GRACE_S = 6


def find_release_before() -> str | None:
    """The commit; None where git, the history or such a commit is missing."""
    changes = _git("log", "--format=%H", "--", MIGRATIONS)
    if changes is None:
        return None
    present = _migrations_of("HEAD")
    for commit in (f"{one}^" for one in changes.decode().split()):
        migrations = _migrations_of(commit)
        if migrations and migrations < present:
            return commit
    return None


def _migrations_of(commit: str) -> set[str]:
    """The migrations of a commit, each with the hash of its text."""
    listed = _git("ls-tree", f"{commit}:{MIGRATIONS}")
    return {line for line in (listed or b"").decode().splitlines() if line.endswith(".sql")}


def export_release(commit: str, folder: Path) -> Path:
    """Write the sources of a commit into a folder; returns what belongs into PYTHONPATH."""
    packed = _git("archive", "--format=tar", commit, "src")
    assert packed is not None, f"git archives no {commit}"
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def _git(*words: str) -> bytes | None:
    try:
        done = subprocess.run(["git", "-C", ROOT, *words], check=False, capture_output=True)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


class ReleaseProcess(Child):
    """A process that runs the sources of one release."""

    def __init__(self, name: str, folder: Path, source: Path, cells: Sequence[CellSettings]) -> None:
        super().__init__(name, folder / f"{name}.log")
        self.source = source
        self._settings = {
            "PYTHONPATH": str(source),
            "HORAE_CELLS": json.dumps([cell.model_dump() for cell in cells]),
            "HORAE_ENVIRONMENT": "test",
            "HORAE_KEYRING": str(keyring()),
            "HORAE_LEASE_TTL": f"{LEASE_TTL_S}",
            "HORAE_GRACE": f"{GRACE_S}",
            "PYTHONUNBUFFERED": "1",
        }

    def start(self, *words: str) -> None:
        """Start `python` with these words; the log says first which sources it runs."""
        environment = os.environ | self._settings
        where = [sys.executable, "-c", "import horae; print(horae.__file__)"]
        found = subprocess.run(where, env=environment, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        assert Path(found.strip()).is_relative_to(self.source), f"{self.name} would run {found.strip()}"
        self.spawn([sys.executable, *words], environment)

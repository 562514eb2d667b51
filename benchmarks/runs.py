"""Runs of a benchmark that takes long. Each is kept as it ends: what was stopped goes on with the next one."""

import json
from typing import Any

from benchmarks.measure import commit
from benchmarks.server import FOLDER

Run = dict[str, Any]
RUNS = 5


class KeptRuns:
    """The runs of this commit, by the name of what was run. A tree with changes is another tree each time."""

    def __init__(self, benchmark: str, seconds: float) -> None:
        FOLDER.mkdir(parents=True, exist_ok=True)
        here = commit()
        self._path = FOLDER / f"{benchmark}-{here}-{seconds:g}.json"
        if here.endswith("+"):
            self._path.unlink(missing_ok=True)
        self.done: dict[str, list[Run]] = json.loads(self._path.read_text()) if self._path.exists() else {}

    def many(self, name: str) -> int:
        """How many there are of a name."""
        return len(self.done.get(name, ()))

    def add(self, name: str, run: Run) -> None:
        """One has ended."""
        self.done.setdefault(name, []).append(run)
        self._path.write_text(json.dumps(self.done))

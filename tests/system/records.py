"""What proofs leave behind: one JSON file per run, written anew after every strike, and the evidence of violations."""

import asyncio
import json
import os
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.cluster import BIN
from tests.system.checker import Verdict
from tests.system.experiment import Experiment, Outcome
from tests.system.picture import Bar, draw

SHOWN = 20
TABLES = (
    "job",
    "job_version",
    "job_cursor",
    "instance_live",
    "instance_history*",
    "outbox*",
    "task_key",
    "shard",
    "node",
)


class Record:
    """One run of one kind; what is in the file is always whole."""

    def __init__(self, folder: Path, kind: str, ttl: float, rate: float, seed: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.name = f"{kind.replace('+', '_')}-{int(time.time())}-{os.getpid()}"
        self.facts: dict[str, Any] = {
            "kind": kind,
            "ttl": ttl,
            "rate": rate,
            "seed": seed,
            "cores": os.cpu_count(),
            "began": time.time(),
            "clusters": 0,
            "strikes": [],
            "verdicts": [],
            "errors": [],
        }

    def add(self, outcome: Outcome) -> None:
        self.facts["strikes"].append(outcome.as_dict())
        self.save()

    def judge(self, verdict: Verdict, evidence: Path | None) -> None:
        """A verdict speaks of everything since its cluster was made: the last one of each counts."""
        said = {
            "after": len(self.facts["strikes"]),
            "cluster": self.facts["clusters"],
            "ok": verdict.ok,
            "violations": [str(one) for one in verdict.violations[:SHOWN]],
            "violated": Counter(one.check for one in verdict.violations),
            "counts": dict(verdict.counts),
            "lateness": dict(verdict.lateness),
            "evidence": evidence.name if evidence else None,
        }
        self.facts["verdicts"].append(said)
        self.save()

    def fail(self, error: str) -> None:
        self.facts["errors"].append(error)
        self.save()

    def save(self) -> None:
        self.facts["ended"] = time.time()
        made = self.folder / f".{self.name}.new"
        made.write_text(json.dumps(self.facts, default=str))
        made.replace(self.folder / f"{self.name}.json")
        if self.facts["strikes"]:
            (self.folder / f"{self.name}.svg").write_text(picture(self.facts["kind"], self.facts["strikes"]))


def read(folders: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Every run in these folders."""
    for folder in folders:
        for path in sorted(folder.glob("*.json")):
            found = json.loads(path.read_text())
            if "strikes" in found:
                yield found


def done(folder: Path, kind: str) -> int:
    """How many strikes of a kind are recorded there already."""
    return sum(len(run["strikes"]) for run in read([folder]) if run["kind"] == kind) if folder.exists() else 0


def picture(kind: str, strikes: Sequence[dict[str, Any]]) -> str:
    """Of the strike after which full service took longest to return."""
    worst = max(strikes, key=lambda one: (one["full_service"] or 0.0, one["lateness"].get("max", 0.0)))
    start = worst["began"] - 5.0
    bar = Bar(kind, worst["began"] - start, worst["healed"] - start)
    return draw(f"{kind}: the slowest of {len(strikes)}", worst["timeline"], [bar])


async def keep(experiment: Experiment, verdict: Verdict, folder: Path) -> Path:
    """Everything that a violation can be understood by, before its cluster goes."""
    folder.mkdir(parents=True)
    cluster = experiment.cluster
    (folder / "verdict.txt").write_text("\n".join(f"{one}\n    {list(one.rows)}" for one in verdict.violations))
    (folder / "strikes.json").write_text(json.dumps([vars(one) for one in experiment.strikes], default=str, indent=1))
    await asyncio.to_thread(_copy, experiment, folder)
    for cell in cluster.cells:
        tables = [f"--table={name}" for name in TABLES]
        command = [BIN / "pg_dump", "-Fc", "-f", folder / f"{cell.name}.dump", *tables, cell.dsn]
        await asyncio.to_thread(subprocess.run, command, check=False, timeout=120)
    return folder


def _copy(experiment: Experiment, folder: Path) -> None:
    cluster = experiment.cluster
    logs = [node.log for node in cluster.nodes] + [cell.folder / "log" for cell in cluster.cells]
    for log in logs:
        shutil.copy(log, folder / f"{log.parent.name}-{log.name}")
    for path in cluster.target.folder.glob("ledger.sqlite*"):
        shutil.copy(path, folder)
    if cluster.load is not None:
        shutil.copy(cluster.load.api_log, folder)

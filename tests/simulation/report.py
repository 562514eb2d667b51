"""Many seeds over several processes, with progress, and what is written down about them."""

import asyncio
import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.cluster import Cluster
from tests.simulation import fates, scene, world
from tests.simulation.bugs import PLANTED
from tests.simulation.session import Result, Session

PORTION = 25
SHOWN = 20
_session: Session


def run_range(cluster: Cluster, seeds: range, jobs: int, out: str | None, bug: str | None = None) -> int:
    """Run seeds and tell how far it is; writes the JSON after every portion, so that nothing is lost with the rest."""
    began, tally = time.time(), Tally(seeds)
    context = get_context("spawn")
    dsns = context.Queue()
    for _ in range(jobs):
        dsns.put(cluster.dsn(asyncio.run(cluster.make_cells(1))[0]))
    portions = [seeds[first : first + PORTION] for first in range(0, len(seeds), PORTION)]
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(dsns,)) as pool:
        for done in as_completed([pool.submit(_run, portion, bug) for portion in portions]):
            for result in done.result():
                tally.add(result)
            told = tally.facts(time.time() - began, jobs)
            print(
                f"{tally.done} seeds, {len(tally.failed)} failed, {told['seconds']:.0f} s", file=sys.stderr, flush=True
            )
            if out:
                Path(out).write_text(json.dumps(told, indent=2) + "\n")
    print(json.dumps(told, indent=2))
    return 1 if tally.failed else 0


class Tally:
    """What came of all of them."""

    def __init__(self, seeds: range) -> None:
        self.seeds = seeds
        self.done = 0
        self.failed: dict[int, list[str]] = {}
        self.counts: Counter[str] = Counter()
        self.virtual = 0.0
        self.commit = _commit()
        self._hashes: dict[int, str] = {}

    def add(self, result: Result) -> None:
        self.done += 1
        self.virtual += result.seconds
        self.counts.update(result.counts)
        self._hashes[result.seed] = result.trace_hash
        if result.violations:
            self.failed[result.seed] = result.violations

    def facts(self, seconds: float, jobs: int) -> dict[str, Any]:
        traces = "".join(self._hashes[seed] for seed in sorted(self._hashes))
        return {
            "seeds": {"from": self.seeds.start, "to": self.seeds.stop, "run": self.done},
            "failed": len(self.failed),
            "violations": {str(seed): self.failed[seed] for seed in sorted(self.failed)[:SHOWN]},
            "counts": dict(sorted(self.counts.items())),
            "virtual_hours": round(self.virtual / 3600, 2),
            "traces": hashlib.sha256(traces.encode()).hexdigest(),
            "seconds": round(seconds, 1),
            "commit": self.commit,
            "machine": {
                "cores": os.cpu_count(),
                "python": platform.python_version(),
                "jobs": jobs,
                "memory_gib": _memory(),
            },
            "settings": {
                "ttl_seconds": world.TTL.total_seconds(),
                "patience_seconds": world.PATIENCE,
                "rates": {str(fate): rate for fate, rate in fates.RATES.items()},
                "harm": list(scene.HARM),
                "chaos_seconds": list(scene.CHAOS),
            },
        }


def _begin(dsns: Any) -> None:
    global _session  # noqa: PLW0603 - one per process
    _session = Session(dsns.get())


def _run(seeds: Iterable[int], bug: str | None) -> list[Result]:
    return [_session.run(seed, PLANTED[bug]() if bug else None) for seed in seeds]


def _commit() -> str:
    told = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return told.stdout.strip()


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30

"""`make gate`: measure every stage, or the named ones, on a PostgreSQL of its own; status 1 where a bound is missed.

Each stage is a process, with free ports and a folder that is removed at the end. A stage that ends without figures, or
one of whose ratios lies below its floor, is measured again, at most twice. With `--accept` what was measured becomes
the reference.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise

from benchmarks.gate import verdicts
from benchmarks.gate.stages import JOBS, STAGES
from benchmarks.gate.verdicts import TRIES, Reference, Verdict
from benchmarks.server import free_port

STAGE_MOST_S = 240.0
END_MOST_S = 60.0
# Without full pages: how many a short slice writes is decided by when the last checkpoint was.
SETTINGS = {"shared_buffers": "512MB", "max_wal_size": "4GB", "full_page_writes": "off"}
PREPARING = SETTINGS | {"fsync": "off", "synchronous_commit": "off"}


def main(words: Sequence[str]) -> int:
    """Prepare, measure, print the table; returns the exit status."""
    names = [word for word in words if word != "--accept"]
    references = [one for one in verdicts.load() if not names or one.stage in names]
    marks, found = [("", time.monotonic())], []
    with tempfile.TemporaryDirectory(prefix="horae-gate-", ignore_cleanup_errors=True) as folder:
        environment = os.environ | {
            "HORAE_BENCH_DIR": folder,
            "HORAE_BENCH_PORT": str(free_port()),
            "HORAE_BENCH_TARGET_PORT": str(free_port()),
            "HORAE_BENCH_SETTINGS": json.dumps(SETTINGS),
        }
        _run(["benchmarks.data", str(JOBS)], environment | {"HORAE_BENCH_SETTINGS": json.dumps(PREPARING)})
        marks.append(("preparation", time.monotonic()))
        for stage in names or STAGES:
            found += _measure(stage, [one for one in references if one.stage == stage], environment)
            marks.append((stage, time.monotonic()))
    _print(found, {name: now - before for (_, before), (name, now) in pairwise(marks)})
    if "--accept" in words:
        verdicts.accept({one.reference.figure: one.values[-1] for one in found if one.values})
    return 0 if all(verdict.kept for verdict in found) else 1


def _measure(stage: str, references: Sequence[Reference], environment: Mapping[str, str]) -> list[Verdict]:
    measured: list[dict[str, float]] = []
    for _ in range(TRIES):
        measured.append(json.loads(_run(["benchmarks.gate.stages", stage], environment) or "{}"))
        found = verdicts.judge(references, measured)
        if all(verdict.final for verdict in found) or any(verdict.lost for verdict in found):
            break
    return found


def _run(words: Sequence[str], environment: Mapping[str, str]) -> str:
    """The last line that a module prints; nothing where it fails or takes too long."""
    print(f"gate: {' '.join(words)}", file=sys.stderr, flush=True)
    process = subprocess.Popen(
        [sys.executable, "-m", *words], env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        said, _ = process.communicate(timeout=STAGE_MOST_S)
    except subprocess.TimeoutExpired:
        said = ""
        print(f"gate: {words[-1]} did not end within {STAGE_MOST_S:.0f} s", file=sys.stderr)
    finally:
        _end(process)
    return said.splitlines()[-1] if process.returncode == 0 and said else ""


def _end(process: "subprocess.Popen[str]") -> None:
    """Interrupt what still runs, so that it ends its own nodes and PostgreSQL; then whatever is left of its session."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_MOST_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _print(found: Sequence[Verdict], seconds: Mapping[str, float]) -> None:
    rows = [("figure", "measured", "reference", "bound", "verdict", "what it means")]
    for one in found:
        values = ", ".join(f"{value:g}" for value in one.values) or "nothing"
        verdict = "ok" if one.kept else "MISSED"
        reference = one.reference
        rows.append((reference.figure, values, f"{reference.reference:g}", reference.bound, verdict, reference.means))
    wide = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        print("  ".join([*(word.ljust(width) for word, width in zip(row[:5], wide, strict=True)), row[5]]))
    stages = ", ".join(f"{name} {took:.0f}" for name, took in seconds.items())
    print(f"seconds: {stages}, together {sum(seconds.values()):.0f}")
    missed = [one.reference.figure for one in found if not one.kept]
    print(f"gate: missed {', '.join(missed)}" if missed else "gate: every figure keeps to its bound")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

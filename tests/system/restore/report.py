"""Writes docs/proof/restore.md from the runs in restore.json: `python -m tests.system.restore.report`."""

import json
from typing import Any, Final

from tests.system.children import ROOT

REPORT: Final = ROOT / "docs" / "proof" / "restore.json"
PAGE: Final = REPORT.with_suffix(".md")
NOTHING: Final = ("lost", "doubled")
"""Figures that must be 0."""
HEAD: Final = """# Restore

A cell with a base of many rows fires and takes tasks while its WAL goes to two repositories: a folder, and an S3
store (SeaweedFS over TLS). It is lost, and restored again and again to moments chosen at random; after the first
half of the restores the first repository cannot be reached any more. Every restore is a line of
[restore.json](restore.json); `make long ROW=R-28` makes ten of them at full size (`tests/system/test_restore.py`).
[Backup and restore](../backup.md) explains the words.

| base rows | fires/s | minutes | from | restores | acknowledged before | lost | doubled | RTO, max | RPO | commits |
|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---|
"""
TAIL: Final = """
*Acknowledged before* are tasks that were acknowledged before the target of their restore, *lost* those of them that
were missing. *Doubled* are fires with two idempotency keys. *RTO* is the time from the command that restores until
every job has fired again, with the opening in between. *RPO* is how long before the loss the oldest task was
acknowledged that a restore to the end of the archive lacks. The servers, the node and the receiver share two cores
with whatever else runs there.
"""


def page() -> str:
    """The page of all runs."""
    runs = json.loads(REPORT.read_text())["runs"]
    kinds = sorted({_kind(run) for run in runs})
    return HEAD + "".join(_row(kind, [run for run in runs if _kind(run) == kind]) for kind in kinds) + TAIL


def append(run: dict[str, Any]) -> None:
    """Add a run to the report, and write the page."""
    runs = json.loads(REPORT.read_text())["runs"] if REPORT.exists() else []
    REPORT.write_text(json.dumps({"runs": [*runs, run]}, indent=1) + "\n")
    PAGE.write_text(page())


def _kind(run: dict[str, Any]) -> tuple[int, int, float, int]:
    return run["rows"], run["fires_per_s"], run["minutes"], run["repository"]


def _row(kind: tuple[int, int, float, int], runs: list[dict[str, Any]]) -> str:
    rows, rate, minutes, repository = kind
    commits = ", ".join(f"`{commit}`" for commit in sorted({run["commit"] for run in runs}))
    sums = [f"{sum(run[name] for run in runs):,}" for name in ("acknowledged", *NOTHING)]
    rpo = max(run["rpo_s"] for run in runs)
    where = "S3" if repository == 2 else "folder"
    figures = [f"{rows:,}", str(rate), f"{minutes:g}", where, str(len(runs)), *sums]
    return f"| {' | '.join(figures)} | {max(run['rto_s'] for run in runs):.0f} s | {rpo:.1f} s | {commits} |\n"


if __name__ == "__main__":
    PAGE.write_text(page())

"""Writes docs/proof/failover.md from the runs in failover.json: `python -m tests.system.failover.report`."""

import json
import math
from collections.abc import Sequence
from typing import Any, Final

from tests.system.children import ROOT
from tests.system.failover.faults import FAULTS

REPORT: Final = ROOT / "docs" / "proof" / "failover.json"
PAGE: Final = REPORT.with_suffix(".md")
NOTHING: Final = ("lost", "by_old_primary", "doubled", "missed", "delivered_without_record")
"""Figures that must be 0."""
HEAD: Final = """# Failover

One cell is a Patroni cluster of three members (`deploy/patroni`), each in its own network namespace with its own etcd.
Two nodes fire 300 times a second, four writers create jobs over the API, and a probe writes to every member directly,
whoever is the primary. Then one fault strikes. Every run is a line of [failover.json](failover.json); `make long` makes
ten of each kind (`tests/system/test_failover.py`). [High availability](../high-availability.md) explains the settings.

| fault | runs | acknowledged | lost | by an old primary | fires | doubled | missed | sent without a record |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
"""
PAUSES: Final = """
*Acknowledged* are commits of probes and answers of the API. *By an old primary* are commits that it acknowledged after
another member had been promoted.

| fault | longest pause between two calls, median | p95 | max | new primary after, median | commits |
|---|---:|---:|---:|---:|---|
"""
TAIL: Final = """
The pause is what callers see: the time without any call. A frozen agent leaves its PostgreSQL at work until another
member is promoted, so its pause is much shorter than the time until the new primary. All members, nodes and writers
share two cores with whatever else runs there.

Left out are runs before the tests took their final form. One of them was no single fault: `cut-primary` struck while
the third member was still coming back from `freeze-agent`, so that two of three were away. Nothing acknowledged was
lost and nothing was doubled, but commits waited for 64 s, and 1,740 fires had no row of their own afterwards (whether
their misfire policy skipped them was not looked at). Since then a run begins when both standbys have streamed for
four seconds.
"""


def page() -> str:
    """The page of all runs."""
    runs = json.loads(REPORT.read_text())["runs"]
    kinds = [(fault, [run for run in runs if run["fault"] == fault]) for fault in FAULTS]
    counted = "".join(_counts(fault, found) for fault, found in kinds if found)
    timed = "".join(_pauses(fault, found) for fault, found in kinds if found)
    return HEAD + counted + PAUSES + timed + TAIL


def _counts(fault: str, runs: Sequence[dict[str, Any]]) -> str:
    def sum_of(name: str) -> str:
        return f"{sum(run[name] for run in runs):,}"

    names = ("acknowledged", "lost", "by_old_primary", "fires", "doubled", "missed", "delivered_without_record")
    return f"| `{fault}` | {len(runs)} | {' | '.join(sum_of(name) for name in names)} |\n"


def _pauses(fault: str, runs: Sequence[dict[str, Any]]) -> str:
    pauses = [run["longest_pause_s"] for run in runs]
    promoted = [run["promoted_after_s"] for run in runs if run["promoted_after_s"] is not None]
    commits = ", ".join(f"`{commit}`" for commit in sorted({run["commit"] for run in runs}))
    after = f"{_at(promoted, 0.5):g} s" if promoted else "none"
    return (
        f"| `{fault}` | {_at(pauses, 0.5):g} s | {_at(pauses, 0.95):g} s | {max(pauses):g} s | {after} | {commits} |\n"
    )


def _at(values: Sequence[float], share: float) -> float:
    """The smallest value that this share of all values does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


if __name__ == "__main__":
    PAGE.write_text(page())

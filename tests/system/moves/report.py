"""Writes docs/proof/moves.md from the rounds in moves.json: `python -m tests.system.moves.report`."""

import json
from collections.abc import Sequence
from typing import Any, Final

from tests.catcher import percentile
from tests.system.children import ROOT

REPORT: Final = ROOT / "docs" / "proof" / "moves.json"
PAGE: Final = REPORT.with_suffix(".md")
NOTHING: Final = ("lost", "doubled", "doubled_rows", "reschedules_lost", "times_two_cells_active")
"""Figures that must be 0."""
HEAD: Final = """# Moves of shards

Four PostgreSQL clusters, two nodes as processes, jobs with known fire times, and a client that reschedules 30 keys all
the time. Round 0 moves 64 shards, four at a time, without a fault. In each round after it, a coordinator (a process
that is killed in the middle of a step) and a cluster (the source or the target, stopped as if by a loss of power) die
once at every step. Meanwhile one node after the other is stopped for longer than its lease and goes on later: an owner
that does not know that its shards have moved. Every round is an entry of [moves.json](moves.json), written when it
ends; `make long` makes six (`tests/system/test_moves.py`). [Moving shards](../moving-shards.md) explains the steps.

| round | cells | jobs | fires/s | moves | fires | lost | doubled | reschedules | lost | two cells active | commit |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|
"""
PAUSES: Final = """
*Fires* are those that had arrived since the clusters were started. *Lost* and *doubled* come from the log of the
receiver: every fire that was due arrived, and none arrived with two idempotency keys. An attempt that was cut off is
repeated with its key. *Two cells active* is how often a look at both cells, 20 times a second, found the shard active
in both. A round names the commit that was checked out when it ended; the product was the same in all rounds of a run.

| killed | at | moves | closed for, median | p95 | max |
|---|---|---:|---:|---:|---:|
"""
TAIL: Final = """
*Closed* is the time in which the shard was active in no cell, by the record of the move or by these looks, whichever is
longer. Where a coordinator is killed while the shard is closed, another one follows after its lease of two seconds;
where a cluster is killed, the shard waits for it, or is opened again in the source after five seconds.

All clusters, nodes and the receiver share two cores with whatever else runs there. The load of the machine was 5 to 15
in these rounds, and the p95 of moves without a fault was not within its bound of one second. One move at a time, the
same statements closed a shard for 12 to 17 ms. The full size (200,000 jobs, 500 fires a second) has not run yet:
`make long` runs it.
"""


def rounds_of(commit: str, jobs: int) -> set[int]:
    """The rounds that a commit has made at a size."""
    return {one["round"] for one in _rounds() if (one["commit"], one["jobs"]) == (commit, jobs)}


def undisturbed_pause_ms(commit: str, jobs: int, share: float) -> float:
    """For how long shards were closed in moves without a fault: the value that this share of them does not exceed."""
    own = [one for one in _rounds() if (one["commit"], one["jobs"]) == (commit, jobs)]
    return percentile([move["pause_ms"] for one in own for move in one["moves"] if move["killed"] == "none"], share)


def _rounds() -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = json.loads(REPORT.read_text())["runs"] if REPORT.exists() else []
    return runs


def page() -> str:
    """The page of all rounds."""
    rounds = _rounds()
    moved = [move for one in rounds for move in one["moves"]]
    kinds = sorted({(move["killed"], move["step"]) for move in moved}, key=_place)
    timed = "".join(_pauses(kind, [move for move in moved if (move["killed"], move["step"]) == kind]) for kind in kinds)
    return HEAD + "".join(map(_counts, rounds)) + PAUSES + timed + TAIL


def _place(kind: tuple[str, str]) -> tuple[bool, str, str]:
    return kind[0] != "none", *kind


def _counts(one: dict[str, Any]) -> str:
    names = ("jobs", "fires_per_s", "moves", "fires", "lost", "doubled", "reschedules", "reschedules_lost")
    figures = {**one, "moves": len(one["moves"])}
    counted = " | ".join(f"{figures[name]:,}" for name in names)
    two = one["times_two_cells_active"]
    return f"| {one['round']} | {one['cells']} | {counted} | {two} | `{one['commit']}` |\n"


def _pauses(kind: tuple[str, str], moves: Sequence[dict[str, Any]]) -> str:
    pauses = [max(move["pause_ms"], move["closed_ms"]) for move in moves]
    killed, step = kind
    at = f"`{step}`" if step else ""
    shown = " | ".join(f"{value:,} ms" for value in (percentile(pauses, 0.5), percentile(pauses, 0.95), max(pauses)))
    return f"| {killed} | {at} | {len(moves)} | {shown} |\n"


if __name__ == "__main__":
    PAGE.write_text(page())

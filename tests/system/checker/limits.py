"""Limits hold: calls per window as `docs/limits.md` promises, calls at once where the ledger knows, workers' claims."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from tests.system.checker.facts import Facts, Row
from tests.system.checker.verdict import Violation

SLICE, CARRIED = 0.25, 1.0  # a slice's worth of burst is always granted; tokens granted up to 1 s before may be used
WINDOWS = (1.0, 5.0, 20.0)
BACK = 10.0  # what a node held that is gone comes back after 5 s, and its calls are not aborted


def check(facts: Facts, counts: Counter[str]) -> Iterator[Violation]:
    calls: dict[str, list[Row]] = defaultdict(list)
    for row in facts.deliveries:
        calls[row["job"]].append(row)
    for job in facts.jobs:
        limit = job["definition"].get("limit") or {}
        mine = calls[job["name"]]
        if limit and mine:
            counts["limited deliveries"] += len(mine)
            yield from _rate(job["name"], limit, sorted(row["arrived_at"] for row in mine))
            yield from _at_once(facts, job["name"], limit, mine)
    for call in facts.calls:
        if call.op == "claim" and call.limit is not None:
            counts["claims with a limit"] += 1
            if len(call.items()) > call.limit:
                sentence = f"a worker that asked for {call.limit} was given {len(call.items())}"
                yield Violation("limit", sentence, call.items())


def _rate(name: str, limit: dict[str, Any], times: list[float]) -> Iterator[Violation]:
    rate = limit.get("rate")
    if rate is None:
        return
    burst = max(1.0, rate * SLICE, limit.get("burst", rate))
    for window in WINDOWS:
        most = rate * (window + CARRIED) + burst
        first = 0
        for last, at in enumerate(times):
            while at - times[first] > window:
                first += 1
            if last - first + 1 > most:
                sentence = f"{name} was called {last - first + 1} times in {window:g} s, {most:g} are allowed"
                yield Violation("limit", sentence, times[first : last + 1])
                return


def _at_once(facts: Facts, name: str, limit: dict[str, Any], mine: list[Row]) -> Iterator[Violation]:
    """Calls of a node that is cut off or gone are not aborted: near a fault there may be as many more as it held."""
    most = limit.get("concurrency")
    if most is None:
        return
    spans = [(row["arrived_at"], row["answered_at"]) for row in mine if row.get("answered_at")]
    steps = sorted([(end, -1) for _, end in spans] + [(begin, 1) for begin, _ in spans])
    running = 0
    for at, step in steps:
        running += step
        if running > most and not facts.struck(at - BACK, at, BACK):
            yield Violation("limit", f"{name} ran {running} calls at once, {most} are allowed", [at])
            return

"""Deliveries of one key beyond the first: each has a cause that something else bears witness to."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from uuid import UUID

from tests.system.checker.facts import Facts, Row
from tests.system.checker.verdict import Violation

LINGER = 60.0  # what a fault lost is sent again at the latest after its deadline and a rescue


def check(facts: Facts, counts: Counter[str]) -> Iterator[Violation]:
    counts["deliveries"] += len(facts.deliveries)
    replaced = _replaced(facts)
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in facts.deliveries:
        groups[row["idem_key"]].append(row)
    for key, rows in groups.items():
        for place, row in enumerate(rows[1:], 1):
            cause = _cause(facts, row, rows[:place], replaced)
            counts[f"delivered again: {cause or 'unexplained'}"] += 1
            if cause is None:
                sentence = f"{key} was delivered again as attempt {row['attempt']}, and nothing explains it"
                yield Violation("duplicate", sentence, rows[: place + 1])


def _replaced(facts: Facts) -> dict[UUID, UUID]:
    """Who took whose place."""
    told = (row["body"] for row in facts.events if row["event"] == "TASK_REPLACED")
    return {UUID(body["instance_id"]): UUID(body["replaced_id"]) for body in told}


def _cause(facts: Facts, row: Row, before: list[Row], replaced: dict[UUID, UUID]) -> str | None:
    same = [one for one in before if one["instance"] == row["instance"]]
    if not same:
        if row["instance"] in facts.replays:
            return "replay"
        return "replaced" if any(one["instance"] in replaced for one in (row, *before)) else None
    last = max(same, key=lambda one: one["attempt"])
    told = {event["body"]["attempt"] for event in facts.failed.get(row["instance"], ())}
    if row["attempt"] > last["attempt"] and last["attempt"] in told:
        return "retry"
    if row["attempt"] > last["attempt"] and "202" in str(last["answer"]):
        return "accepted and never heard of again"
    return _lost(facts, same[-1]["arrived_at"], row["arrived_at"])


def _lost(facts: Facts, since: float, until: float) -> str | None:
    """The same attempt once more: whoever made the first call was lost. A fault, or a lease that ran out, says why."""
    struck = facts.struck(since - LINGER, until, LINGER + facts.evidence.ttl)
    if struck:
        return f"lost by {struck[-1]}"
    ran_out = [line for line in facts.lines if line.event == "lease.expired" and since - LINGER <= line.at <= until]
    return "lost by a lease that ran out" if ran_out else None

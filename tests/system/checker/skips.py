"""A verdict instead of a run must be one the job's own policies allow."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

from tests.system.checker.facts import Facts, Row
from tests.system.checker.verdict import Violation

ON_TIME = timedelta(seconds=60)  # until then a fire is not missed
MISSED = {"MISFIRE", "TOO_LATE", "OVER_CAP"}


def check(facts: Facts, counts: Counter[str]) -> Iterator[Violation]:
    paused = {row["job_id"] for row in facts.events if row["event"] == "JOB_PAUSED"}
    for row in facts.history:
        if row["state"] == "SKIPPED":
            counts[f"skipped {row['reason']}"] += row["range_count"] or 1
            wrong = _wrong(facts, row, paused)
            if wrong:
                sentence = f"{facts.name(row)} skipped its fire of {row['fire_time']} as {row['reason']}, but {wrong}"
                yield Violation("skip", sentence, [row["id"]])


def _wrong(facts: Facts, row: Row, paused: set[object]) -> str | None:
    policies = facts.definitions.get((row["job_id"], row["job_version"]), {}).get("policies", {})
    reason = row["reason"]
    if reason in MISSED:
        if row["ended_at"] - (row["range_to"] or row["fire_time"]) < ON_TIME:
            return "it was not late"
        if policies.get("misfire", {}).get("policy") == "all" and reason == "MISFIRE":
            return "its policy makes up for every fire"
    if reason == "OVERLAP" and policies.get("overlap", "allow") == "allow":
        return "its fires may run beside each other"
    if reason in {"CALENDAR", "CALENDAR_UNKNOWN"} and not policies.get("calendars"):
        return "it has no calendar"
    if reason == "PAUSED" and row["job_id"] not in paused:
        return "nobody paused it"
    if reason == "REFUSED":
        return "nothing was wrong with it"
    return None

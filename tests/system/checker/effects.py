"""One effect per intended effect: no two keys for the same thing, no success without one, none from nowhere."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from tests.system.checker.facts import Facts, Row
from tests.system.checker.verdict import Violation


def check(facts: Facts, counts: Counter[str]) -> Iterator[Violation]:
    counts["effects"] += len(facts.effects)
    intended: dict[Any, set[str]] = defaultdict(set)
    seen: set[str] = set()
    for effect in facts.effects:
        key = effect["idem_key"]
        if key in seen:
            yield Violation("effect", f"{key} took effect more than once", [effect])
        seen.add(key)
        if key not in facts.records:
            yield Violation("effect", f"{key} took effect, and no record stands for it", [effect])
        elif _counted(facts.records[key]):
            intended[_intent(facts, facts.records[key][0])].add(key)
    for intent, keys in intended.items():
        if len(keys) > 1:
            yield Violation("effect", f"{intent} took effect under {len(keys)} keys", sorted(keys))
    for row in facts.history:
        if row["state"] == "SUCCESS" and row["idem_key"] not in seen and facts.pushed(row):
            yield Violation(
                "effect", f"{facts.name(row)} succeeded at {row['ended_at']} without an effect", [row["id"]]
            )


def _counted(rows: list[Row]) -> bool:
    """Whether an effect is one the scheduler knows of. A task that was cancelled or given up while its call was on may
    be asked for anew, under a new generation: whether that takes effect once more is for the business to say."""
    return rows[0]["business_key"] is None or any(row["state"] == "SUCCESS" for row in rows)


def _intent(facts: Facts, row: Row) -> Any:
    """What the business meant, in its own words: a job's time, or a key (once, or once per generation)."""
    if row["business_key"] is None:
        by_hand = ":m:" in row["idem_key"]
        return facts.name(row), str(row["fire_time"]), row["idem_key"] if by_hand else ""
    definition = facts.definitions.get((row["job_id"], row["job_version"]), {})
    reopened = definition.get("after_success") == "reopen"
    return facts.name(row), row["business_key"], row["generation"] if reopened else ""

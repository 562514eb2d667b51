"""Nothing stays RUNNING past its deadline and half a minute, and nothing that is due waits for ever."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

from tests.system.checker.facts import Facts
from tests.system.checker.verdict import Violation

RESCUED = timedelta(seconds=30)
WAITED = timedelta(seconds=90)  # a sweep comes every minute


def check(facts: Facts, counts: Counter[str]) -> Iterator[Violation]:
    held = {row["id"] for row in facts.jobs if row["status"] != "ACTIVE"}
    for row in facts.live:
        now = facts.now[row["cell"]]
        if row["state"] == "RUNNING" and row["deadline"] + RESCUED < now:
            sentence = f"{facts.name(row)}: {row['id']} is RUNNING {now - row['deadline']} past its deadline"
            yield Violation("stuck", sentence, [row])
        if row["state"] in {"INIT", "FAIL"} and row["queue"] is None and row["job_id"] not in held:
            counts["waiting"] += 1
            if row["due_at"] + WAITED < now:
                sentence = f"{facts.name(row)}: {row['id']} has been due since {row['due_at']} and was not tried"
                yield Violation("stuck", sentence, [row])
    for row in facts.cursors:
        now = facts.now[row["cell"]]
        if row["next_fire_at"] is not None and row["next_fire_at"] + WAITED < now and row["job_id"] not in held:
            yield Violation("stuck", f"the schedule of {facts.name(row)} stands at {row['next_fire_at']}", [row])

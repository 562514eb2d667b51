"""Nothing stays RUNNING past its deadline and half a minute, and nothing that is due waits for ever."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

from tests.system.checker.facts import Facts, Row
from tests.system.checker.verdict import Violation

RESCUED = timedelta(seconds=30)
MARGIN = timedelta(seconds=5)
WAITED = timedelta(seconds=90)  # a sweep comes every minute


def check(facts: Facts, counts: Counter[str]) -> Iterator[Violation]:
    held = {row["id"] for row in facts.jobs if row["status"] != "ACTIVE"}
    for row in facts.live:
        now = facts.now[row["cell"]]
        if row["state"] == "RUNNING" and row["deadline"] + RESCUED < now:
            sentence = f"{facts.name(row)}: {row['id']} is RUNNING {now - row['deadline']} past its deadline"
            yield Violation("stuck", sentence, [row])
        elif (
            row["state"] == "RUNNING"
            and row["worker_id"] is None
            and row["changed_at"] + _call(facts, row) + RESCUED < now
        ):
            sentence = (
                f"{facts.name(row)}: {row['id']} is RUNNING since {row['changed_at']}, longer than a call may take"
            )
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


def _call(facts: Facts, row: Row) -> timedelta:
    """How long a call of ours may be on its way: connecting, reading, and a little."""
    target = facts.definitions.get((row["job_id"], row["job_version"]), {}).get("target", {})
    return timedelta(seconds=target.get("connect_timeout", 3.0) + target.get("read_timeout", 5.0)) + MARGIN

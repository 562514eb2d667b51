"""Nothing is delivered before its time by the real clock."""

from collections import Counter
from collections.abc import Iterator

from tests.system.checker.facts import Facts
from tests.system.checker.verdict import Violation

SLACK = 0.005  # a time stamp is taken in microseconds, and the host's clock may be slewed between two of them


def check(facts: Facts, counts: Counter[str]) -> Iterator[Violation]:
    due = {row["id"]: row for row in (*facts.live, *facts.history)}
    for call in facts.deliveries:
        row = due.get(call["instance"])
        if row is None or call["fire_time"] is None:
            continue
        counts["deliveries compared with their time"] += 1
        offset = facts.offsets[row["cell"]].total_seconds()
        moved_forward = row["due_at"] < call["fire_time"] and row["fire_time"] == call["fire_time"]
        time = (row["due_at"] if moved_forward else call["fire_time"]).timestamp()
        if call["arrived_at"] + offset < time - SLACK:
            early = time - call["arrived_at"] - offset
            sentence = f"{facts.name(row)} was delivered {early:.3f} s before {call['fire_time']}"
            yield Violation("early", sentence, [call])

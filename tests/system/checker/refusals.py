"""A run in which an owner was frozen must show that the fence was hit: at least one late write was refused."""

from collections import Counter
from collections.abc import Iterator

from tests.system.checker.facts import Facts
from tests.system.checker.verdict import Violation

LATE = {"settle.late", "worker.refused"}
FREEZES = ("pause", "freeze", "sigstop")


def check(facts: Facts, counts: Counter[str]) -> Iterator[Violation]:
    for line in facts.lines:
        if line.event in LATE:
            counts["late writes refused"] += line.count
    if not facts.lines:
        return
    for strike in facts.evidence.strikes:
        frozen = any(word in strike.name.lower() for word in FREEZES)
        if not frozen or strike.facts.get("in_flight") == 0:
            continue
        refused = sum(line.count for line in facts.lines if line.event in LATE and line.at >= strike.began)
        if not refused:
            sentence = f"nothing was refused after {strike.name}: the fence was not shown to hold"
            yield Violation("refusal", sentence, [strike])

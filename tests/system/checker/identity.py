"""Every process is someone of its own: as many incarnations live in each cell as nodes serve."""

from collections import Counter
from collections.abc import Iterator

from tests.system.checker.facts import Facts
from tests.system.checker.verdict import Violation


def check(facts: Facts, counts: Counter[str]) -> Iterator[Violation]:
    if facts.evidence.nodes is None:
        return
    for number, now in enumerate(facts.now):
        living = [row for row in facts.nodes if row["cell"] == number and row["expires_at"] > now]
        counts["incarnations"] += len(living)
        if len(living) < facts.evidence.nodes:
            sentence = f"{facts.evidence.nodes} nodes serve cell {number}, and only {len(living)} are known there"
            yield Violation("identity", sentence, living)

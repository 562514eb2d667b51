"""The history checker: code of its own that reads what a run left behind and says which promises were broken.

It imports nothing of the product. Each check is one file with one `check(facts, counts)`.
"""

from collections import Counter

from tests.system.checker import (
    duplicates,
    early,
    effects,
    fires,
    identity,
    intents,
    limits,
    promised,
    refusals,
    reschedules,
    skips,
    states,
    stuck,
    tokens,
)
from tests.system.checker.facts import Facts, gather
from tests.system.checker.lateness import lateness
from tests.system.checker.verdict import Verdict, Violation
from tests.system.evidence import Evidence

CHECKS = (
    fires,
    skips,
    effects,
    duplicates,
    tokens,
    refusals,
    states,
    reschedules,
    intents,
    early,
    limits,
    stuck,
    identity,
    promised,
)

__all__ = ["CHECKS", "Verdict", "Violation", "check", "judge"]


async def check(evidence: Evidence) -> Verdict:
    """Read everything, and judge it."""
    return judge(await gather(evidence))


def judge(facts: Facts) -> Verdict:
    """Every check, whatever the others found."""
    counts: Counter[str] = Counter()
    violations = [violation for one in CHECKS for violation in one.check(facts, counts)]
    return Verdict(violations, counts, lateness(facts))

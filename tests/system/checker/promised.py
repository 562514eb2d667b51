"""What was acknowledged is there, and is there as it was asked for."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.system.checker.calls import Call
from tests.system.checker.facts import Facts
from tests.system.checker.verdict import Violation


def check(facts: Facts, counts: Counter[str]) -> Iterator[Violation]:
    jobs = {row["name"]: row for row in facts.jobs}
    for call in facts.calls:
        counts[f"calls {call.op} {_answered(call)}"] += 1
        if call.op == "create_job" and call.ok:
            job = jobs.get(call.job or "")
            if job is None:
                yield Violation("promise", f"job {call.job} was acknowledged and does not exist", [call])
            elif wrong := _differs(call, job["definition"]["trigger"]):
                yield Violation("promise", f"job {call.job} was asked for with {wrong} and is another", [call])


def _answered(call: Call) -> str:
    return {True: "ok", False: "refused", None: "unanswered"}[call.ok]


def _differs(call: Call, trigger: dict[str, Any]) -> str | None:
    """The first part of a trigger that was asked for and not kept."""
    asked = call.payload if isinstance(call.payload, dict) else {}
    asked = asked.get("trigger", asked)
    for name in ("expression", "every", "zone", "kind"):
        if isinstance(asked, dict) and name in asked and asked[name] != trigger.get(name):
            return f"{name} {asked[name]}"
    return None

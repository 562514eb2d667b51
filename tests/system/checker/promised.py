"""What was acknowledged is there, and is there as it was asked for."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.system.checker.calls import Call, moment
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
    asked = (call.spec or {}).get("trigger", {})
    return next(
        (f"{name} {value}" for name, value in asked.items() if _kept(trigger, name) != _kept(asked, name)), None
    )


def _kept(trigger: dict[str, Any], name: str) -> Any:
    """A part of a trigger; times are the same however they are written."""
    return moment(trigger.get(name)) if name in {"anchor", "at"} else trigger.get(name)

"""Intent versions only rise: what was decided for a version stood after no newer one, and what was stale was."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from tests.system.checker.calls import Call
from tests.system.checker.facts import Facts
from tests.system.checker.verdict import Violation


def check(facts: Facts, counts: Counter[str]) -> Iterator[Violation]:
    versioned: dict[tuple[str | None, str | None], list[Call]] = defaultdict(list)
    for call in facts.calls:
        if call.op in {"put", "cancel"} and call.ok and call.intent is not None and call.said("revision") is not None:
            versioned[call.job, call.key].append(call)
    for (job, key), calls in versioned.items():
        newest: int | None = None
        for call in sorted(calls, key=lambda one: one.said("revision")):
            counts["versioned intents"] += 1
            assert call.intent is not None
            ignored = call.said("decision") == "ignored"
            if not ignored and newest is not None and call.intent <= newest:
                sentence = f"{job}/{key}: version {call.intent} was {call.said('decision')} after version {newest}"
                yield Violation("reschedule", sentence, [call])
            if not ignored:
                newest = call.intent

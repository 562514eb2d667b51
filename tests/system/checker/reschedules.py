"""Intents about one business key have one order that explains every answer (seed 000's rules).

The ledger's revision is that order: each decision left an event with its own, each end of an instance took one without
an event. The sequential rules are walked along it. An answer must be what the walk says at its revision, and two calls
that did not overlap must stand in the order in which they were made. Calls without an answer may or may not be in it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from uuid import UUID

from tests.system.checker.calls import Call, moment
from tests.system.checker.facts import Facts, Row
from tests.system.checker.rules import Broken, Rules
from tests.system.checker.verdict import Violation

NAME = "reschedule"
DECIDED = {"TASK_CREATED", "TASK_MOVED", "TASK_REPLACED", "TASK_IGNORED", "TASK_CANCELLED", "INSTANCE_REPLAYED"}
INTENTS = {"put", "cancel"}
Key = tuple[UUID, str]


def check(facts: Facts, counts: Counter[str]) -> Iterator[Violation]:
    events: dict[Key, list[Row]] = defaultdict(list)
    for row in facts.events:
        if row["event"] in DECIDED and row["body"].get("key") is not None:
            events[row["job_id"], row["body"]["key"]].append(row)
    calls = _calls(facts)
    for ledger in facts.keys:
        key = ledger["job_id"], ledger["business_key"]
        counts["keys"] += 1
        counts["decisions"] += len(events[key])
        yield from _walk(facts, ledger, events[key])
        yield from _answers(facts, ledger, events[key], calls[key])
    for key in set(calls) - {(row["job_id"], row["business_key"]) for row in facts.keys}:
        if any(call.ok and call.op == "put" for call in calls[key]):
            yield Violation(NAME, f"a time for {key[1]} was acknowledged, and its ledger is missing", calls[key])


def _calls(facts: Facts) -> dict[Key, list[Call]]:
    ids = {row["name"]: row["id"] for row in facts.jobs}
    found: dict[Key, list[Call]] = defaultdict(list)
    for call in facts.calls:
        if call.op in INTENTS and call.job in ids and call.key is not None:
            found[ids[call.job], call.key].append(call)
    return found


def _walk(facts: Facts, ledger: Row, events: list[Row]) -> Iterator[Violation]:
    """The sequential rules, along the revisions; at the end they must stand where the rows stand."""
    told = {row["body"]["revision"]: row for row in events}
    where = f"{facts.name(ledger)}/{ledger['business_key']}"
    if len(told) < len(events):
        yield Violation(NAME, f"{where}: a revision was given to two decisions", events)
        return
    rows = {row["id"]: row for row in facts.lives.get((ledger["job_id"], ledger["business_key"]), ())}
    ends = {id_: row["state"] for id_, row in rows.items() if "ended_at" in row}
    definition = facts.job[ledger["job_id"]]["definition"] if ledger["job_id"] in facts.job else {}
    rules = Rules(definition.get("after_success") == "reopen", ends)
    try:
        for revision in range(1, ledger["revision"] + 1):
            if revision in told:
                rules.decided(told[revision]["event"], told[revision]["body"])
            else:
                rules.ended()
        rules.stands(ledger["outcome"], rows)
    except Broken as broken:
        yield Violation(NAME, f"{where}: {broken}", [row["body"] for row in events][-5:])


def _answers(facts: Facts, ledger: Row, events: list[Row], calls: list[Call]) -> Iterator[Violation]:
    told = {row["body"]["revision"]: row["body"] for row in events}
    where = f"{facts.name(ledger)}/{ledger['business_key']}"
    answered = [call for call in calls if call.ok and call.said("revision") is not None]
    for call in answered:
        body = told.get(call.said("revision"))
        if body is None or body.get("decision") != call.said("decision"):
            sentence = f"{where}: {call.said('decision')} was acknowledged, its revision says {body}"
            yield Violation(NAME, sentence, [call])
        elif call.at is not None and body.get("at") and moment(body["at"]) != call.at:
            yield Violation(NAME, f"{where}: {call.at} was acknowledged, {body['at']} was written", [call])
    highest, last = 0, None
    timeline = sorted([(call.ended, 1, call) for call in answered] + [(call.began, 0, call) for call in answered],
                      key=lambda one: one[:2])  # fmt: skip
    for _, ends, call in timeline:
        revision = call.said("revision")
        if ends and revision > highest:
            highest, last = revision, call
        elif not ends and revision < highest:
            sentence = f"{where}: revision {revision} was asked for after revision {highest} had been answered"
            yield Violation(NAME, sentence, [last, call])
    yield from _asked_for(where, events, calls)


def _asked_for(where: str, events: list[Row], calls: list[Call]) -> Iterator[Violation]:
    """Every time in the ledger was asked for by someone. Only where the log knows about the key at all."""
    if not calls:
        return
    asked = {call.at for call in calls}
    for row in events:
        at = moment(row["body"].get("at"))
        if at is not None and at not in asked and None not in asked:
            yield Violation(NAME, f"{where}: nobody asked for {at}", [row["body"]])

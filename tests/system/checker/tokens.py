"""No write with an old token was accepted. What was believed is what the last one to hold the attempt said."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from tests.system.checker.calls import Call
from tests.system.checker.facts import Facts, Row, identity
from tests.system.checker.verdict import Violation

DONE = {"done", "DONE"}
HASTE = 0.5  # a call is sent a little before the target notes its arrival


def check(facts: Facts, counts: Counter[str]) -> Iterator[Violation]:
    yield from _believed(facts, counts)
    yield from _timed_out(facts, counts)
    yield from _finished(facts, counts)


def _believed(facts: Facts, counts: Counter[str]) -> Iterator[Violation]:
    """A history row keeps the answer it was settled by, which names its delivery. A later call, made before that
    settle, means that the attempt had been taken from the one whose answer was believed."""
    calls: dict[UUID, list[Row]] = defaultdict(list)
    for row in facts.deliveries:
        calls[row["instance"]].append(row)
    for row in facts.history:
        if row["state"] != "SUCCESS" or not facts.pushed(row):
            continue
        mine = [call for call in calls[row["id"]] if call["attempt"] == row["attempt"]]
        if not mine:
            sentence = f"{facts.name(row)}: {row['id']} succeeded by attempt {row['attempt']}, which nobody received"
            yield Violation("token", sentence, calls[row["id"]])
            continue
        seq = _seq(row["attempts"])
        if seq is None:
            continue
        counts["answers believed"] += 1
        ended = (row["ended_at"] - facts.offsets[row["cell"]]).timestamp()
        believed = next((call for call in mine if call["seq"] == seq), None)
        newer = [call for call in calls[row["id"]] if call["seq"] > seq and call["arrived_at"] < ended]
        if believed is None or newer:
            sentence = f"{facts.name(row)}: {row['id']} was settled by an answer to a call that was no longer its own"
            yield Violation("token", sentence, [seq, *newer])


def _timed_out(facts: Facts, counts: Counter[str]) -> Iterator[Violation]:
    """An attempt that was sent twice ran out of time by its last call's clock. One that ran out sooner was the first
    one's, who had lost it by then."""
    calls: dict[tuple[UUID, int], list[Row]] = defaultdict(list)
    for row in facts.deliveries:
        calls[row["instance"], row["attempt"]].append(row)
    rows = {row["id"]: row for row in (*facts.live, *facts.history)}
    for instance, events in facts.failed.items():
        for event in events:
            failed = (event["at"] - facts.offsets[event["cell"]]).timestamp()
            sent = [row for row in calls[instance, event["body"]["attempt"]] if row["arrived_at"] < failed]
            if event["body"].get("error_code") != "TIMEOUT" or len(sent) < 2 or instance not in rows:
                continue
            counts["timeouts of what was sent twice"] += 1
            if failed - sent[-1]["arrived_at"] < _patience(facts, rows[instance]) - HASTE:
                sentence = (
                    f"{instance}: attempt {event['body']['attempt']} timed out by a call that was no longer its own"
                )
                yield Violation("token", sentence, [event["body"], *sent])


def _patience(facts: Facts, row: Row) -> float:
    """How long a call waits for its answer."""
    target = facts.definitions.get((row["job_id"], row["job_version"]), {}).get("target", {})
    return float(target.get("read_timeout", 5.0))


def _seq(attempts: Any) -> int | None:
    try:
        return int(json.loads(attempts[-1]["answer"])["seq"])
    except (TypeError, ValueError, KeyError, IndexError):
        return None


def _finished(facts: Facts, counts: Counter[str]) -> Iterator[Violation]:
    """Workers: a report counts only while nobody claimed the instance after them, and once."""
    claims: dict[UUID, list[tuple[Call, int]]] = defaultdict(list)
    done: dict[tuple[UUID, int], int] = defaultdict(int)
    for call in facts.calls:
        for item in call.items():
            if call.op == "claim" and call.ok:
                claims[_instance(item)].append((call, item["attempt"]))
    for call in facts.calls:
        for item in call.items():
            if call.op != "finish" or _verdict(item) not in DONE:
                continue
            counts["reports accepted"] += 1
            instance, attempt = _instance(item), item["attempt"]
            done[instance, attempt] += 1
            newer = [one for one, number in claims[instance] if number > attempt and one.ended < call.began]
            if newer:
                sentence = f"the report of attempt {attempt} of {instance} was accepted after a newer claim of it"
                yield Violation("token", sentence, [item])
    for (instance, attempt), many in done.items():
        if many > 1:
            yield Violation("token", f"attempt {attempt} of {instance} was finished {many} times", [instance])


def _instance(item: Any) -> UUID:
    return identity(item.get("instance_id") or item.get("instance"))


def _verdict(item: Any) -> Any:
    return item.get("verdict")

"""States are legal and only go forward: what ended is over, what failed was tried, what lives is not also history."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from uuid import UUID

from tests.system.checker.facts import Facts, Row
from tests.system.checker.verdict import Violation

NAME = "state"


def check(facts: Facts, counts: Counter[str]) -> Iterator[Violation]:
    ended: dict[UUID, Row] = {}
    for row in facts.history:
        counts[f"ended {row['state']}"] += 1
        if row["id"] in ended:
            yield Violation(NAME, f"{facts.name(row)}: {row['id']} ended twice", [ended[row["id"]], row])
        ended[row["id"]] = row
        yield from _history(facts, row)
    for row in facts.live:
        counts[f"live {row['state']}"] += 1
        if row["id"] in ended:
            yield Violation(NAME, f"{facts.name(row)}: {row['id']} has ended and lives on as {row['state']}", [row])
    yield from _keys(facts)
    yield from _failures(facts, ended)
    yield from _attempts(facts, ended)


def _history(facts: Facts, row: Row) -> Iterator[Violation]:
    if row["retry_count"] > row["attempt"]:
        yield Violation(NAME, f"{facts.name(row)}: {row['id']} failed more often than it was tried", [row])
    if row["state"] in {"SUCCESS", "DEAD"} and row["attempt"] < 1:
        yield Violation(NAME, f"{facts.name(row)}: {row['id']} is {row['state']} without an attempt", [row])


def _keys(facts: Facts) -> Iterator[Violation]:
    """One life per key: two successes, or a success and a life after it, mean that something was sent anew."""
    for key, rows in facts.records.items():
        done = [row for row in rows if row["state"] == "SUCCESS"]
        living = [row for row in rows if "ended_at" not in row]
        if len(done) > 1:
            yield Violation(NAME, f"{key} succeeded {len(done)} times", [row["id"] for row in done])
        if len(living) > 1:
            yield Violation(NAME, f"{key} lives {len(living)} times", [row["id"] for row in living])
        if done and living:
            yield Violation(NAME, f"{key} succeeded and lives on", [done[0]["id"], living[0]["id"]])


def _failures(facts: Facts, ended: dict[UUID, Row]) -> Iterator[Violation]:
    """Each attempt fails once, failures only add up, and what failed was not also the attempt that ended it."""
    for instance, events in facts.failed.items():
        told = sorted((event["body"]["attempt"], event["body"]["retry_count"]) for event in events)
        attempts, failures = [attempt for attempt, _ in told], [failure for _, failure in told]
        if len(set(attempts)) < len(attempts) or sorted(failures) != failures:
            yield Violation(NAME, f"{instance} failed as (attempt, failures) {told}", [instance])
        over = ended.get(instance)
        if over is not None and over["state"] in {"SUCCESS", "DEAD"} and attempts[-1] >= over["attempt"]:
            sentence = f"{instance} is {over['state']} by attempt {over['attempt']}, but failed as {attempts[-1]}"
            yield Violation(NAME, sentence, [over["id"]])


def _attempts(facts: Facts, ended: dict[UUID, Row]) -> Iterator[Violation]:
    """Nobody receives an attempt beyond the last one counted; one that was lost is not counted and comes again."""
    highest: dict[UUID, int] = defaultdict(int)
    for row in facts.deliveries:
        highest[row["instance"]] = max(highest[row["instance"]], row["attempt"])
    last = ended | {row["id"]: row for row in facts.live}
    for instance, attempt in highest.items():
        row = last.get(instance)
        if row is None:
            yield Violation(NAME, f"{instance} was delivered and has no record", [instance])
        elif attempt > row["attempt"] + 1:
            yield Violation(
                NAME, f"{instance} was delivered as attempt {attempt}, its record counts {row['attempt']}", [row["id"]]
            )

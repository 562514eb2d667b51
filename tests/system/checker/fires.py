"""Every expected fire has exactly one record and a verdict, and nothing fired that no schedule asked for."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from tests.system.checker import oracle
from tests.system.checker.facts import Facts, Row
from tests.system.checker.verdict import Violation

BY_TIME = re.compile(r"[^:]+:\d+(\.\d+)?")  # the key of a recurring fire: its job and its time
BACKFILL = 2


def check(facts: Facts, counts: Counter[str]) -> Iterator[Violation]:
    records = _records(facts)
    cursors = {row["job_id"]: row["next_fire_at"] for row in facts.cursors}
    for job in facts.jobs:
        if oracle.recurring(job["definition"]):
            mine = records[job["id"]]
            expected = _expected(facts, job, mine)
            counts["expected fires"] += len(expected)
            counts["records"] += len(mine)
            yield from _accounted(job, cursors.get(job["id"]), expected, mine)
            yield from _asked_for(facts, job, mine)


def _records(facts: Facts) -> dict[UUID, list[Row]]:
    """What stands for a fire of a schedule; what someone sent again, or asked for afterwards, stands for the same."""
    found: dict[UUID, list[Row]] = defaultdict(list)
    for row in (*facts.live, *facts.history):
        if BY_TIME.fullmatch(row["idem_key"]) and row["id"] not in facts.replays and row["lane"] != BACKFILL:
            found[row["job_id"]].append(row)
    return found


def _expected(facts: Facts, job: Row, mine: list[Row]) -> list[datetime]:
    """The oracle's fires of each version while it was in force, as far as the run was looked at."""
    offset = facts.offsets[job["cell"]]
    low, high = facts.evidence.began + offset, _until(facts, job, mine, facts.evidence.ended + offset)
    versions = [row for row in facts.versions if row["job_id"] == job["id"]]
    found: list[datetime] = []
    for place, version in enumerate(versions):
        ends = versions[place + 1]["created_at"] if place + 1 < len(versions) else high
        fires = oracle.fires(version["definition"], max(low, version["created_at"]), min(high, ends))
        found += [at for at in fires if at > version["created_at"]]
    return found


def _until(facts: Facts, job: Row, mine: list[Row], ended: datetime) -> datetime:
    """Until when a job had to fire: a pause is told when it ends, and what was removed or is complete fires no more."""
    last = max(
        (row["range_to"] or row["fire_time"] if "range_to" in row else row["fire_time"] for row in mine), default=ended
    )
    match job["status"]:
        case "PAUSED":
            return min(ended, job["held_from"] - oracle.INSTANT) if job["held_from"] else min(ended, last)
        case "REMOVED" | "COMPLETED":
            return min(ended, last) if mine else facts.evidence.began
        case _:
            return ended


def _accounted(job: Row, cursor: datetime | None, expected: list[datetime], mine: list[Row]) -> Iterator[Violation]:
    at: dict[datetime, list[Row]] = defaultdict(list)
    for row in mine:
        if not row.get("range_to"):
            at[row["fire_time"]].append(row)
    ranges = [row for row in mine if row.get("range_to")]
    for fire in expected:
        found = at[fire] + [row for row in ranges if row["fire_time"] <= fire <= row["range_to"]]
        if not found:
            sentence = f"{job['name']} should have fired at {fire} and has no record of it; its cursor is at {cursor}"
            yield Violation("lost", sentence, [fire])
        elif len(found) > 1:
            yield Violation("doubled", f"{job['name']} has {len(found)} records of its fire at {fire}", _short(found))


def _asked_for(facts: Facts, job: Row, mine: list[Row]) -> Iterator[Violation]:
    """Each record's time is one its own version of the schedule names, and a range counts what lies in it."""
    by_version: dict[int, list[Row]] = defaultdict(list)
    for row in mine:
        by_version[row["job_version"]].append(row)
    for version, rows in by_version.items():
        definition = facts.definitions[job["id"], version]
        last = max(row.get("range_to") or row["fire_time"] for row in rows)
        first = min(row["fire_time"] for row in rows)
        named = oracle.fires(definition, first, last)
        known = {*named, *_owed(facts, job, version, first)}
        for row in rows:
            if row["fire_time"] not in known and row.get("reason") != "DST_GAP":
                sentence = f"{job['name']} fired for {row['fire_time']}, which its schedule does not name"
                yield Violation("unexpected", sentence, _short([row]))
            elif row.get("range_to"):
                many = sum(row["fire_time"] <= at <= row["range_to"] for at in named)
                if many != row["range_count"]:
                    sentence = f"{job['name']}: a row stands for {row['range_count']} fires where there are {many}"
                    yield Violation("unexpected", sentence, _short([row]))


def _owed(facts: Facts, job: Row, version: int, first: datetime) -> list[datetime]:
    """What had come due under the version before, and was fired under this one."""
    before = facts.definitions.get((job["id"], version - 1))
    if before is None or not oracle.recurring(before):
        return []
    [began] = [row["created_at"] for row in facts.versions if (row["job_id"], row["version"]) == (job["id"], version)]
    return oracle.fires(before, first, began)


def _short(rows: list[Row]) -> list[Any]:
    names = ("id", "fire_time", "state", "reason", "attempt", "job_version", "idem_key")
    return [{name: str(row[name]) for name in names if row.get(name) is not None} for row in rows]

"""Everything a run left behind, read once: rows of all cells, the target's ledger, the API log, the nodes' logs."""

import json
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from tests.system.checker import calls
from tests.system.checker.calls import Call, moment
from tests.system.evidence import Evidence

Row = dict[str, Any]
TABLES = {
    "jobs": "select id, shard_id, name, status, version, held_from, created_at, changed_at, definition from job",
    "versions": "select job_id, version, created_at, definition from job_version order by job_id, version",
    "cursors": "select job_id, version, next_fire_at, fired from job_cursor",
    "live": """select id, shard_id, job_id, job_version, idem_key, fire_time, due_at, changed_at, deadline, state,
                      attempt, retry_count, crash_count, business_key, generation, queue, replay_of, worker_id, lane
               from instance_live""",
    "history": """select id, shard_id, job_id, job_version, idem_key, fire_time, due_at, ended_at, range_to,
                         range_count, state, reason, error_code, attempt, retry_count, business_key, generation,
                         worker_id, lane, attempts
                  from instance_history""",
    "events": "select at, job_id, instance_id, event, body from outbox",
    "nodes": "select incarnation, name, started_at, seen_at, expires_at, draining from node",
    "keys": "select job_id, business_key, generation, revision, intent_version, instance_id, outcome from task_key",
}


@dataclass
class Line:
    """One line of a node's log that says that something happened so often."""

    at: float
    event: str
    count: int
    node: str


@dataclass
class Facts:
    """Rows as dictionaries; each says which `cell` it stood in."""

    evidence: Evidence
    now: list[datetime] = field(default_factory=list)
    offsets: list[timedelta] = field(default_factory=list)
    looked: list[float] = field(default_factory=list)
    jobs: list[Row] = field(default_factory=list)
    versions: list[Row] = field(default_factory=list)
    cursors: list[Row] = field(default_factory=list)
    live: list[Row] = field(default_factory=list)
    history: list[Row] = field(default_factory=list)
    events: list[Row] = field(default_factory=list)
    keys: list[Row] = field(default_factory=list)
    nodes: list[Row] = field(default_factory=list)
    deliveries: list[Row] = field(default_factory=list)
    effects: list[Row] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)

    @cached_property
    def definitions(self) -> dict[tuple[UUID, int], Row]:
        """The definition of each version of each job."""
        return {(row["job_id"], row["version"]): row["definition"] for row in self.versions}

    @cached_property
    def job(self) -> dict[UUID, Row]:
        return {row["id"]: row for row in self.jobs}

    @cached_property
    def records(self) -> dict[str, list[Row]]:
        """Everything that stands for an intended effect, by its idempotency key."""
        found: dict[str, list[Row]] = defaultdict(list)
        for row in (*self.live, *self.history):
            found[row["idem_key"]].append(row)
        return dict(found)

    @cached_property
    def replays(self) -> set[UUID]:
        """Instances that someone sent again on purpose."""
        told = {row["instance_id"] for row in self.events if row["event"] == "INSTANCE_REPLAYED"}
        return told | {row["id"] for row in self.live if row["replay_of"] is not None}

    @cached_property
    def failed(self) -> dict[UUID, list[Row]]:
        """What was told of failed attempts, by instance."""
        found: dict[UUID, list[Row]] = defaultdict(list)
        for row in self.events:
            if row["event"] == "INSTANCE_FAILED":
                found[row["instance_id"]].append(row)
        return dict(found)

    @cached_property
    def lives(self) -> dict[tuple[UUID, str], list[Row]]:
        """Every instance of each business key, living or ended."""
        found: dict[tuple[UUID, str], list[Row]] = defaultdict(list)
        for row in (*self.live, *self.history):
            if row["business_key"] is not None:
                found[row["job_id"], row["business_key"]].append(row)
        return dict(found)

    def pushed(self, row: Row) -> bool:
        """Whether an instance goes to a target by HTTP."""
        definition = self.definitions.get((row["job_id"], row["job_version"]))
        return definition is not None and "url" in definition["target"]

    @cached_property
    def cell(self) -> dict[UUID, int]:
        """Where each instance stands."""
        return {row["id"]: row["cell"] for row in (*self.live, *self.history)}

    def seen(self, instance: UUID, at: float) -> bool:
        """Whether a call was made before its cell was looked at. The cluster goes on while it is being judged."""
        cell = self.cell.get(instance)
        return at <= (min(self.looked) if cell is None else self.looked[cell])

    def struck(self, since: float, until: float, after: float = 0.0) -> list[str]:
        """The faults in force between two times, or that ended at most so many seconds before."""
        return [one.name for one in self.evidence.strikes if one.began <= until and one.healed + after >= since]

    def name(self, row: Row) -> str:
        """The job of a row, as people call it."""
        job = self.job.get(row["job_id"])
        return job["name"] if job else str(row["job_id"])


async def gather(evidence: Evidence) -> Facts:
    """Read it all."""
    facts = Facts(evidence, calls=list(calls.read(evidence.log)), lines=list(lines(evidence.node_logs)))
    for number, dsn in enumerate(evidence.dsns):
        await _read_cell(facts, number, dsn)
    deliveries, effects = ledger(evidence.ledger)
    facts.deliveries = [row for row in deliveries if facts.seen(row["instance"], row["arrived_at"])]
    facts.effects = [row for row in effects if facts.seen(row["instance"], row["at"])]
    return facts


async def _read_cell(facts: Facts, number: int, dsn: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=json.dumps, decoder=json.loads)
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            await connection.execute("select")  # which takes the snapshot
            facts.looked.append(time.time())
            for name, query in TABLES.items():
                found = await connection.fetch(query)
                getattr(facts, name).extend({**row, "cell": number} for row in found)
            now, offset = await connection.fetchrow("select clock_timestamp(), offset_ms from clock_offset")
    finally:
        await connection.close()
    facts.offsets.append(timedelta(milliseconds=offset))
    facts.now.append(now + facts.offsets[-1])


def ledger(path: Path) -> tuple[list[Row], list[Row]]:
    """Deliveries in the order of their arrival, and effects."""
    if not path.exists():
        return [], []
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        found = [_delivered(dict(row)) for row in connection.execute("select * from delivery order by arrived_at, seq")]
        return found, [_delivered(dict(row)) for row in connection.execute("select * from effect")]


def _delivered(row: Row) -> Row:
    row["instance"] = identity(row["instance"])
    row["fire_time"] = moment(row["fire_time"])
    return row


def identity(text: Any) -> UUID:
    """The id behind its public form (`ins_…`), or as it stands."""
    if isinstance(text, UUID):
        return text
    bare = str(text).rpartition("_")[2]
    return UUID(bare) if len(bare) in {32, 36} else UUID(int=_crockford(bare))


def _crockford(letters: str) -> int:
    value = 0
    for letter in letters.lower():
        value = value * 32 + "0123456789abcdefghjkmnpqrstvwxyz".index(letter)
    return value


def lines(logs: Sequence[Path]) -> Iterator[Line]:
    """What nodes counted, and when."""
    for path in logs:
        for text in path.read_text(errors="replace").splitlines() if path.exists() else ():
            try:
                said = json.loads(text)
                at = moment(said["timestamp"])
                assert at is not None
                yield Line(at.timestamp(), said["event"], int(said.get("count", 1)), path.stem)
            except (ValueError, KeyError, TypeError):
                continue

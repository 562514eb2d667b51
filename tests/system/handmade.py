"""Evidence made by hand, row by row: what a faultless run would leave behind, for a test to spoil.

A recurring job `tick` (every 10 s), a type `publish` with its task `a`, both pushed, and a queue job `pull`.
"""

import json
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from tests.system.checker import Verdict, check
from tests.system.evidence import Evidence, Strike

TENANT, SHARD = uuid4(), 7
WRITTEN = ("job", "job_version", "job_cursor", "instance_live", "instance_history", "outbox", "task_key", "node")
LEDGER = """
    create table delivery (seq integer primary key, idem_key text, instance text, job text, business_key text,
                           fire_time text, attempt integer, arrived_at real, path text, answer text, answered_at real);
    create table effect (idem_key text, instance text, attempt integer, fire_time text, at real);
"""


class Handmade:
    """Inserts what a run would have written. Every maker returns the id of what it made."""

    def __init__(self, dsns: list[str], folder: Path) -> None:
        self.dsns = dsns
        self.ledger, self.log, self.node_log = folder / "ledger.sqlite", folder / "log.jsonl", folder / "node-0.log"
        self.strikes: list[Strike] = []
        self.nodes: int | None = None
        self.began = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=40)
        self._sqlite = sqlite3.connect(self.ledger, isolation_level=None)
        self._sqlite.executescript(LEDGER)
        self.seq = 0

    def later(self, seconds: float) -> datetime:
        """A time of the run."""
        return self.began + timedelta(seconds=seconds)

    async def open(self) -> None:
        """Connect, and take away what an earlier test has written."""
        self._rows = await asyncpg.connect(self.dsns[0])
        await self._rows.set_type_codec("jsonb", schema="pg_catalog", encoder=json.dumps, decoder=json.loads)
        await self._rows.execute(";".join(f"delete from {table}" for table in WRITTEN))
        await self.sql("update clock_offset set offset_ms = 0")

    async def close(self) -> None:
        self._sqlite.close()
        await self._rows.close()

    async def sql(self, text: str, *args: object) -> list[asyncpg.Record]:
        return await self._rows.fetch(text, *args)

    async def insert(self, table: str, **values: Any) -> None:
        columns = ", ".join(values)
        places = ", ".join(f"${n}" for n in range(1, len(values) + 1))
        await self.sql(f"insert into {table} ({columns}) values ({places})", *values.values())

    async def job(self, name: str, trigger: dict[str, Any], url: str | None = "http://x/", **facts: Any) -> UUID:
        """A job with its first version and, where it recurs, its cursor; `next_fire_at` says where that stands."""
        id_, at = uuid4(), self.began - timedelta(seconds=5)
        next_fire_at = facts.pop("next_fire_at", self.later(40))
        target = {"kind": "http", "url": url} if url else {"kind": "queue", "name": name}
        definition = {"trigger": trigger, "target": target, **facts}
        own = {"shard_id": SHARD, "tenant_id": TENANT, "name": name, "definition": definition, "created_at": at}
        await self.insert("job", id=id_, status="ACTIVE", changed_at=at, **own)
        await self.insert("job_version", job_id=id_, version=1, created_by="test", **own)
        if trigger["kind"] in {"cron", "interval"}:
            place = {"shard_id": SHARD, "job_id": id_, "tenant_id": TENANT, "version": 1, "priority": 1}
            await self.insert("job_cursor", next_fire_at=next_fire_at, **place)
        return id_

    async def history(self, job_id: UUID, at: datetime, state: str = "SUCCESS", **facts: Any) -> UUID:
        """The end of one instance, half a second after its time."""
        made = {
            "id": uuid4(), "shard_id": SHARD, "tenant_id": TENANT, "job_id": job_id, "job_version": 1,
            "fire_time": at, "due_at": at, "ended_at": at + timedelta(seconds=0.5), "state": state,
            "attempt": 0 if state == "SKIPPED" else 1, "retry_count": 0, "priority": 1, "lane": 0,
            "idem_key": key_of(job_id, at),
        } | facts  # fmt: skip
        await self.insert("instance_history", **made)
        return made["id"]

    async def live(self, job_id: UUID, at: datetime, state: str = "INIT", **facts: Any) -> UUID:
        running = {"attempt": 1, "token": uuid4(), "deadline": at + timedelta(seconds=13)} if state == "RUNNING" else {}
        made = {
            "id": uuid4(), "shard_id": SHARD, "tenant_id": TENANT, "job_id": job_id, "job_version": 1,
            "fire_time": at, "due_at": at, "changed_at": at, "state": state, "slot_ms": 13000,
            "priority": 1, "lane": 0, "idem_key": key_of(job_id, at),
        } | running | facts  # fmt: skip
        await self.insert("instance_live", **made)
        return made["id"]

    async def event(self, job_id: UUID, instance: UUID | None, event: str, on: datetime, /, **body: Any) -> None:
        own = {"shard_id": SHARD, "tenant_id": TENANT, "job_id": job_id, "instance_id": instance}
        await self.insert("outbox", at=on, event=event, body=body, **own)

    def delivered(self, key: str, instance: UUID, job: str, at: datetime, **facts: Any) -> int:
        """A call that arrived 20 ms after its time and took effect, unless it says otherwise."""
        self.seq += 1
        effect = facts.pop("effect", True)
        made = {
            "seq": self.seq, "idem_key": key, "instance": str(instance), "job": job, "business_key": None,
            "fire_time": at.isoformat(), "attempt": 1, "arrived_at": at.timestamp() + 0.02, "path": "/ok",
            "answer": "200", "answered_at": at.timestamp() + 0.03,
        } | facts  # fmt: skip
        self._sqlite.execute(f"insert into delivery values ({', '.join('?' * len(made))})", list(made.values()))
        if effect:
            self.effect(key, instance, at)
        return self.seq

    def effect(self, key: str, instance: UUID, at: datetime) -> None:
        row = (key, str(instance), 1, at.isoformat(), at.timestamp())
        self._sqlite.execute("insert into effect values (?, ?, ?, ?, ?)", row)

    def called(self, op: str, began: float, **facts: Any) -> None:
        """A line of the API log; `began` in seconds of the run, answered 10 ms later."""
        at = facts.pop("at", None)
        line = {
            "op": op, "began": self.later(began).timestamp(), "ended": self.later(began).timestamp() + 0.01,
            "ok": True, "at": at.isoformat() if at else None,
        } | facts  # fmt: skip
        with self.log.open("a") as log:
            log.write(json.dumps(line) + "\n")

    def said(self, event: str, seconds: float, count: int = 1) -> None:
        """A line of a node's log."""
        with self.node_log.open("a") as log:
            log.write(json.dumps({"event": event, "count": count, "timestamp": self.later(seconds).isoformat()}) + "\n")

    async def verdict(self) -> Verdict:
        logs = [self.node_log] if self.node_log.exists() else []
        return await check(
            Evidence(self.dsns, self.ledger, self.log, self.began, self.later(35), 1.5, self.strikes, logs, self.nodes)
        )


def key_of(job_id: UUID, at: datetime) -> str:
    return f"{job_id.hex}:{int(at.timestamp())}"


async def faultless(made: Handmade) -> dict[str, Any]:
    """Three fires of `tick`, a task that was created, moved and succeeded, and a claim that was finished."""
    tick = await made.job("tick", {"kind": "interval", "every": 10.0, "anchor": made.began.isoformat()})
    ids = []
    for seconds in (0, 10, 20, 30):
        at = made.later(seconds)
        seq = made.seq + 1
        kept = [{"attempt": 1, "status": 200, "answer": json.dumps({"seq": seq})}]
        ids.append(await made.history(tick, at, attempts=kept))
        made.delivered(key_of(tick, at), ids[-1], "tick", at)
    publish = await made.job("publish", {"kind": "keyed"})
    made.called("create_job", -4, job="tick", spec={"trigger": {"kind": "interval", "every": 10.0}})
    task = await _task(made, publish)
    pull = await made.job("pull", {"kind": "manual"}, url=None)
    pulled = await made.history(pull, made.later(3), idem_key=f"{pull.hex}:m:1", worker_id="w1")
    hand = {"instance_id": str(pulled), "attempt": 1}
    made.called("claim", 3, job="pull", answer={"claimed": [hand]})
    made.called("finish", 3.2, job="pull", answer={"results": [{**hand, "verdict": "done"}]})
    return {"tick": tick, "ids": ids, "publish": publish, "task": task, "pull": pull, "pulled": pulled}


async def _task(made: Handmade, publish: UUID) -> UUID:
    key, task = f"{publish.hex}:t:a:1", uuid4()
    told = {"key": "a", "instance_id": str(task)}
    first, then = made.later(20), made.later(12)
    await made.event(
        publish, task, "TASK_CREATED", made.later(5), decision="created", at=first.isoformat(), revision=1, **told
    )
    await made.event(
        publish, task, "TASK_MOVED", made.later(6), decision="moved", at=then.isoformat(), revision=2, **told
    )
    made.called("put", 5, job="publish", key="a", at=first, answer={"decision": "created", "revision": 1})
    made.called("put", 6, job="publish", key="a", at=then, answer={"decision": "moved", "revision": 2})
    await made.history(publish, then, id=task, idem_key=key, business_key="a", generation=1)
    await made.insert(
        "task_key", updated_at=then, revision=3, generation=1, shard_id=SHARD, job_id=publish, tenant_id=TENANT,
        instance_id=task, business_key="a", outcome="SUCCESS",
    )  # fmt: skip
    made.delivered(key, task, "publish", then, business_key="a")
    return task

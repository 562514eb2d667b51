"""How many bytes a fire leaves in the database, by kind of job, and what each column and index of it costs.

Rows are written by the product's own statements: fired or created, claimed, failed, retried, ended. Nothing depends on
how busy the machine is. Tables whose rows are updated are measured packed (`vacuum full`), because vacuum frees what an
update leaves; the others as they were written.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, TypeVar
from uuid import UUID

import asyncpg
import msgspec

from benchmarks import psql
from benchmarks.data import TENANT, fresh
from benchmarks.measure import Bound, judged
from benchmarks.meter import Meter
from benchmarks.nodes import keyring
from benchmarks.row_sizes import sizes
from benchmarks.server import SETTINGS, Server, running
from horae.domain.encryption.encrypted_values import payload_of
from horae.domain.instances import idempotency_keys
from horae.domain.instances.instances import Instance, Lane, Priority
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import ErrorCode, InstanceEnd, NextAttempt, Outcome, Retryable, Success, settle
from horae.domain.instances.retries import RetryPolicy
from horae.domain.placement import SHARDS, Run, spot
from horae.domain.schedules.timers import Timer
from horae.domain.tasks.tasks import CreateDecision, Decision, Intent, decide
from horae.repositories.envelopes import Envelopes
from horae.runtime.randomness import new_id, new_token
from horae.runtime.settings import CellSettings
from horae.security.envelopes import DataKey
from horae.security.keks import Keks
from horae.security.keyrings import Keyring
from horae.store.cells import SESSION, use_json
from horae.store.instances import instances
from horae.store.instances.instances import Attempt, Claim, EndRow, RetryRow
from horae.store.nodes.scans import ScanMark, ScanRange
from horae.store.schedules import cursors
from horae.store.schedules.cursors import FireRow
from horae.store.store import Store
from horae.store.tasks import tasks
from horae.store.tasks.tasks import TaskPlace, TaskRow
from horae.store.tx import Tx

JOBS: Final = 100
FIRES_EACH: Final = 250
"""Fires of each job: about what a job of the sizing has in a day (800 M fires of 3 M jobs)."""
BATCH: Final = 100
PERIOD: Final = timedelta(seconds=60)
RETRY_WAIT: Final = timedelta(minutes=10)
"""The clock moves by this before the next attempt: longer than any retry waits."""
T = TypeVar("T")
TABLES: Final = ("instance_history", "outbox", "dead_letter", "task_key")
EACH_DAY: Final = ("instance_history", "outbox")
"""What is kept by the day: this is what the disk of a cell is sized by."""
GOAL_BYTES: Final = 700
ARCHIVED_BYTES: Final = 17.6
"""Bytes of an archived row of a plain cron fire with its index: 10 M rows of 100 tenants in one day, by
`pytest -m long tests/archive/test_size.py`."""
BOUNDS: Final = (Bound("history_bytes", most=GOAL_BYTES),)
TYPE: Final = UUID(int=10)
PAYLOAD: Final = {
    "article": 4711,
    "title": "Sixteen ways to keep the hours",
    "tags": ["a", "b", "c"],
    "text": "x" * 212,
}
assert len(msgspec.json.encode(PAYLOAD)) == 300
FAILURE: Final = Retryable(ErrorCode.HTTP_5XX, "503 Service Unavailable")
NODE, REQUEST, STARTED_AT = "horae-node-0", "POST target.example.com/jobs/run", datetime(2030, 1, 1, tzinfo=UTC)
SUCCEEDED = Attempt(1, 200, None, 12, None, STARTED_AT, NODE, None, REQUEST)
FAILED = Attempt(1, 503, ErrorCode.HTTP_5XX, 12, None, STARTED_AT, NODE, None, REQUEST)
CANDIDATES: Final = {
    "none": "select 1",
    "btree (tenant_id, fire_time)": "create index candidate on instance_history (tenant_id, fire_time)",
    "btree (tenant_id, fire_time, id)": "create index candidate on instance_history (tenant_id, fire_time, id)",
    "brin (fire_time)": "create index candidate on instance_history"
    " using brin (fire_time timestamptz_minmax_multi_ops)",
}
"""Indexes that would serve a list of all instances of a tenant by fire time, in place of `instance_history_tenant`."""


class Kind(NamedTuple):
    """A kind of job: how its instances begin, and how their attempts end."""

    name: str
    means: str
    outcomes: tuple[Outcome, ...]
    task: bool = False


CRON: Final = Kind("cron", "a cron fire without a payload that succeeds", (Success(),))
KINDS: Final = (
    CRON,
    Kind("task", "a task with 300 B of payload, encrypted, that succeeds", (Success(),), task=True),
    Kind("three_attempts", "a cron fire that succeeds at the third attempt", (FAILURE, FAILURE, Success())),
    Kind("dead_letter", "a cron fire whose six attempts fail", (FAILURE,) * 6),
)


class Rows:
    """One database with the instances of one kind."""

    def __init__(self, server: Server, kind: Kind, fires_each: int) -> None:
        self.server, self.kind, self.fires = server, kind, JOBS * fires_each
        self.database = fresh(server, JOBS, "bench_rows")
        psql.run(server, self.database, "alter table instance_live set (autovacuum_enabled = off)")
        self.key = asyncio.run(self._data_key()) if kind.task else None

    async def _data_key(self) -> DataKey:
        async with Store.of([CellSettings(name="bench", dsn=self.server.dsn(self.database))]) as store:
            return await Envelopes(store, Keks([Keyring(keyring())])).key(UUID(TENANT))

    def measure(self) -> dict[str, Any]:
        """Write all instances of the kind; returns the sizes of what they are and leave, and the WAL of each."""
        meter = Meter(self.server, self.database)
        with meter.measuring() as began:
            running = asyncio.run(self._with_connection(self._begin))
        psql.run(self.server, self.database, "vacuum full instance_live")
        live = sizes(self.server, self.database, "instance_live")
        with meter.measuring() as ended:
            asyncio.run(self._with_connection(lambda tx: self._attempts(tx, running)))
        psql.run(self.server, self.database, "vacuum full task_key")
        found = {table: sizes(self.server, self.database, table) for table in TABLES}
        each_day = sum(found[table]["bytes"] * found[table]["rows"] for table in EACH_DAY) / self.fires
        return {
            "means": self.kind.means,
            "each_day_bytes_per_fire": round(each_day, 1),
            "wal_bytes_per_fire": round((began.wal_bytes + ended.wal_bytes) / self.fires),
            "instance_live": live,
            **found,
        }

    async def _with_connection(self, work: Callable[[Tx], Awaitable[T]]) -> T:
        connection = await asyncpg.connect(self.server.dsn(self.database), server_settings=SESSION)
        await use_json(connection)
        try:
            first = await connection.fetchval("select min(next_fire_at) from job_cursor")
            return await work(Tx(connection, first))
        finally:
            await connection.close()

    async def _begin(self, tx: Tx) -> list[Instance]:
        """Insert all instances; returns them as they run."""
        return await self._create_tasks(tx) if self.kind.task else await self._fire(tx)

    async def _fire(self, tx: Tx) -> list[Instance]:
        running, owner, everywhere = [], new_token(), Run(0, SHARDS - 1)
        while len(running) < self.fires:
            marks = [ScanMark(Priority.NORMAL, Lane.FIRST)]
            due = await cursors.due(tx, everywhere, ScanRange(tx.now + 2 * PERIOD, limit=BATCH), marks)
            tx.now, token = due[-1].at, new_token()
            rows = [_fire_row(timer, tx.now, token) for timer in sorted(due)]
            assert len(await cursors.fire(tx, Priority.NORMAL, rows, owner)) == len(rows)
            running += [_running(row) for row in rows]
        return running

    async def _create_tasks(self, tx: Tx) -> list[Instance]:
        running: list[Instance] = []
        for first in range(0, self.fires, BATCH):
            timers = [await self._create_task(tx, number) for number in range(first, first + BATCH)]
            tx.now += PERIOD / 10
            running += await instances.claim(tx, timers, Claim(new_token(), new_token()))
        return running

    async def _create_task(self, tx: Tx, number: int) -> Timer:
        key = f"article-{number:08d}"
        place = TaskPlace(spot(key) % SHARDS, UUID(TENANT), TYPE, key)
        idem_key = idempotency_keys.task_key(TYPE, key, 1)
        assert self.key is not None
        intent = Intent(tx.now, self.key.encrypt(payload_of(TYPE, idem_key), PAYLOAD))
        change = decide(await tasks.find(tx, place), intent)
        assert isinstance(change, CreateDecision)
        row = TaskRow(new_id(place.shard, tx.now), idem_key, 1, Priority.NORMAL, 13_000)
        note = tasks.note_of(Decision.CREATED, change, "key_01hv3zq5k8e9r7t2m4n6p8s0v1", tx.now)
        assert await tasks.create(tx, place, change, intent, row, note) is not None
        return Timer(place.shard, row.id, tx.now, place.tenant_id, Priority.NORMAL, Lane.FIRST, TYPE, 1)

    async def _attempts(self, tx: Tx, running: Sequence[Instance]) -> None:
        """End each attempt as the kind says, and claim what is tried again."""
        for number, outcome in enumerate(self.kind.outcomes):
            again: list[Instance] = []
            for batch in _batches(running):
                tx.now = max(tx.now, max(ran.fire_time for ran in batch) + number * RETRY_WAIT)
                again += await _end(tx, batch, outcome)
            running = again
        assert not running


async def _end(tx: Tx, batch: Sequence[Instance], outcome: Outcome) -> list[Instance]:
    """Write the outcome of an attempt, as the rules decide; returns what runs again after its wait."""
    decided = [(ran, settle(ran, outcome, RetryPolicy(), tx.now, 0.5)) for ran in batch]
    said = SUCCEEDED if isinstance(outcome, Success) else FAILED
    ends = [
        EndRow(ran, next_, msgspec.structs.replace(said, attempt=ran.attempt), 3)
        for ran, next_ in decided
        if isinstance(next_, InstanceEnd)
    ]
    retries = [
        RetryRow(ran, next_, msgspec.structs.replace(said, attempt=ran.attempt), 3)
        for ran, next_ in decided
        if isinstance(next_, NextAttempt)
    ]
    if ends:
        assert len(await instances.end(tx, ends)) == len(ends)
    if not retries:
        return []
    assert len(await instances.retry_later(tx, retries)) == len(retries)
    now, tx.now = tx.now, tx.now + RETRY_WAIT
    again = await instances.claim(tx, [_retry_timer(row) for row in retries], Claim(new_token(), new_token()))
    tx.now = now
    return again


def _fire_row(timer: Timer, now: datetime, token: UUID) -> FireRow:
    idem_key = idempotency_keys.recurring_key(timer.id, timer.at)
    id_ = new_id(timer.shard, now)
    return FireRow(
        timer.shard, timer.id, timer.version, timer.at, timer.at + PERIOD, id_, idem_key, timer.at, token, 13_000
    )


def _running(row: FireRow) -> Instance:
    return Instance(
        shard=row.shard, id=row.id, tenant_id=UUID(TENANT), job_id=row.job_id, job_version=1, idem_key=row.idem_key,
        fire_time=row.fire_time, due_at=row.due_at, state=State.RUNNING, attempt=1, token=row.token,
    )  # fmt: skip


def _retry_timer(row: RetryRow) -> Timer:
    ran = row.ran
    return Timer(ran.shard, ran.id, row.next.due_at, ran.tenant_id, ran.priority, Lane.RETRY, ran.job_id, 1)


def _batches(running: Sequence[Instance]) -> Iterator[Sequence[Instance]]:
    for first in range(0, len(running), BATCH):
        yield running[first : first + BATCH]


def _candidates(server: Server, fires_each: int) -> dict[str, Any]:
    """What each index costs a plain cron fire: its bytes per row, and the WAL of a fire beside none."""
    found = {}
    for name, statement in CANDIDATES.items():
        rows = Rows(server, CRON, fires_each)
        psql.run(server, rows.database, "drop index instance_history_tenant", statement)
        measured = rows.measure()
        bytes_ = measured["instance_history"]["indexes"].get("candidate", 0.0)
        found[name] = {"bytes": bytes_, "wal_bytes_per_fire": measured["wal_bytes_per_fire"]}
    return found


def main(seconds: float) -> dict[str, Any]:
    """The full size; a smaller one where less than ten seconds are asked for."""
    fires_each = FIRES_EACH if seconds >= 10 else 10
    with running() as server:
        kinds = {kind.name: Rows(server, kind, fires_each).measure() for kind in KINDS}
        candidates = _candidates(server, fires_each)
    found = {
        "settings": {"jobs": JOBS, "fires_each": fires_each, "batch": BATCH, "postgresql": SETTINGS},
        "rate": None,
        "bare": None,
        "ratio": None,
        "history_bytes": kinds["cron"]["instance_history"]["bytes"],
        "archived_bytes": ARCHIVED_BYTES,
        "each_day_bytes": {name: kind["each_day_bytes_per_fire"] for name, kind in kinds.items()},
        "kinds": kinds,
        "index_candidates": candidates,
    }
    return judged(found, BOUNDS)

"""Tasks by business key: the live row and its ledger, read and changed together.

Each change is one statement that changes both the live row and the ledger, or neither. The ledger's generation
authorises a new instance: between a read and an insert, another caller may create the key, and it may fire and succeed.
Then the generation differs and the insert finds zero rows.
"""

from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from horae.domain.instances.instances import Priority
from horae.domain.instances.lifecycle import State
from horae.domain.tasks.tasks import (
    Cancel,
    CreateDecision,
    Decision,
    Ignore,
    Intent,
    KeyState,
    Ledger,
    MoveDecision,
    Replace,
)
from horae.store.instances.instances import instance_from
from horae.store.statements import sql
from horae.store.tx import Tx


class TaskPlace(NamedTuple):
    """A business key of a type, and its shard."""

    shard: int
    tenant_id: UUID
    job_id: UUID
    key: str


class TaskRow(NamedTuple):
    """The fields of a new instance of a key."""

    id: UUID
    idem_key: str
    job_version: int
    priority: Priority
    slot_ms: int
    queue: str | None = None


class WrittenTask(NamedTuple):
    """A change that took effect: the resulting instance, and the ledger's revision, which orders all changes."""

    instance_id: UUID
    revision: int


async def find(tx: Tx, place: TaskPlace) -> KeyState:
    """The key's live row and ledger, from one snapshot."""
    row = await tx.row(sql("tasks/tasks/find"), place.shard, place.job_id, place.key)
    return KeyState() if row is None else known_from(row)


def known_from(row: asyncpg.Record) -> KeyState:
    """Convert a row that joins a key's ledger and its live row."""
    outcome = row["outcome"]
    ledger = Ledger(
        generation=row["ledger_generation"],
        outcome=State(outcome) if outcome else None,
        intent_version=row["ledger_intent_version"],
        revision=row["revision"],
        instance_id=row["instance_id"],
    )
    return KeyState(instance_from(row) if row["id"] else None, ledger)


async def decisions(tx: Tx, place: TaskPlace) -> list[dict[str, Any]]:
    """The last twenty decisions about a key, oldest first."""
    return await tx.value(sql("tasks/tasks/decisions"), place.shard, place.job_id, place.key) or []


async def create(
    tx: Tx,
    place: TaskPlace,
    change: CreateDecision,
    intent: Intent,
    new_row: TaskRow,
    note: object,
    widenings: int = 0,
    caller_trace: bytes | None = None,
) -> WrittenTask | None:
    """Insert the ledger (or increase its generation) and the live row.

    None: the generation has changed since it was read, or the tenant has been widened more often than the caller knows.
    """
    payload = None if intent.payload is msgspec.UNSET else intent.payload
    args = (*place, change.after, new_row.id, new_row.idem_key, change.at, payload, intent.version)
    return _written(
        await tx.row(
            sql("tasks/tasks/create"),
            *(*args, new_row.job_version, new_row.priority, new_row.slot_ms, note, tx.now, new_row.queue, widenings),
            caller_trace,
        )
    )


async def move(
    tx: Tx, place: TaskPlace, change: MoveDecision, intent: Intent, note: object, caller_trace: bytes | None = None
) -> WrittenTask | None:
    """Give the waiting row a new time. None: it runs, is gone, or a newer intent came first."""
    keep = intent.payload is msgspec.UNSET
    args = (
        *place,
        change.found.id,
        change.at,
        keep,
        None if keep else intent.payload,
        intent.version,
        note,
        tx.now,
        caller_trace,
    )
    return _written(await tx.row(sql("tasks/tasks/move"), *args))


async def replace(
    tx: Tx,
    place: TaskPlace,
    change: Replace,
    intent: Intent,
    new_row: TaskRow,
    note: object,
    caller_trace: bytes | None = None,
) -> WrittenTask | None:
    """Cancel the running row and insert another one under the same key. None: it no longer runs."""
    keep = intent.payload is msgspec.UNSET
    payload = None if keep else intent.payload
    args = (*place, change.found.id, new_row.id, change.at, keep, payload, intent.version)
    return _written(
        await tx.row(
            sql("tasks/tasks/replace"),
            *args,
            new_row.job_version,
            new_row.priority,
            new_row.slot_ms,
            note,
            tx.now,
            new_row.queue,
            caller_trace,
        )
    )


async def cancel(tx: Tx, place: TaskPlace, change: Cancel, version: int | None, note: object) -> WrittenTask | None:
    """Cancel the live row, running or not. None: it is gone or its state has changed."""
    found = change.found
    args = (*place, found.id, found.state, found.attempt, version, note, tx.now)
    return _written(await tx.row(sql("tasks/tasks/cancel"), *args))


async def ignore(
    tx: Tx, place: TaskPlace, known: KeyState, note: object, version: int | None = None
) -> WrittenTask | None:
    """Record that an intent changed nothing, with its version if older intents are stale from now on.

    None: the key has changed since it was read, so decide again.
    """
    assert known.ledger is not None
    return _written(await tx.row(sql("tasks/tasks/ignore"), *place, known.ledger.revision, note, tx.now, version))


def note_of(
    decision: Decision, change: MoveDecision | Replace | CreateDecision | Ignore | Cancel, actor: str, now: object
) -> object:
    """One entry of a key's ledger: the decision, its time, when it was made and by whom."""
    line: dict[str, object] = {"decision": decision, "on": now, "by": actor}
    match change:
        case CreateDecision(at=at) | MoveDecision(at=at) | Replace(at=at):
            line["at"] = at
        case Ignore(reason):
            line["reason"] = reason
        case Cancel():
            pass
    return line


def _written(row: Any) -> WrittenTask | None:
    return None if row is None else WrittenTask(row["instance_id"], row["revision"])

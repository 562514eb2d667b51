"""Tasks by business key: the live row and its ledger, read and changed together.

Each change is one statement that touches live row and ledger or neither. The ledger's generation authorises a
birth: a key can be created, fire and succeed between a read and an insert, and then the insert finds zero rows.
"""

from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from horae.domain.instances import Priority
from horae.domain.lifecycle import State
from horae.domain.tasks import Cancel, Create, Decision, Ignore, Intent, Known, Ledger, Move, Replace
from horae.store.instances import instance_from
from horae.store.statements import sql
from horae.store.tx import Tx


class Place(NamedTuple):
    """Which key of which type, and where it lives."""

    shard: int
    tenant_id: UUID
    job_id: UUID
    key: str


class Birth(NamedTuple):
    """What a new instance of a key is made of."""

    id: UUID
    idem_key: str
    job_version: int
    priority: Priority
    slot_ms: int
    queue: str | None = None


class Written(NamedTuple):
    """A change that took effect: the instance it left, and the ledger's revision, which orders all changes."""

    instance_id: UUID
    revision: int


async def find(tx: Tx, place: Place) -> Known:
    """The key's live row and ledger, as one statement sees them."""
    row = await tx.row(sql("tasks/find"), place.shard, place.job_id, place.key)
    return Known() if row is None else known_from(row)


def known_from(row: asyncpg.Record) -> Known:
    """A key out of a row that joins its ledger and what lives of it."""
    outcome = row["outcome"]
    ledger = Ledger(
        generation=row["ledger_generation"],
        outcome=State(outcome) if outcome else None,
        intent_version=row["ledger_intent_version"],
        revision=row["revision"],
        instance_id=row["instance_id"],
    )
    return Known(instance_from(row) if row["id"] else None, ledger)


async def decisions(tx: Tx, place: Place) -> list[dict[str, Any]]:
    """The last twenty decisions about a key, oldest first."""
    return await tx.value(sql("tasks/decisions"), place.shard, place.job_id, place.key) or []


async def create(
    tx: Tx, place: Place, change: Create, intent: Intent, birth: Birth, note: object, widenings: int = 0
) -> Written | None:
    """Insert ledger (or raise its generation) and live row. None: the generation is not what we read.

    None, too, where the tenant was widened more often than the caller knows.
    """
    payload = None if intent.payload is msgspec.UNSET else intent.payload
    args = (*place, change.after, birth.id, birth.idem_key, change.at, payload, intent.version)
    return _written(
        await tx.row(
            sql("tasks/create"),
            *(*args, birth.job_version, birth.priority, birth.slot_ms, note, tx.now, birth.queue, widenings),
        )
    )


async def move(tx: Tx, place: Place, change: Move, intent: Intent, note: object) -> Written | None:
    """Give the waiting row a new time. None: it runs, is gone, or a newer intent was first."""
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
    )
    return _written(await tx.row(sql("tasks/move"), *args))


async def replace(tx: Tx, place: Place, change: Replace, intent: Intent, birth: Birth, note: object) -> Written | None:
    """End the running row as CANCELLED and insert another under the same key. None: it no longer runs."""
    keep = intent.payload is msgspec.UNSET
    payload = None if keep else intent.payload
    args = (*place, change.found.id, birth.id, change.at, keep, payload, intent.version)
    return _written(
        await tx.row(
            sql("tasks/replace"), *args, birth.job_version, birth.priority, birth.slot_ms, note, tx.now, birth.queue
        )
    )


async def cancel(tx: Tx, place: Place, change: Cancel, version: int | None, note: object) -> Written | None:
    """End the live row, running or not. None: it is gone or changed its state."""
    found = change.found
    args = (*place, found.id, found.state, found.attempt, version, note, tx.now)
    return _written(await tx.row(sql("tasks/cancel"), *args))


async def ignore(tx: Tx, place: Place, known: Known, note: object, version: int | None = None) -> Written | None:
    """Remember that an intent changed nothing, and its version where older ones are to be stale from now on.

    None: something changed since, so decide again.
    """
    assert known.ledger is not None
    return _written(await tx.row(sql("tasks/ignore"), *place, known.ledger.revision, note, tx.now, version))


def note_of(decision: Decision, change: Move | Replace | Create | Ignore | Cancel, actor: str, now: object) -> object:
    """One line of a key's ledger: what was decided, about which time, when and by whom."""
    line: dict[str, object] = {"decision": decision, "on": now, "by": actor}
    match change:
        case Create(at=at) | Move(at=at) | Replace(at=at):
            line["at"] = at
        case Ignore(reason):
            line["reason"] = reason
        case Cancel():
            pass
    return line


def _written(row: Any) -> Written | None:
    return None if row is None else Written(row["instance_id"], row["revision"])

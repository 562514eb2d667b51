"""Many tasks of one type, read and changed together: one statement for each kind of change.

The statements have the same guards as those for a single task. `Type` holds what all rows of a call share. A key that
is missing from the result was not written; the caller reads it and decides again. Live rows are locked in the same
order as when results are settled.

A single task has statements of its own (`horae.store.tasks.tasks`): by those of a batch it costs 1.4 to 1.5 times the
CPU (docs/decisions/0016-batches-of-tasks.md).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.instances.instances import Instance, Priority
from horae.domain.tasks.tasks import Intent, KeyState
from horae.store.arrays import documents, plain, texts
from horae.store.statements import sql
from horae.store.tasks.tasks import WrittenTask, known_from
from horae.store.tx import Tx


class Type(NamedTuple):
    """The tenant and type of the tasks, and the fields of new instances."""

    tenant_id: UUID
    job_id: UUID
    job_version: int
    priority: Priority
    slot_ms: int
    queue: str | None = None


class StartRow(NamedTuple):
    """A key to start: for the first time, or after the generation that its ledger must still have."""

    shard: int
    key: str
    after: int
    id: UUID
    idem_key: str
    intent: Intent


class MoveRow(NamedTuple):
    """A waiting instance that gets a new time."""

    shard: int
    key: str
    found: Instance
    intent: Intent


class ReplaceRow(NamedTuple):
    """A running instance to cancel, and the id of its replacement."""

    shard: int
    key: str
    found: Instance
    id: UUID
    intent: Intent


class CancelRow(NamedTuple):
    """A live instance to cancel."""

    shard: int
    key: str
    found: Instance
    version: int | None


class IgnoreRow(NamedTuple):
    """An intent that changes nothing: the revision that was read, its ledger entry, and its version if that counts."""

    shard: int
    key: str
    revision: int
    note: object
    version: int | None = None


class EarlyCancelRow(NamedTuple):
    """A key that is cancelled before it was ever used."""

    shard: int
    key: str
    id: UUID
    version: int


Plan = StartRow | MoveRow | ReplaceRow | CancelRow | IgnoreRow | EarlyCancelRow


async def find(tx: Tx, job_id: UUID, shards: Sequence[int], keys: Sequence[str]) -> dict[str, KeyState]:
    """The state of each key that was ever used, from one snapshot."""
    rows = await tx.rows(sql("tasks/batches/find"), job_id, plain(shards), texts(keys))
    return {row["asked"]: known_from(row) for row in rows}


async def used(tx: Tx, job_id: UUID, shards: Sequence[int], keys: Sequence[str]) -> set[str]:
    """The keys that were ever used, each looked up in its shard."""
    return {row["business_key"] for row in await tx.rows(sql("tasks/batches/used"), job_id, plain(shards), texts(keys))}


async def create(
    tx: Tx,
    type_: Type,
    plans: Sequence[StartRow],
    note: object,
    widenings: int,
    caller_trace: bytes | None = None,
) -> set[int]:
    """Insert ledger and live row of keys that were never used.

    Raises `COLLIDED` when one of the keys was used in the meantime. Returns the shards that are closed, or closed to a
    caller that knows only of `widenings` widenings: their keys were not written.
    """
    columns = (*_places(plans), *_new_ids(plans), *_intents([plan.intent for plan in plans]))
    found = await tx.rows(sql("tasks/batches/create"), *columns, *type_, note, tx.now, widenings, caller_trace)
    return {row["shard_id"] for row in found}


async def renew(
    tx: Tx, type_: Type, plans: Sequence[StartRow], note: object, caller_trace: bytes | None = None
) -> dict[str, WrittenTask]:
    """Start keys again whose last instance has ended: increase the ledger's generation and insert a live row."""
    after = plain([plan.after for plan in plans])
    columns = (*_places(plans), after, *_new_ids(plans), *_intents([plan.intent for plan in plans]))
    return _written(await tx.rows(sql("tasks/batches/renew"), *columns, *type_, note, tx.now, caller_trace))


async def move(
    tx: Tx, type_: Type, plans: Sequence[MoveRow], note: object, caller_trace: bytes | None = None
) -> dict[str, WrittenTask]:
    """Give waiting rows new times."""
    plans = sorted(plans, key=_order)
    intents = [plan.intent for plan in plans]
    columns = (*_places(plans), _found(plans), _keeps_payload(intents), *_intents(intents))
    return _written(await tx.rows(sql("tasks/batches/move"), *columns, *type_[:2], note, tx.now, caller_trace))


async def replace(
    tx: Tx, type_: Type, plans: Sequence[ReplaceRow], note: object, caller_trace: bytes | None = None
) -> dict[str, WrittenTask]:
    """End running rows as CANCELLED and insert others under the same keys."""
    plans = sorted(plans, key=_order)
    intents = [plan.intent for plan in plans]
    columns = (
        *_places(plans),
        _found(plans),
        plain([plan.id for plan in plans]),
        _keeps_payload(intents),
        *_intents(intents),
    )
    return _written(await tx.rows(sql("tasks/batches/replace"), *columns, *type_, note, tx.now, caller_trace))


async def cancel(tx: Tx, type_: Type, plans: Sequence[CancelRow], note: object) -> dict[str, WrittenTask]:
    """End live rows, running or not."""
    plans = sorted(plans, key=_order)
    seen = texts([plan.found.state for plan in plans]), plain([plan.found.attempt for plan in plans])
    columns = (*_places(plans), _found(plans), *seen, plain([plan.version for plan in plans]))
    return _written(await tx.rows(sql("tasks/batches/cancel"), *columns, *type_[:2], note, tx.now))


async def ignore(tx: Tx, type_: Type, plans: Sequence[IgnoreRow]) -> dict[str, WrittenTask]:
    """Record that intents changed nothing."""
    columns = (*_places(plans), plain([plan.revision for plan in plans]), documents([plan.note for plan in plans]))
    versions = plain([plan.version for plan in plans])
    return _written(await tx.rows(sql("tasks/batches/ignore"), *columns, *type_[:2], tx.now, versions))


async def record_cancel_before_create(
    tx: Tx, type_: Type, plans: Sequence[EarlyCancelRow], note: object, widenings: int
) -> dict[str, WrittenTask]:
    """Record a cancellation of keys that were never used, so that an older intent for them is stale."""
    columns = (*_places(plans), plain([plan.id for plan in plans]), plain([plan.version for plan in plans]))
    return _written(
        await tx.rows(sql("tasks/batches/record_cancel_before_create"), *columns, *type_[:2], note, tx.now, widenings)
    )


def note_of(decision: str, actor: str, now: datetime) -> dict[str, object]:
    """The fields that all ledger entries of one kind of change share; each entry adds its own time."""
    return {"decision": decision, "on": now, "by": actor}


def _written(rows: Sequence[Any]) -> dict[str, WrittenTask]:
    return {key: WrittenTask(id_, revision) for key, id_, revision in rows}


def _places(plans: Sequence[Plan]) -> tuple[str, str]:
    return plain([plan.shard for plan in plans]), texts([plan.key for plan in plans])


def _new_ids(plans: Sequence[StartRow]) -> tuple[str, str]:
    return plain([plan.id for plan in plans]), texts([plan.idem_key for plan in plans])


def _intents(intents: Sequence[Intent]) -> tuple[str, str, str]:
    """The columns for times, payloads and intent versions."""
    given = [None if intent.payload is msgspec.UNSET else intent.payload for intent in intents]
    times, versions = [intent.at for intent in intents], [intent.version for intent in intents]
    return plain(times), documents(given), plain(versions)


def _keeps_payload(intents: Sequence[Intent]) -> str:
    """The column that says whether a payload stays as it is."""
    return plain([intent.payload is msgspec.UNSET for intent in intents])


def _found(plans: Sequence[MoveRow | ReplaceRow | CancelRow]) -> str:
    return plain([plan.found.id for plan in plans])


def _order(plan: MoveRow | ReplaceRow | CancelRow) -> tuple[int, object]:
    return plan.shard, plan.found.id

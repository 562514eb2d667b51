"""Many tasks of one type, read and changed together: one statement a kind of change, with the guards of a single one.

What all rows of a call share, its type says once. A key that is missing from what comes back was not written; it is
read and decided again. Live rows are locked in the order in which settling locks them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from horae.domain.instances import Instance, Priority
from horae.domain.tasks import Intent, Known
from horae.store.arrays import documents, plain, texts
from horae.store.statements import sql
from horae.store.tasks import Written, known_from
from horae.store.tx import Tx


class Type(NamedTuple):
    """Whose tasks they are, and what is born."""

    tenant_id: UUID
    job_id: UUID
    job_version: int
    priority: Priority
    slot_ms: int
    queue: str | None = None


class Starting(NamedTuple):
    """A key to be started: for the first time, or after the generation its ledger must still show."""

    shard: int
    key: str
    after: int
    id: UUID
    idem_key: str
    intent: Intent


class Moving(NamedTuple):
    """A waiting instance to be given a new time."""

    shard: int
    key: str
    found: Instance
    intent: Intent


class Replacing(NamedTuple):
    """A running instance to be cancelled, and the id of what takes its place."""

    shard: int
    key: str
    found: Instance
    id: UUID
    intent: Intent


class Cancelling(NamedTuple):
    """A live instance to be ended."""

    shard: int
    key: str
    found: Instance
    version: int | None


class Ignoring(NamedTuple):
    """An intent that changes nothing, the revision it was decided on, its own line, and its version if that counts."""

    shard: int
    key: str
    revision: int
    note: object
    version: int | None = None


class Forestalling(NamedTuple):
    """A key that is called off before it was ever used."""

    shard: int
    key: str
    id: UUID
    version: int


Plan = Starting | Moving | Replacing | Cancelling | Ignoring | Forestalling


async def find(tx: Tx, job_id: UUID, shards: Sequence[int], keys: Sequence[str]) -> dict[str, Known]:
    """What is known of each key that was ever used, as one statement sees them all."""
    rows = await tx.rows(sql("task_batches/find"), job_id, plain(shards), texts(keys))
    return {row["asked"]: known_from(row) for row in rows}


async def used(tx: Tx, job_id: UUID, shards: Sequence[int], keys: Sequence[str]) -> set[str]:
    """Which of the keys were ever used, each in its shard."""
    return {row["business_key"] for row in await tx.rows(sql("task_batches/used"), job_id, plain(shards), texts(keys))}


async def create(tx: Tx, type_: Type, plans: Sequence[Starting], note: object, widenings: int) -> set[int]:
    """Insert ledger and live row of keys never used. Raises `COLLIDED` when one of them was used meanwhile.

    Returns the shards that are closed to someone who knows of so many widenings: their keys were not written.
    """
    columns = (*_places(plans), *_births(plans), *_intents([plan.intent for plan in plans]))
    found = await tx.rows(sql("task_batches/create"), *columns, *type_, note, tx.now, widenings)
    return {row["shard_id"] for row in found}


async def renew(tx: Tx, type_: Type, plans: Sequence[Starting], note: object) -> dict[str, Written]:
    """Start keys anew whose last instance has ended: raise the ledger's generation and insert a live row."""
    after = plain([plan.after for plan in plans])
    columns = (*_places(plans), after, *_births(plans), *_intents([plan.intent for plan in plans]))
    return _written(await tx.rows(sql("task_batches/renew"), *columns, *type_, note, tx.now))


async def move(tx: Tx, type_: Type, plans: Sequence[Moving], note: object) -> dict[str, Written]:
    """Give waiting rows new times."""
    plans = sorted(plans, key=_order)
    intents = [plan.intent for plan in plans]
    columns = (*_places(plans), _found(plans), _kept(intents), *_intents(intents))
    return _written(await tx.rows(sql("task_batches/move"), *columns, *type_[:2], note, tx.now))


async def replace(tx: Tx, type_: Type, plans: Sequence[Replacing], note: object) -> dict[str, Written]:
    """End running rows as CANCELLED and insert others under the same keys."""
    plans = sorted(plans, key=_order)
    intents = [plan.intent for plan in plans]
    columns = (*_places(plans), _found(plans), plain([plan.id for plan in plans]), _kept(intents), *_intents(intents))
    return _written(await tx.rows(sql("task_batches/replace"), *columns, *type_, note, tx.now))


async def cancel(tx: Tx, type_: Type, plans: Sequence[Cancelling], note: object) -> dict[str, Written]:
    """End live rows, running or not."""
    plans = sorted(plans, key=_order)
    seen = texts([plan.found.state for plan in plans]), plain([plan.found.attempt for plan in plans])
    columns = (*_places(plans), _found(plans), *seen, plain([plan.version for plan in plans]))
    return _written(await tx.rows(sql("task_batches/cancel"), *columns, *type_[:2], note, tx.now))


async def ignore(tx: Tx, type_: Type, plans: Sequence[Ignoring]) -> dict[str, Written]:
    """Remember that intents changed nothing."""
    columns = (*_places(plans), plain([plan.revision for plan in plans]), documents([plan.note for plan in plans]))
    versions = plain([plan.version for plan in plans])
    return _written(await tx.rows(sql("task_batches/ignore"), *columns, *type_[:2], tx.now, versions))


async def forestall(
    tx: Tx, type_: Type, plans: Sequence[Forestalling], note: object, widenings: int
) -> dict[str, Written]:
    """Remember keys that were called off before they were ever used: what was meant before that is stale."""
    columns = (*_places(plans), plain([plan.id for plan in plans]), plain([plan.version for plan in plans]))
    return _written(await tx.rows(sql("task_batches/forestall"), *columns, *type_[:2], note, tx.now, widenings))


def note_of(decision: str, actor: str, now: datetime) -> dict[str, object]:
    """What the ledger's lines of one kind of change have in common; each adds its own time."""
    return {"decision": decision, "on": now, "by": actor}


def _written(rows: Sequence[Any]) -> dict[str, Written]:
    return {key: Written(id_, revision) for key, id_, revision in rows}


def _places(plans: Sequence[Plan]) -> tuple[str, str]:
    return plain([plan.shard for plan in plans]), texts([plan.key for plan in plans])


def _births(plans: Sequence[Starting]) -> tuple[str, str]:
    return plain([plan.id for plan in plans]), texts([plan.idem_key for plan in plans])


def _intents(intents: Sequence[Intent]) -> tuple[str, str, str]:
    """Times, payloads and versions."""
    given = [None if intent.payload is msgspec.UNSET else intent.payload for intent in intents]
    times, versions = [intent.at for intent in intents], [intent.version for intent in intents]
    return plain(times), documents(given), plain(versions)


def _kept(intents: Sequence[Intent]) -> str:
    """Whether the payload stays as it is."""
    return plain([intent.payload is msgspec.UNSET for intent in intents])


def _found(plans: Sequence[Moving | Replacing | Cancelling]) -> str:
    return plain([plan.found.id for plan in plans])


def _order(plan: Moving | Replacing | Cancelling) -> tuple[int, object]:
    return plan.shard, plan.found.id

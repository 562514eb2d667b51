"""Many tasks of one type, read and changed together: one statement a kind of change, with the guards of a single one.

All rows of a call belong to one type: what its job says is said once. A key that is missing from what comes back was
not written; it is read and decided again. Live rows are locked in the order in which settling locks them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from horae.domain.instances import Instance
from horae.domain.tasks import Intent, Known
from horae.store.arrays import documents, plain, texts
from horae.store.statements import sql
from horae.store.tasks import Birth, Place, Written, known_from
from horae.store.tx import Tx


class Starting(NamedTuple):
    """A key to be started: for the first time, or after the generation its ledger must still show."""

    place: Place
    after: int
    birth: Birth
    intent: Intent
    note: object


class Moving(NamedTuple):
    """A waiting instance to be given a new time."""

    place: Place
    found: Instance
    intent: Intent
    note: object


class Replacing(NamedTuple):
    """A running instance to be cancelled, and what takes its place."""

    place: Place
    found: Instance
    birth: Birth
    intent: Intent
    note: object


class Cancelling(NamedTuple):
    """A live instance to be ended."""

    place: Place
    found: Instance
    version: int | None
    note: object


class Ignoring(NamedTuple):
    """An intent that changes nothing, and the revision it was decided on."""

    place: Place
    revision: int
    note: object


Plan = Starting | Moving | Replacing | Cancelling | Ignoring


async def find(tx: Tx, places: Sequence[Place]) -> dict[str, Known]:
    """What is known of each key that was ever used, as one statement sees them all."""
    shards, keys = plain([place.shard for place in places]), texts([place.key for place in places])
    rows = await tx.rows(sql("task_batches/find"), places[0].job_id, shards, keys)
    return {row["asked"]: known_from(row) for row in rows}


async def create(tx: Tx, plans: Sequence[Starting]) -> dict[str, Written]:
    """Insert ledger and live row of keys never used. Raises `COLLIDED` when one of them was used meanwhile."""
    columns = (*_places(plans), *_births(plans), *_intents(plans), _notes(plans))
    shared = (*_owner(plans), *_job(plans[0].birth), tx.now)
    closed = {row["shard_id"] for row in await tx.rows(sql("task_batches/create"), *columns, *shared)}
    return {plan.place.key: Written(plan.birth.id, 1) for plan in plans if plan.place.shard not in closed}


async def renew(tx: Tx, plans: Sequence[Starting]) -> dict[str, Written]:
    """Start keys anew whose last instance has ended: raise the ledger's generation and insert a live row."""
    after = plain([plan.after for plan in plans])
    columns = (*_places(plans), after, *_births(plans), *_intents(plans), _notes(plans))
    return await _write(tx, sql("task_batches/renew"), *columns, *_owner(plans), *_job(plans[0].birth))


async def move(tx: Tx, plans: Sequence[Moving]) -> dict[str, Written]:
    """Give waiting rows new times."""
    plans = sorted(plans, key=_order)
    columns = (*_places(plans), _found(plans), _kept(plans), *_intents(plans), _notes(plans))
    return await _write(tx, sql("task_batches/move"), *columns, *_owner(plans))


async def replace(tx: Tx, plans: Sequence[Replacing]) -> dict[str, Written]:
    """End running rows as CANCELLED and insert others under the same keys."""
    plans = sorted(plans, key=_order)
    born = plain([plan.birth.id for plan in plans])
    columns = (*_places(plans), _found(plans), born, _kept(plans), *_intents(plans), _notes(plans))
    return await _write(tx, sql("task_batches/replace"), *columns, *_owner(plans), *_job(plans[0].birth))


async def cancel(tx: Tx, plans: Sequence[Cancelling]) -> dict[str, Written]:
    """End live rows, running or not."""
    plans = sorted(plans, key=_order)
    states, attempts = texts([plan.found.state for plan in plans]), plain([plan.found.attempt for plan in plans])
    versions = plain([plan.version for plan in plans])
    columns = (*_places(plans), _found(plans), states, attempts, versions, _notes(plans))
    return await _write(tx, sql("task_batches/cancel"), *columns, *_owner(plans))


async def ignore(tx: Tx, plans: Sequence[Ignoring]) -> dict[str, Written]:
    """Remember that intents changed nothing."""
    columns = (*_places(plans), plain([plan.revision for plan in plans]), _notes(plans))
    return await _write(tx, sql("task_batches/ignore"), *columns, *_owner(plans))


async def _write(tx: Tx, statement: str, *args: object) -> dict[str, Written]:
    return {key: Written(id_, revision) for key, id_, revision in await tx.rows(statement, *args, tx.now)}


def _places(plans: Sequence[Plan]) -> tuple[str, str]:
    return plain([plan.place.shard for plan in plans]), texts([plan.place.key for plan in plans])


def _births(plans: Sequence[Starting]) -> tuple[str, str]:
    return plain([plan.birth.id for plan in plans]), texts([plan.birth.idem_key for plan in plans])


def _intents(plans: Sequence[Starting | Moving | Replacing]) -> tuple[str, str, str]:
    """Times, payloads and versions."""
    intents = [plan.intent for plan in plans]
    given = [None if intent.payload is msgspec.UNSET else intent.payload for intent in intents]
    return (
        plain([intent.at for intent in intents]),
        documents(given),
        plain([intent.version for intent in intents]),
    )


def _kept(plans: Sequence[Moving | Replacing]) -> str:
    """Whether the payload stays as it is."""
    return plain([plan.intent.payload is msgspec.UNSET for plan in plans])


def _found(plans: Sequence[Moving | Replacing | Cancelling]) -> str:
    return plain([plan.found.id for plan in plans])


def _notes(plans: Sequence[Plan]) -> str:
    return documents([plan.note for plan in plans])


def _owner(plans: Sequence[Plan]) -> tuple[object, ...]:
    return plans[0].place.tenant_id, plans[0].place.job_id


def _job(birth: Birth) -> tuple[object, ...]:
    return birth.job_version, birth.priority, birth.slot_ms, birth.queue


def _order(plan: Moving | Replacing | Cancelling) -> tuple[int, object]:
    return plan.place.shard, plan.found.id

"""Many tasks of one type, read and changed together: one statement a kind of change, with the guards of a single one.

All rows of a call belong to one type: what its job says is said once. A key that is missing from what comes back was
not written; it is read and decided again. Live rows are locked in the order in which settling locks them.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from horae.domain.instances import Instance
from horae.domain.tasks import Intent, Known
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


async def find(tx: Tx, places: Sequence[Place]) -> dict[str, Known]:
    """What is known of each key that was ever used, as one statement sees them all."""
    shards, keys = [place.shard for place in places], [place.key for place in places]
    rows = await tx.rows(sql("task_batches/find"), places[0].job_id, shards, keys)
    return {row["asked"]: known_from(row) for row in rows}


async def create(tx: Tx, plans: Sequence[Starting]) -> dict[str, Written]:
    """Insert ledger and live row of keys never used. Raises `COLLIDED` when one of them was used meanwhile."""
    rows = (
        (place.shard, place.key, birth.id, birth.idem_key, intent.at, _payload(intent), intent.version, note)
        for place, _, birth, intent, note in plans
    )
    return await _write(tx, sql("task_batches/create"), rows, *_owner(plans), *_job(plans[0].birth))


async def renew(tx: Tx, plans: Sequence[Starting]) -> dict[str, Written]:
    """Start keys anew whose last instance has ended: raise the ledger's generation and insert a live row."""
    rows = (
        (place.shard, place.key, after, birth.id, birth.idem_key, intent.at, _payload(intent), intent.version, note)
        for place, after, birth, intent, note in plans
    )
    return await _write(tx, sql("task_batches/renew"), rows, *_owner(plans), *_job(plans[0].birth))


async def move(tx: Tx, plans: Sequence[Moving]) -> dict[str, Written]:
    """Give waiting rows new times."""
    rows = (
        (place.shard, place.key, found.id, intent.at, _keeps(intent), _payload(intent), intent.version, note)
        for place, found, intent, note in sorted(plans, key=_order)
    )
    return await _write(tx, sql("task_batches/move"), rows, *_owner(plans))


async def replace(tx: Tx, plans: Sequence[Replacing]) -> dict[str, Written]:
    """End running rows as CANCELLED and insert others under the same keys."""
    rows = (
        (place.shard, place.key, found.id, birth.id, intent.at, _keeps(intent), _payload(intent), intent.version, note)
        for place, found, birth, intent, note in sorted(plans, key=_order)
    )
    return await _write(tx, sql("task_batches/replace"), rows, *_owner(plans), *_job(plans[0].birth))


async def cancel(tx: Tx, plans: Sequence[Cancelling]) -> dict[str, Written]:
    """End live rows, running or not."""
    rows = (
        (place.shard, place.key, found.id, found.state, found.attempt, version, note)
        for place, found, version, note in sorted(plans, key=_order)
    )
    return await _write(tx, sql("task_batches/cancel"), rows, *_owner(plans))


async def ignore(tx: Tx, plans: Sequence[Ignoring]) -> dict[str, Written]:
    """Remember that intents changed nothing."""
    rows = ((place.shard, place.key, revision, note) for place, revision, note in plans)
    return await _write(tx, sql("task_batches/ignore"), rows, *_owner(plans))


async def _write(tx: Tx, statement: str, rows: Iterable[tuple[Any, ...]], *shared: object) -> dict[str, Written]:
    columns = zip(*rows, strict=True)
    return {
        row["business_key"]: Written(row["instance_id"], row["revision"])
        for row in await tx.rows(statement, *columns, *shared, tx.now)
    }


def _owner(plans: Sequence[Starting | Moving | Replacing | Cancelling | Ignoring]) -> tuple[object, ...]:
    return plans[0].place.tenant_id, plans[0].place.job_id


def _job(birth: Birth) -> tuple[object, ...]:
    return birth.job_version, birth.priority, birth.slot_ms, birth.queue


def _order(plan: Moving | Replacing | Cancelling) -> tuple[int, object]:
    return plan.place.shard, plan.found.id


def _keeps(intent: Intent) -> bool:
    return intent.payload is msgspec.UNSET


def _payload(intent: Intent) -> Any:
    return None if intent.payload is msgspec.UNSET else intent.payload

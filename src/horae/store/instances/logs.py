"""Log lines of attempts, in batches. They are written beside the instances and never read by the engine."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from horae.domain.encryption.encrypted_values import read
from horae.domain.ids import creation_time, shard_in
from horae.domain.instances.instances import Instance
from horae.domain.instances.logs import MAX_ATTEMPT_LOG_BYTES, LogMark
from horae.store.statements import sql
from horae.store.tx import Tx

CLOCK_ROOM: Final = timedelta(hours=1)
"""How far the clocks of cells and processes may differ."""


class LogRow(NamedTuple):
    """A batch of an attempt, encrypted. `first` None: it follows the last stored one."""

    ran: Instance
    since: datetime
    first: int | None
    lines: int
    size: int
    body: Any


class AppendedBatch(NamedTuple):
    """What became of a batch. `is_known`: it was stored before."""

    is_stored: bool
    is_known: bool


class StoredBatch(NamedTuple):
    """A batch as it is stored: its attempt, the number of its first line, and its encrypted lines."""

    attempt: int
    first: int
    body: Any


async def append(tx: Tx, rows: Sequence[LogRow]) -> dict[UUID, AppendedBatch]:
    """Store batches of attempts that their workers still own, at most one of each instance.

    The oldest batches of an attempt are dropped where it has more bytes than it may have.
    """
    columns = zip(
        *(
            (ran.shard, ran.id, ran.attempt, ran.token, since, first, lines, size, ran.tenant_id, body)
            for ran, since, first, lines, size, body in rows
        ),
        strict=True,
    )
    found = await tx.rows(sql("instances/logs/append"), *columns, MAX_ATTEMPT_LOG_BYTES, tx.now)
    return {row["instance_id"]: AppendedBatch(row["is_stored"], row["is_known"]) for row in found}


async def page(tx: Tx, tenant_id: UUID, instance_id: UUID, after: LogMark, limit: int) -> list[StoredBatch]:
    """The batches of an instance in this cell that have lines after a mark, in order."""
    args = (tenant_id, shard_in(instance_id), instance_id, *after, creation_time(instance_id) - CLOCK_ROOM)
    rows = await tx.rows(sql("instances/logs/page"), *args, tx.now + CLOCK_ROOM, limit)
    return [StoredBatch(row["attempt"], row["first_line"], read(row["body"])) for row in rows]


async def add_usage(tx: Tx, tenant_id: UUID, day: date, many: int) -> int:
    """Count bytes that a tenant logged; returns its bytes of the day in this cell."""
    used = await tx.value(sql("instances/logs/add_usage"), tenant_id, day, many)
    assert isinstance(used, int)
    return used

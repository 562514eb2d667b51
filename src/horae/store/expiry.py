"""Instances that are due and wait, page after page, and the end of those that waited too long."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.expiry import WaitingInstance
from horae.domain.lifecycle import State
from horae.domain.outcomes import Ended
from horae.domain.placement import Run
from horae.store.looks import BEGINNING, Mark
from horae.store.statements import sql
from horae.store.tx import Tx

QUEUED_COLUMNS = 4
"""Columns of a row that say which class of which queue it is of."""


class BlockedMark(NamedTuple):
    """Everything that waits behind another fire of its job has been read up to here."""

    shard: int = -1
    job_id: UUID = UUID(int=0)
    id: UUID = UUID(int=0)


class QueueClass(NamedTuple):
    """One class of one queue."""

    tenant_id: UUID = UUID(int=0)
    queue: str = ""
    priority: int = 0
    lane: int = 0


class QueueMark(NamedTuple):
    """What waits for workers has been read up to here."""

    class_: QueueClass = QueueClass()
    due_at: datetime = BEGINNING
    id: UUID = UUID(int=0)


class Expiration(NamedTuple):
    """One waiting instance, and how it ends."""

    waiting: WaitingInstance
    ended: Ended


async def overdue(tx: Tx, run: Run, marks: Sequence[Mark], limit: int) -> list[WaitingInstance]:
    """A page of each class of what we push ourselves and what is due, behind the marks."""
    rows = await tx.rows(sql("expiry/overdue"), *run, *zip(*marks, strict=True), tx.now, limit)
    return [_waiting(row) for row in rows]


async def blocked(tx: Tx, run: Run, mark: BlockedMark, limit: int) -> list[WaitingInstance]:
    """A page of what waits behind another fire of its job."""
    return [_waiting(row) for row in await tx.rows(sql("expiry/blocked"), *run, *mark, limit)]


async def queued(
    tx: Tx, run: Run, mark: QueueMark, classes: int, limit: int
) -> list[tuple[QueueClass, WaitingInstance | None]]:
    """A page of each of some classes of queues, of what is due and waits for workers; None: nothing of it is due."""
    rows = await tx.rows(sql("expiry/queued"), *run, *mark.class_, mark.due_at, mark.id, tx.now, classes, limit)
    return [(QueueClass(*row[:QUEUED_COLUMNS]), _waiting(row, QUEUED_COLUMNS) if row["id"] else None) for row in rows]


async def end(tx: Tx, expirations: Sequence[Expiration]) -> set[UUID]:
    """Live rows become history, ledger and dead letter; returns the ids of those that still waited."""
    columns = zip(*map(_columns, sorted(expirations, key=_place)), strict=True)
    return {row["id"] for row in await tx.rows(sql("expiry/end"), *columns, tx.now)}


def _place(row: Expiration) -> tuple[int, UUID]:
    return row.waiting.shard, row.waiting.id


def _columns(row: Expiration) -> Iterable[Any]:
    waiting, ended = row
    return (
        waiting.shard, waiting.id, waiting.fire_time, waiting.due_at,
        ended.state, ended.reason, ended.error_code, ended.error_msg, ended.tag,
    )  # fmt: skip


def _waiting(row: asyncpg.Record, first: int = 0) -> WaitingInstance:
    found = WaitingInstance(*row[first:])
    return found._replace(state=State(found.state))

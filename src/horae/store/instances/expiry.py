"""Pages of instances that are due and wait, and the end of those that have waited too long."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.instances.expiry import WaitingInstance
from horae.domain.instances.lifecycle import State
from horae.domain.instances.outcomes import InstanceEnd
from horae.domain.placement import Run
from horae.store.nodes.scans import BEGINNING, ScanMark
from horae.store.statements import sql
from horae.store.tx import Tx

QUEUED_COLUMNS = 4
"""The leading columns of a row that name its queue and class."""


class BlockedMark(NamedTuple):
    """The position up to which blocked instances, which wait for another fire of their job, have been read."""

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
    """The position up to which instances that wait for workers have been read."""

    class_: QueueClass = QueueClass()
    due_at: datetime = BEGINNING
    id: UUID = UUID(int=0)


class Expiration(NamedTuple):
    """One waiting instance, and how it ends."""

    waiting: WaitingInstance
    ended: InstanceEnd


async def overdue(tx: Tx, run: Run, marks: Sequence[ScanMark], limit: int) -> list[WaitingInstance]:
    """A page of each class of due instances that nodes push, after the marks."""
    rows = await tx.rows(sql("instances/expiry/overdue"), *run, *zip(*marks, strict=True), tx.now, limit)
    return [_waiting(row) for row in rows]


async def blocked(tx: Tx, run: Run, mark: BlockedMark, limit: int) -> list[WaitingInstance]:
    """A page of instances that wait for another fire of their job."""
    return [_waiting(row) for row in await tx.rows(sql("instances/expiry/blocked"), *run, *mark, limit)]


async def queued(
    tx: Tx, run: Run, mark: QueueMark, classes: int, limit: int
) -> list[tuple[QueueClass, WaitingInstance | None]]:
    """A page of due instances for each of some queue classes; None: nothing of that class is due."""
    rows = await tx.rows(
        sql("instances/expiry/queued"), *run, *mark.class_, mark.due_at, mark.id, tx.now, classes, limit
    )
    return [(QueueClass(*row[:QUEUED_COLUMNS]), _waiting(row, QUEUED_COLUMNS) if row["id"] else None) for row in rows]


async def end(tx: Tx, expirations: Sequence[Expiration]) -> set[UUID]:
    """Move live rows to history, ledger and dead letters; returns the ids of the instances that were still waiting."""
    columns = zip(*map(_columns, sorted(expirations, key=_place)), strict=True)
    return {row["id"] for row in await tx.rows(sql("instances/expiry/end"), *columns, tx.now)}


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

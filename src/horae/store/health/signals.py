"""Signals: counts of the processes, written once a minute, and the backlog, counted by one node of the cell."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import asyncpg
import msgspec

from horae.domain.health.delay_causes import NodeStrain
from horae.domain.health.signals import BUCKETS, Class, Signal
from horae.domain.measures.causes import MeasureSignal
from horae.store.health.counters import FIRST_BUCKET, FIRST_SHIFT
from horae.store.statements import sql
from horae.store.tx import Tx

Minutes = list[tuple[datetime, Signal]]
COUNTED: Final = 300_000
"""The backlog of a class is counted up to this number; a higher count would not help."""


class BacklogCount(NamedTuple):
    """How many instances wait for a retry, and how many are due and not claimed yet."""

    retry_backlog: int
    backlog: int


class JudgedSignal(NamedTuple):
    """The signals of a tenant that measures judge; `load` is that of the nodes, which belongs to no tenant."""

    signal: MeasureSignal
    load: float | None


async def write(tx: Tx, minute: datetime, writer: UUID, counts: Mapping[Class, Sequence[int]]) -> None:
    """Write the counts of a minute, in an order that all writers share."""
    rows = sorted(counts.items())
    keys = zip(*((key.tenant_id, key.priority, key.lane) for key, _ in rows), strict=True)
    endings = zip(*(row[:FIRST_BUCKET] for _, row in rows), strict=True)
    delays = [",".join(map(str, row[FIRST_BUCKET:FIRST_SHIFT])) for _, row in rows]
    shifts = [",".join(map(str, row[FIRST_SHIFT:])) if any(row[FIRST_SHIFT:]) else "" for _, row in rows]
    await tx.run(sql("health/signals/write"), minute, writer, *keys, *endings, delays, shifts)


async def gauge(tx: Tx, minute: datetime, writer: UUID) -> None:
    """Count the backlog of this cell, if this node is the one that counts."""
    await tx.run(sql("health/signals/gauge"), minute, writer, tx.now, COUNTED)


async def write_load(tx: Tx, minute: datetime, writer: UUID, load: float, strain: NodeStrain) -> None:
    """Write which part of its slots a node used in a minute, and what it noticed."""
    await tx.run(sql("health/signals/write_load"), minute, writer, load, msgspec.to_builtins(strain))


async def judged(tx: Tx, minute: datetime, rates_since: datetime) -> dict[UUID, JudgedSignal]:
    """The signals of each tenant in this cell that measures judge."""
    rows = await tx.rows(sql("health/signals/judged"), minute, rates_since)
    return {row["tenant_id"]: _judged(*row) for row in rows}


async def since(tx: Tx, minute: datetime, tenant_id: UUID | None) -> list[tuple[datetime, Signal]]:
    """The counts of this cell since a minute, of one tenant or of all."""
    rows = await tx.rows(sql("health/signals/since"), minute, tenant_id)
    return [(row["minute"], _signal(*row)) for row in rows]


async def minutes(tx: Tx, first: datetime, last: datetime) -> Minutes:
    """The sums of this cell for each minute of a range, with the backlog at that time."""
    return [_minute(row) for row in await tx.rows(sql("health/signals/minutes"), first, last)]


async def minutes_of(tx: Tx, first: datetime, last: datetime, tenant_id: UUID) -> Minutes:
    """Like `minutes`, for one tenant."""
    return [_minute(row) for row in await tx.rows(sql("health/signals/minutes_of"), first, last, tenant_id)]


async def backlog(tx: Tx, not_before: datetime, tenant_id: UUID | None) -> BacklogCount:
    """The backlog of this cell when it was last counted."""
    row = await tx.row(sql("health/signals/backlog"), not_before, tenant_id)
    assert row is not None
    return BacklogCount(*row)


async def forget(tx: Tx, before: datetime, limit: int) -> int:
    """Delete old signals, at most `limit`; returns how many."""
    return len(await tx.rows(sql("health/signals/forget"), before, limit))


def _minute(row: asyncpg.Record) -> tuple[datetime, Signal]:
    return row["minute"], Signal(**{name: row[name] for name in Signal.__struct_fields__})


def _signal(_minute: datetime, success: int, failed: int, dead: int, skipped: int, delays: Sequence[int]) -> Signal:
    delays = delays if len(delays) == BUCKETS else (0,) * BUCKETS
    return Signal(success=success, failed=failed, dead=dead, skipped=skipped, delays=delays)


def _judged(_tenant_id: UUID, delays: Sequence[int] | None, *rest: Any) -> JudgedSignal:
    *counts, load = rest
    known = delays if delays is not None and len(delays) == BUCKETS else (0,) * BUCKETS
    return JudgedSignal(MeasureSignal(tuple(known), *counts), load)

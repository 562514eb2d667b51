"""Signals: what processes counted, written once a minute; what waits, counted by one node of the cell."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from horae.domain.signals import BUCKETS, Class, Signal
from horae.store.statements import sql
from horae.store.tally import FIRST_BUCKET
from horae.store.tx import Tx

Minutes = list[tuple[datetime, Signal]]
COUNTED: Final = 300_000
"""How many of a class are counted: more would say no more."""


class Waiting(NamedTuple):
    """What waits for a retry, and what is due and was not taken yet."""

    retry_backlog: int
    backlog: int


async def write(tx: Tx, minute: datetime, writer: UUID, counts: Mapping[Class, Sequence[int]]) -> None:
    """Write what was counted in a minute, in an order that two writers share."""
    rows = sorted(counts.items())
    keys = zip(*((key.tenant_id, key.priority, key.lane) for key, _ in rows), strict=True)
    endings = zip(*(row[:FIRST_BUCKET] for _, row in rows), strict=True)
    delays = [",".join(map(str, row[FIRST_BUCKET:])) for _, row in rows]
    await tx.run(sql("signals/write"), minute, writer, *keys, *endings, delays)


async def gauge(tx: Tx, minute: datetime, writer: UUID) -> None:
    """Count what waits in this cell, if it is this node's turn."""
    await tx.run(sql("signals/gauge"), minute, writer, tx.now, COUNTED)


async def since(tx: Tx, minute: datetime, tenant_id: UUID | None) -> list[tuple[datetime, Signal]]:
    """What was counted in this cell since a minute, of all or of one tenant."""
    rows = await tx.rows(sql("signals/since"), minute, tenant_id)
    return [(row["minute"], _signal(*row)) for row in rows]


async def minutes(tx: Tx, first: datetime, last: datetime) -> Minutes:
    """What was counted in this cell in each of some minutes, added up, with what waited then."""
    return [_minute(row) for row in await tx.rows(sql("signals/minutes"), first, last)]


async def minutes_of(tx: Tx, first: datetime, last: datetime, tenant_id: UUID) -> Minutes:
    """The same of one tenant."""
    return [_minute(row) for row in await tx.rows(sql("signals/minutes_of"), first, last, tenant_id)]


async def waiting(tx: Tx, not_before: datetime, tenant_id: UUID | None) -> Waiting:
    """What waited in this cell when it was last counted."""
    row = await tx.row(sql("signals/waiting"), not_before, tenant_id)
    assert row is not None
    return Waiting(*row)


async def forget(tx: Tx, before: datetime, limit: int) -> int:
    """Remove old ones, at most so many; returns how many there were."""
    return len(await tx.rows(sql("signals/forget"), before, limit))


def _minute(row: asyncpg.Record) -> tuple[datetime, Signal]:
    return row["minute"], Signal(**{name: row[name] for name in Signal.__struct_fields__})


def _signal(_minute: datetime, success: int, failed: int, dead: int, skipped: int, delays: Sequence[int]) -> Signal:
    delays = delays if len(delays) == BUCKETS else (0,) * BUCKETS
    return Signal(success=success, failed=failed, dead=dead, skipped=skipped, delays=delays)

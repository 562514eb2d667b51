"""The next thing a cell will do by itself: for a clock that is moved from event to event, and for idle nodes."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from horae.domain.placement import Run
from horae.store.statements import sql
from horae.store.tx import Tx


async def first(tx: Tx, after: datetime) -> datetime | None:
    """The first fire, retry or deadline after a time; None when there is none."""
    value = await tx.value(sql("nodes/next_due/first"), after)
    return value if isinstance(value, datetime) else None


async def next_due(tx: Tx, runs: Sequence[Run], without: Sequence[UUID], limit: int) -> datetime | None:
    """A time before which nothing is due in these runs of shards; None when nothing waits. It may be in the past."""
    firsts, lasts = [run.first for run in runs], [run.last for run in runs]
    value = await tx.value(sql("nodes/next_due/next_due"), firsts, lasts, without, limit)
    return value if isinstance(value, datetime) else None

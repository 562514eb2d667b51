"""The next thing a cell will do by itself: for a clock that is moved from event to event, and for idle nodes."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from horae.domain.placement import Run
from horae.store.statements import sql
from horae.store.tx import Tx


class NextEvent(NamedTuple):
    """The next fire, retry or deadline of a cell. `quiet`: nothing is due or in work now that could come before it."""

    at: datetime | None
    quiet: bool


async def next_event(tx: Tx, after: datetime) -> NextEvent:
    """The first event after a time. It is quiet if no backfill, no rolling job and no held tenant can interfere."""
    row = await tx.row(sql("nodes/next_due/next_event"), after)
    assert row is not None
    return NextEvent(row["at"], row["quiet"])


async def next_due(tx: Tx, runs: Sequence[Run], without: Sequence[UUID], limit: int) -> datetime | None:
    """A time before which nothing is due in these runs of shards; None when nothing waits. It may be in the past."""
    firsts, lasts = [run.first for run in runs], [run.last for run in runs]
    value = await tx.value(sql("nodes/next_due/next_due"), firsts, lasts, without, limit)
    return value if isinstance(value, datetime) else None

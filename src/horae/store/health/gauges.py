"""What waits in a cell and what lags behind, for metrics."""

from datetime import timedelta
from typing import Final, NamedTuple

from horae.store.databases import partitions
from horae.store.health import signals
from horae.store.statements import sql
from horae.store.tx import Tx

MAX_COUNTED_DEAD_LETTERS: Final = 100_000
"""Dead letters are counted up to this number."""
BACKLOG_AGE: Final = timedelta(minutes=3)
"""How old a count of the backlog may be."""


class CellGauges(NamedTuple):
    """The state of one cell.

    - `backlog`, `retry_backlog`: instances that are due and not claimed, and that wait for a retry.
    - `dead_letters`: dead letters that nobody has replayed or discarded.
    - `days_ahead`, `days_kept`: days of partitions ahead, and days since the oldest one.
    - `feed_lag_s`: seconds by which the subscription that is furthest behind lags; None without subscriptions.
    """

    backlog: int
    retry_backlog: int
    dead_letters: int
    days_kept: int
    feed_lag_s: float | None
    days_ahead: int


async def read(tx: Tx) -> CellGauges:
    """Read the state of this cell."""
    row = await tx.row(sql("health/gauges/read"), tx.now, MAX_COUNTED_DEAD_LETTERS)
    assert row is not None
    waiting = await signals.backlog(tx, tx.now - BACKLOG_AGE, None)
    return CellGauges(days_ahead=await partitions.days_ahead(tx), **waiting._asdict(), **row)

"""What waits in a cell and what lags behind, for metrics."""

from datetime import timedelta
from typing import Any, Final, NamedTuple

from horae.store.databases import partitions
from horae.store.health import growth, signals
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
    - `days_behind`: days of history that are over their term and still there.
    - `archive_lag_s`: seconds since the end of the oldest day that is not archived.
    - `feed_lag_s`: seconds by which the subscription that is furthest behind lags; None without subscriptions.
    - `relay_lag_s`: seconds since the oldest compensation was requested that was not relayed; None if nobody looked.
    - `intake_waiting`: messages that wait in the topics of intakes, as far as their brokers say; None without intakes.
    - `source_drift`: tasks that the last rounds of all sources found to differ.
    - `audit_findings`: open findings of the audit of fires.
    - `audit_lag_s`: seconds by which the audit of fires is behind; None before its first round.
    - `wal_archive_lag_s`: seconds since a WAL file was last archived; None where the server archives none.
    - `database_bytes`, `disk_bytes`: the size of the database at its last measurement, and the space that it has.
    - `sessions`: sessions of the database by state.
    """

    backlog: int
    retry_backlog: int
    dead_letters: int
    days_kept: int
    days_behind: int
    archive_lag_s: float
    feed_lag_s: float | None
    intake_waiting: float | None
    source_drift: int
    audit_findings: int
    audit_lag_s: float | None
    wal_archive_lag_s: float | None
    days_ahead: int
    relay_lag_s: float | None
    database_bytes: int | None
    disk_bytes: int | None
    sessions: dict[str, int]


async def read(tx: Tx, kept: timedelta, relayed_from: int) -> CellGauges:
    """Read the state of this cell.

    `kept`: how long days of history are kept. `relayed_from`: the transaction from which on requests for tasks may
    still have to be relayed; 0 where this process does not know it.
    """
    row = await tx.row(sql("health/gauges/read"), tx.now, MAX_COUNTED_DEAD_LETTERS, kept)
    assert row is not None
    waiting = await signals.backlog(tx, tx.now - BACKLOG_AGE, None)
    measured = await growth.read(tx)
    return CellGauges(
        days_ahead=await partitions.days_ahead(tx),
        relay_lag_s=await relay_lag_s(tx, relayed_from) if relayed_from else None,
        database_bytes=measured.database_bytes if measured else None,
        disk_bytes=measured.disk_bytes if measured else None,
        sessions=await sessions(tx),
        **waiting._asdict(),
        **row,
    )


async def relay_lag_s(tx: Tx, relayed_from: int) -> float:
    """Seconds since the oldest compensation was requested that was not relayed; 0 if all were."""
    found: Any = await tx.value(sql("health/gauges/relay_lag_s"), tx.now, relayed_from)
    return float(found or 0)


async def sessions(tx: Tx) -> dict[str, int]:
    """How many sessions of the database are in which state."""
    return {row["state"]: row["many"] for row in await tx.rows(sql("health/gauges/sessions"))}

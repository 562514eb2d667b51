"""The pulse of a cell: one statement that says for many duties whether they may have something to do."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from horae.store.statements import sql
from horae.store.tx import Tx


class Sign(StrEnum):
    """A duty's sign in a pulse; the value is the column."""

    RUNNING = "running"
    HELD_TENANTS = "held_tenants"
    BACKFILLS = "backfills"
    ROLLING_SETS = "rolling_sets"
    GRAPHS = "graphs"
    SECRETS = "secrets"
    COPIES = "copies"
    SUBSCRIPTIONS = "subscriptions"
    EDGES = "edges"
    INTAKES = "intakes"
    ALERTS = "alerts"
    SOURCES = "sources"
    COMPENSATIONS = "compensations"
    UNCHAINED = "unchained"
    MEASURES = "measures"
    INCIDENTS = "incidents"
    UNSORTED_DEAD_LETTERS = "unsorted_letters"
    PACED_REPLAYS = "paced_replays"
    ROWS_WRITTEN = "rows_written"


Reading = Mapping[Sign, bool | int | str | None]


async def read(tx: Tx, changed_since: datetime, relayed_from: int) -> Reading:
    """Read every sign. Changes count from a time on, requested compensations from a transaction on."""
    row = await tx.row(sql("nodes/pulses/read"), tx.now, changed_since, relayed_from)
    assert row is not None
    return {sign: row[sign] for sign in Sign}

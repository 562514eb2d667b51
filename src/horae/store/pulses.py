"""The pulse of a cell: one statement that says for many duties at once whether they may have something to do."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from horae.store.statements import sql
from horae.store.tx import Tx


class Sign(StrEnum):
    """What a pulse tells of; the value is the column."""

    RUNNING = "running"
    HELD_TENANTS = "held_tenants"
    BACKFILLS = "backfills"
    ROLLING_SETS = "rolling_sets"
    SECRETS = "secrets"
    COPIES = "copies"
    SUBSCRIPTIONS = "subscriptions"
    INTAKES = "intakes"
    SOURCES = "sources"
    COMPENSATIONS = "compensations"
    UNSEALED = "unsealed"
    ROWS_WRITTEN = "rows_written"


Reading = Mapping[Sign, bool | int | str | None]


async def read(tx: Tx, changed_since: datetime, relayed_from: int) -> Reading:
    """Every sign as it is now. Changes count from a time on, wishes for tasks from a transaction on."""
    row = await tx.row(sql("pulses/read"), tx.now, changed_since, relayed_from)
    assert row is not None
    return {sign: row[sign] for sign in Sign}

"""Daily partitions of history and outbox, made ahead of time."""

from datetime import date, timedelta
from typing import Final

from horae.store.statements import sql
from horae.store.tx import Tx

DAYS_AHEAD: Final = 8


async def ensure(tx: Tx, first: date, days: int) -> int:
    """Make the partitions of `days` days from `first` on where they are missing; returns how many were."""
    count = await tx.value(sql("partitions/ensure"), first, days)
    assert isinstance(count, int)
    return count


async def stock(tx: Tx) -> int:
    """Make what is missing from yesterday to a week ahead; returns how many were."""
    return await ensure(tx, (tx.now - timedelta(days=1)).date(), DAYS_AHEAD + 1)


async def days_ahead(tx: Tx) -> int:
    """For how many days from today on there is a place to write."""
    count = await tx.value(sql("partitions/days_ahead"), tx.now)
    assert isinstance(count, int)
    return count

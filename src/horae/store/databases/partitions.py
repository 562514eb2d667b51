"""Daily partitions of history, outbox, results and logs, created ahead of time."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import date, timedelta
from typing import Final

from horae.store.statements import sql
from horae.store.tx import LOCKED, Tx

DAYS_AHEAD: Final = 8
TRIES: Final = 20
RETRY_PAUSE_S: Final = 0.5
"""Pause between two tries, so that transactions that waited for the last try can continue."""


async def ensure(tx: Tx, first: date, days: int) -> int:
    """Create the missing partitions of `days` days from `first` on; returns how many.

    Raises LOCKED when another transaction holds a lock for too long; then nothing was created.
    """
    count = await tx.value(sql("databases/partitions/ensure"), first, days)
    assert isinstance(count, int)
    return count


async def stock(statement: Callable[[], AbstractAsyncContextManager[Tx]]) -> int:
    """Create the missing partitions from yesterday to a week ahead; returns how many.

    If it would have to wait for a lock it gives up and tries again with a new `statement()`: inside a transaction, a
    lock timeout has ended that transaction.
    """
    for left in reversed(range(TRIES)):
        try:
            async with statement() as tx:
                return await ensure(tx, (tx.now - timedelta(days=1)).date(), DAYS_AHEAD + 1)
        except LOCKED:
            if not left:
                raise
            await asyncio.sleep(RETRY_PAUSE_S)
    return 0


async def days_ahead(tx: Tx) -> int:
    """The number of days from today on that have a partition."""
    count = await tx.value(sql("databases/partitions/days_ahead"), tx.now)
    assert isinstance(count, int)
    return count

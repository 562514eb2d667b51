"""Daily partitions of history and outbox, made ahead of time."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import date, timedelta
from typing import Final

from horae.store.statements import sql
from horae.store.tx import LOCKED, Tx

DAYS_AHEAD: Final = 8
TRIES: Final = 20
PAUSE_S: Final = 0.5
"""Between two tries, in which those whom a try made wait go on."""


async def ensure(tx: Tx, first: date, days: int) -> int:
    """Make the partitions of `days` days from `first` on where they are missing; returns how many were.

    Raises LOCKED where someone holds a lock for longer than a moment; nothing was made then.
    """
    count = await tx.value(sql("partitions/ensure"), first, days)
    assert isinstance(count, int)
    return count


async def stock(statement: Callable[[], AbstractAsyncContextManager[Tx]]) -> int:
    """Make what is missing from yesterday to a week ahead; returns how many were.

    It gives way where it would have to wait for a lock, and tries again by a new `statement()`: where that is a
    transaction, a lock that was not given has ended it.
    """
    for left in reversed(range(TRIES)):
        try:
            async with statement() as tx:
                return await ensure(tx, (tx.now - timedelta(days=1)).date(), DAYS_AHEAD + 1)
        except LOCKED:
            if not left:
                raise
            await asyncio.sleep(PAUSE_S)
    return 0


async def days_ahead(tx: Tx) -> int:
    """For how many days from today on there is a place to write."""
    count = await tx.value(sql("partitions/days_ahead"), tx.now)
    assert isinstance(count, int)
    return count

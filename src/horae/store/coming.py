"""What a cell will do next by itself: for a clock that is moved from one event to the next."""

from datetime import datetime

from horae.store.statements import sql
from horae.store.tx import Tx


async def first(tx: Tx, after: datetime) -> datetime | None:
    """The first fire, retry or deadline after a time; None when there is none."""
    value = await tx.value(sql("coming/first"), after)
    return value if isinstance(value, datetime) else None

"""How far the alert rules have read the history of a cell: everything of transactions below a number."""

from datetime import datetime
from typing import NamedTuple

from horae.store.statements import sql
from horae.store.tx import Tx


class ReadPosition(NamedTuple):
    """The first transaction that was not read, and when everything up to the horizon was read last."""

    xid: int
    moved_at: datetime


async def read(tx: Tx) -> ReadPosition | None:
    """The position of this cell; None before the first round."""
    row = await tx.row(sql("alerts/positions/read"))
    return None if row is None else ReadPosition(*row)


async def move(tx: Tx, from_xid: int, xid: int, moved_at: datetime) -> bool:
    """Move the position, or write the first one; False when another node has moved it since it was read."""
    return await tx.value(sql("alerts/positions/move"), from_xid, xid, moved_at) is not None


async def forget(tx: Tx) -> None:
    """Delete the position: the next round begins with what happens then."""
    await tx.run(sql("alerts/positions/forget"))

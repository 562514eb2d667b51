"""The cell's clock, and the offset that tests and `horae dev` may put on it."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from horae.domain.errors import Conflict
from horae.store.statements import sql
from horae.store.tx import Tx

if TYPE_CHECKING:
    from horae.store.tx import Connection


async def read(connection: "Connection") -> tuple[datetime, timedelta]:
    """The database's own time and the offset in force."""
    row = await connection.fetchrow(sql("clock/read"))
    assert row is not None
    return row["reading"], timedelta(milliseconds=row["offset_ms"])


async def move(tx: Tx, by: timedelta) -> None:
    """Move time for every process at once; refused in production."""
    if await tx.value(sql("clock/move"), by // timedelta(milliseconds=1)) is None:
        raise Conflict("the clock of a production cell cannot be moved")

"""The clock of a cell: its time, the offset for tests and `horae dev`, doubts, and confirmations by a person."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from asyncpg import Record

from horae.domain.errors import Conflict
from horae.runtime.clock import Clock
from horae.store.statements import sql
from horae.store.tx import Tx

if TYPE_CHECKING:
    from horae.store.connections.deadlines import Connection

MILLISECOND: Final = timedelta(milliseconds=1)


class ClockReading(NamedTuple):
    """A reading of a cell's clock: time, offset in force, number of confirmations by a person, and a recorded doubt."""

    reading: datetime
    offset: timedelta
    vouches: int
    doubt: timedelta | None

    def apply_to(self, clock: Clock, sent: float) -> timedelta:
        """Set `clock` to this reading, requested at tick `sent`; returns how far the database's clock jumped."""
        return clock.set(self.reading, sent, self.offset, self.vouches, self.doubt)


async def read(connection: "Connection") -> ClockReading:
    """Read the database's time, offset, confirmations and doubt."""
    row = await connection.fetchrow(sql("databases/clock/read"))
    assert row is not None
    return reading_of(row)


def reading_of(row: Record) -> ClockReading:
    """Convert the clock columns of a row, for any statement that returns them."""
    doubt = row["doubt_ms"]
    return ClockReading(
        row["reading"],
        row["offset_ms"] * MILLISECOND,
        row["vouches"],
        None if doubt is None else doubt * MILLISECOND,
    )


async def move(tx: Tx, by: timedelta) -> None:
    """Move the time of the cell for all processes at once. Refused in production."""
    if await tx.value(sql("databases/clock/move"), by // MILLISECOND) is None:
        raise Conflict("the clock of a production cell cannot be moved")


async def doubt(tx: Tx, ahead: timedelta | None) -> None:
    """Record that the clock jumped ahead by that much, for processes that start later; None removes the record."""
    await tx.run(sql("databases/clock/doubt"), None if ahead is None else ahead // MILLISECOND)


async def vouch(tx: Tx) -> None:
    """Record that a person confirmed the clock. Nodes that a jump stopped continue at their next heartbeat."""
    await tx.run(sql("databases/clock/vouch"))

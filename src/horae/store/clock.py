"""The cell's clock, the offset that tests and `horae dev` may put on it, who doubts it and who vouched for it."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from asyncpg import Record

from horae.domain.errors import Conflict
from horae.runtime.clock import Clock
from horae.store.statements import sql
from horae.store.tx import Tx

if TYPE_CHECKING:
    from horae.store.answers import Connection

MILLISECOND: Final = timedelta(milliseconds=1)


class Told(NamedTuple):
    """What a cell says of its clock: its time, the offset in force, how often a person vouched for it, and doubts."""

    reading: datetime
    offset: timedelta
    vouches: int
    doubt: timedelta | None

    def set(self, clock: Clock, sent: float) -> timedelta:
        """Carry a reading that was asked for at tick `sent` on; returns how far the database jumped."""
        return clock.set(self.reading, sent, self.offset, self.vouches, self.doubt)


async def read(connection: "Connection") -> Told:
    """The database's own time, with what is to be known about it."""
    row = await connection.fetchrow(sql("clock/read"))
    assert row is not None
    return told(row)


def told(row: Record) -> Told:
    """The clock's columns of any statement that returns them."""
    doubt = row["doubt_ms"]
    return Told(
        row["reading"],
        row["offset_ms"] * MILLISECOND,
        row["vouches"],
        None if doubt is None else doubt * MILLISECOND,
    )


async def move(tx: Tx, by: timedelta) -> None:
    """Move time for every process at once; refused in production."""
    if await tx.value(sql("clock/move"), by // MILLISECOND) is None:
        raise Conflict("the clock of a production cell cannot be moved")


async def doubt(tx: Tx, ahead: timedelta | None) -> None:
    """Leave word that the clock jumped ahead by so much, or take it back: for those who start later."""
    await tx.run(sql("clock/doubt"), None if ahead is None else ahead // MILLISECOND)


async def vouch(tx: Tx) -> None:
    """A person has looked at the cell's clock: every node that stopped over a jump goes on at its next heartbeat."""
    await tx.run(sql("clock/vouch"))

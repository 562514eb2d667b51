"""A transaction in one cell, with the time it began by that cell's clock.

Store functions take a `Tx`, run one statement each and never commit. The first writing statement of every
transaction carries the fence: it finds zero rows when a shard it names is not open in this cell.
"""

from datetime import datetime
from typing import TYPE_CHECKING, Any

import asyncpg

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Connection = asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]

BAD_ROW: tuple[type[Exception], ...] = (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError)
"""What PostgreSQL says when one row of a batch is at fault."""

TRY_AGAIN: tuple[type[Exception], ...] = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
"""Expected answers under contention: nothing was written, and the same again may pass."""

CUT: tuple[type[Exception], ...] = (asyncpg.QueryCanceledError,)
"""The statement took longer than it may: nothing was written, and later the same may pass."""

GONE: tuple[type[Exception], ...] = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # a backend that was ended while its connection lay idle
    asyncpg.AdminShutdownError,
    asyncpg.CannotConnectNowError,
    ConnectionError,
    TimeoutError,
)
"""The connection was lost. Whether a commit in flight took effect is unknown: read again by key before deciding."""


class Tx:
    """One transaction. `now` is the cell's time when it began; statements take it as a parameter."""

    __slots__ = ("_connection", "now")

    def __init__(self, connection: "Connection", now: datetime) -> None:
        self._connection = connection
        self.now = now

    async def rows(self, statement: str, *args: object) -> list[asyncpg.Record]:
        """All rows a statement returns."""
        return await self._connection.fetch(statement, *args)

    async def row(self, statement: str, *args: object) -> asyncpg.Record | None:
        """The one row a statement returns, or none."""
        return await self._connection.fetchrow(statement, *args)

    async def value(self, statement: str, *args: object) -> Any:
        """The first column of the one row a statement returns, or None."""
        return await self._connection.fetchval(statement, *args)

    async def run(self, statement: str, *args: object) -> None:
        """Run a statement whose rows nobody needs."""
        await self._connection.execute(statement, *args)

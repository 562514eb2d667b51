"""A transaction in one cell, with the time it began by that cell's clock.

Store functions take a `Tx`, run one statement each and never commit. The first writing statement of every
transaction carries the fence: it finds zero rows when a shard it names is not open in this cell.

Rows are locked in one order, several of a kind by shard and id: the cursor of a job, the job, its instances. The last
fire of a job completes the job; whoever changes a job seizes its cursor first.
"""

from collections.abc import Awaitable
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import asyncpg

from horae.store.answers import answered, is_lost
from horae.store.reach import Reach

if TYPE_CHECKING:
    from horae.store.answers import Connection

Result = TypeVar("Result")

BAD_ROW: tuple[type[Exception], ...] = (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError)
"""What PostgreSQL says when one row of a batch is at fault."""

COLLIDED: tuple[type[Exception], ...] = (asyncpg.UniqueViolationError,)
"""Someone else inserted the same row first: nothing was written, and a new read finds theirs."""

TRY_AGAIN: tuple[type[Exception], ...] = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
"""Expected answers under contention: nothing was written, and the same again may pass."""

CUT: tuple[type[Exception], ...] = (asyncpg.QueryCanceledError,)
"""The statement took longer than it may: nothing was written, and later the same may pass."""

LOCKED: tuple[type[Exception], ...] = (asyncpg.LockNotAvailableError,)
"""Someone else held a lock for longer than this statement waits: nothing was written."""

GONE: tuple[type[Exception], ...] = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # a backend that was ended while its connection lay idle
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,  # another backend crashed, and the server ends them all
    asyncpg.DatabaseDroppedError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.ReadOnlySQLTransactionError,  # this was the primary
    OSError,  # refused, reset, no route, no such name, and TimeoutError
)
"""The connection was lost. Whether a commit in flight took effect is unknown: read again by key before deciding."""


UNREACHABLE: tuple[type[Exception], ...] = (
    *GONE,
    asyncpg.InvalidCatalogNameError,
    asyncpg.InvalidAuthorizationSpecificationError,  # and a wrong password
)
"""We never came in: no server, no such database, no such role."""

UNMIGRATED: tuple[type[Exception], ...] = (
    asyncpg.UndefinedTableError,
    asyncpg.UndefinedColumnError,
    asyncpg.UndefinedFunctionError,
)
"""The database is not at the release of this program: its migrations are still to be run."""


NO_ROOM: tuple[type[Exception], ...] = (asyncpg.InsufficientResourcesError, asyncpg.PostgresSystemError)
"""The server has no disk or memory left, or its disk fails: nothing was written, and later the same may pass."""


class Tx:
    """One transaction. `now` is the cell's time when it began; statements take it as a parameter.

    Each statement is answered within `patience` seconds (None: a few), or its connection is discarded. `heard` counts
    those that were. What becomes of them is told to `reach`.
    """

    __slots__ = ("_connection", "_patience", "_reach", "heard", "now")

    def __init__(
        self, connection: "Connection", now: datetime, patience: float | None = None, reach: Reach | None = None
    ) -> None:
        self._connection = connection
        self._patience = patience
        self._reach = reach
        self.now = now
        self.heard = 0

    async def rows(self, statement: str, *args: object) -> list[asyncpg.Record]:
        """All rows a statement returns."""
        return await self._answered(self._connection.fetch(statement, *args))

    async def row(self, statement: str, *args: object) -> asyncpg.Record | None:
        """The one row a statement returns, or none."""
        return await self._answered(self._connection.fetchrow(statement, *args))

    async def value(self, statement: str, *args: object) -> Any:
        """The first column of the one row a statement returns, or None."""
        return await self._answered(self._connection.fetchval(statement, *args))

    async def run(self, statement: str, *args: object) -> None:
        """Run a statement whose rows nobody needs."""
        await self._answered(self._connection.execute(statement, *args))

    async def _answered(self, call: Awaitable[Result]) -> Result:
        reach = self._reach
        try:
            answer = await answered(self._connection, call, self._patience)
        except GONE as error:
            if reach is not None and is_lost(self._connection):
                reach.lose(error)
            raise
        self.heard += 1
        if reach is not None and reach.is_down:
            reach.find()
        return answer

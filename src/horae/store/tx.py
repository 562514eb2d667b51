"""A transaction in one cell, with the time of that cell's clock when it began.

Store functions take a `Tx`, run one statement each and never commit. The first writing statement of every transaction
carries the fence: it finds zero rows when a shard it names is not open in this cell.

All transactions lock rows in one order, and several rows of a kind by shard and id: the cursor of a job, then the job,
then its instances. The last fire of a job completes the job, so a transaction that changes a job locks its cursor
first.
"""

from collections.abc import Awaitable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar

import asyncpg

from horae.store.connections.deadlines import is_lost, wait_for_answer
from horae.store.connections.reachability import Reach

if TYPE_CHECKING:
    from horae.store.connections.deadlines import Connection

Result = TypeVar("Result")

BAD_ROW: tuple[type[Exception], ...] = (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError)
"""Errors that PostgreSQL raises when one row of a batch is invalid."""

COLLIDED: tuple[type[Exception], ...] = (asyncpg.UniqueViolationError,)
"""Another transaction inserted the same row first. Nothing was written; a new read finds the other row."""

TRY_AGAIN: tuple[type[Exception], ...] = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
"""Expected errors under contention. Nothing was written; a repetition may succeed."""

CUT: tuple[type[Exception], ...] = (asyncpg.QueryCanceledError,)
"""The statement exceeded its timeout. Nothing was written; a later repetition may succeed."""

LOCKED: tuple[type[Exception], ...] = (asyncpg.LockNotAvailableError,)
"""Another transaction held a lock for longer than this statement waits. Nothing was written."""

GONE: tuple[type[Exception], ...] = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # a backend that was terminated while its connection was idle
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,  # another backend crashed, and the server terminates all of them
    asyncpg.DatabaseDroppedError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.ReadOnlySQLTransactionError,  # this server was the primary before
    OSError,  # refused, reset, no route, unknown name, and TimeoutError
)
"""The connection was lost. It is unknown whether a running commit took effect: read by key before deciding."""


REFUSED_LOGIN: tuple[type[Exception], ...] = (
    asyncpg.InvalidCatalogNameError,
    asyncpg.InvalidAuthorizationSpecificationError,  # also raised for a wrong password
)
"""The server answers, and lets this role not into this database."""

UNREACHABLE: tuple[type[Exception], ...] = (*GONE, *REFUSED_LOGIN)
"""No connection was possible: no server, no such database, no such role."""

UNMIGRATED: tuple[type[Exception], ...] = (
    asyncpg.UndefinedTableError,
    asyncpg.UndefinedColumnError,
    asyncpg.UndefinedFunctionError,
)
"""The database schema is older than this program: its migrations have to be applied."""


FORBIDDEN: Final = asyncpg.InsufficientPrivilegeError
"""The role of a connection lacks a right."""

NO_ROOM: tuple[type[Exception], ...] = (asyncpg.InsufficientResourcesError, asyncpg.PostgresSystemError)
"""The server has no disk or memory left, or its disk fails. Nothing was written; a later repetition may succeed."""


class Tx:
    """One transaction. `now` is the cell's time when it began; statements take it as a parameter.

    Each statement must be answered within `patience` seconds (None: the default), or its connection is discarded.
    `heard` counts the answered statements. `reach` records whether the cell answers.
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
        return await self._run_in_time(self._connection.fetch(statement, *args))

    async def row(self, statement: str, *args: object) -> asyncpg.Record | None:
        """The one row a statement returns, or None."""
        return await self._run_in_time(self._connection.fetchrow(statement, *args))

    async def value(self, statement: str, *args: object) -> Any:
        """The first column of the one row a statement returns, or None."""
        return await self._run_in_time(self._connection.fetchval(statement, *args))

    async def run(self, statement: str, *args: object) -> None:
        """Run a statement and ignore its rows."""
        await self._run_in_time(self._connection.execute(statement, *args))

    async def _run_in_time(self, call: Awaitable[Result]) -> Result:
        reach = self._reach
        try:
            answer = await wait_for_answer(self._connection, call, self._patience)
        except GONE as error:
            if reach is not None and is_lost(self._connection):
                reach.mark_down(error)
            raise
        self.heard += 1
        if reach is not None and reach.is_down:
            reach.mark_up()
        return answer

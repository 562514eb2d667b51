"""A direct connection outside the pool: for work that must continue while the pool is exhausted.

Every call has a deadline. After a failed or late call the connection is discarded, because a late answer could be taken
for the answer to the next call. TCP keepalive detects a dead peer within seconds, on both ends.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

import asyncpg

from horae.store.connections.admission import CellKey
from horae.store.connections.primary import IdentifiedConnection, connect_to_primary

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Connection = asyncpg.Connection[asyncpg.Record]

Result = TypeVar("Result")
CONNECT_TIMEOUT_S: Final = 3.0
KEEPALIVE_IDLE_S: Final = 5
KEEPALIVE_INTERVAL_S: Final = 2
KEEPALIVE_PROBES: Final = 3
TCP_USER_TIMEOUT_MS: Final = 5000
TCP_OPTIONS: Final = {
    "TCP_KEEPIDLE": KEEPALIVE_IDLE_S,
    "TCP_KEEPALIVE": KEEPALIVE_IDLE_S,  # the same on macOS
    "TCP_KEEPINTVL": KEEPALIVE_INTERVAL_S,
    "TCP_KEEPCNT": KEEPALIVE_PROBES,
    "TCP_USER_TIMEOUT": TCP_USER_TIMEOUT_MS,  # on Linux only
}
"""Options by their names in `socket`. An option that the system does not have is left out."""
SESSION: Final = {
    "timezone": "UTC",
    "default_transaction_isolation": "read committed",  # of two guarded writes the second finds no row
    "jit": "off",  # statements take a millisecond; without statistics JIT costs hundreds
    "tcp_keepalives_idle": str(KEEPALIVE_IDLE_S),
    "tcp_keepalives_interval": str(KEEPALIVE_INTERVAL_S),
    "tcp_keepalives_count": str(KEEPALIVE_PROBES),
    "tcp_user_timeout": str(TCP_USER_TIMEOUT_MS),
}


class DirectConnection:
    """One direct connection, opened when first needed and again after it was discarded. One call at a time.

    `opened` runs first on every new connection.
    """

    def __init__(
        self,
        dsn: str,
        purpose: str,
        *,
        patience: float,
        connect: float = CONNECT_TIMEOUT_S,
        opened: "Callable[[Connection], Awaitable[None]] | None" = None,
    ) -> None:
        self._dsn = dsn
        self._patience = patience
        self._connect = connect
        limit = f"{int(patience * 1000)}ms"
        self._session = SESSION | {
            "application_name": f"horae {purpose}",
            "statement_timeout": limit,
            "lock_timeout": limit,  # statement_timeout does not limit a commit that waits for the notification lock
        }
        self._opened = opened
        self._connection: IdentifiedConnection | None = None

    @property
    def cell_key(self) -> CellKey | None:
        """The cell that the connection leads to; None without a connection."""
        return None if self._connection is None else self._connection.cell_key

    async def call(self, work: "Callable[[Connection], Awaitable[Result]]", *, patience: float | None = None) -> Result:
        """Run `work` on the connection, in time or with a TimeoutError. A failure discards the connection."""
        patience = self._patience if patience is None else patience
        running = asyncio.ensure_future(self._work(await self._open(), work))
        try:
            await asyncio.wait({running}, timeout=patience)
            if not running.done():
                raise TimeoutError(f"no answer within {patience} s")
            return running.result()
        except BaseException:
            self.drop_connection()  # before the cancel: asyncpg would notify the server first, and wait for that
            running.cancel()
            running.add_done_callback(_retrieve_error)
            raise

    def drop_connection(self) -> None:
        """Discard the connection without telling the server."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def close(self) -> None:
        """Close the connection properly if the server answers, and discard it otherwise."""
        if self._connection is not None:
            with suppress(Exception):
                await self._connection.close(timeout=self._patience)
            self.drop_connection()

    async def _open(self) -> "tuple[Connection, bool]":
        """The connection, and whether it is new."""
        if self._connection is not None and not self._connection.is_closed():
            return self._connection, False
        self._connection = await connect_to_primary(self._dsn, timeout=self._connect, server_settings=self._session)
        keep_alive(self._connection)
        return self._connection, True

    async def _work(
        self, opened: "tuple[Connection, bool]", work: "Callable[[Connection], Awaitable[Result]]"
    ) -> Result:
        connection, new = opened
        if new and self._opened is not None:
            await self._opened(connection)
        return await work(connection)


def keep_alive(connection: "Connection | PoolConnectionProxy[asyncpg.Record]") -> None:
    """Let TCP detect within seconds that the server is gone. The driver has no setting for this."""
    given = connection._transport.get_extra_info("socket")  # type: ignore[union-attr]
    if given is None or given.family not in {socket.AF_INET, socket.AF_INET6}:
        return
    with socket.fromfd(given.fileno(), given.family, socket.SOCK_STREAM) as own:  # both share the options
        own.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in TCP_OPTIONS.items():
            if (option := getattr(socket, name, None)) is not None:
                own.setsockopt(socket.IPPROTO_TCP, option, value)


def _retrieve_error(call: "asyncio.Future[Result]") -> None:
    """Read the error of a call that has no waiter any more, so that asyncio does not log it as never retrieved."""
    if not call.cancelled():
        call.exception()

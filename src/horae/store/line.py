"""A connection of one's own, outside the pool: for what must go on while the pool is exhausted.

Every call has a deadline, and a call that fails or misses it takes the connection with it: what a doubtful socket
would still say is never heard. TCP is told to notice a dead peer within seconds, on both ends.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

import asyncpg
from asyncpg.connect_utils import SessionAttribute

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Connection = asyncpg.Connection[asyncpg.Record]

Result = TypeVar("Result")
CONNECT: Final = 3.0
IDLE, INTERVAL, PROBES, USER_TIMEOUT_MS = 5, 2, 3, 5000
SESSION: Final = {
    "timezone": "UTC",
    "default_transaction_isolation": "read committed",  # a guarded write that comes second finds no row, and no error
    "jit": "off",  # for statements of a millisecond; where statistics are missing it costs hundreds
    "tcp_keepalives_idle": str(IDLE),
    "tcp_keepalives_interval": str(INTERVAL),
    "tcp_keepalives_count": str(PROBES),
    "tcp_user_timeout": str(USER_TIMEOUT_MS),
}


class Line:
    """One direct connection, made when it is first needed and again after it was discarded. One call at a time.

    `opened` is done first on every new one.
    """

    def __init__(
        self,
        dsn: str,
        purpose: str,
        *,
        patience: float,
        connect: float = CONNECT,
        opened: "Callable[[Connection], Awaitable[None]] | None" = None,
    ) -> None:
        self._dsn = dsn
        self._patience = patience
        self._connect = connect
        limit = f"{int(patience * 1000)}ms"
        self._session = SESSION | {
            "application_name": f"horae {purpose}",
            "statement_timeout": limit,
            "lock_timeout": limit,  # a commit that waits for the lock of notifications has no statement_timeout
        }
        self._opened = opened
        self._connection: Connection | None = None

    async def call(self, work: "Callable[[Connection], Awaitable[Result]]", *, patience: float | None = None) -> Result:
        """Do something with the connection, in time or with a TimeoutError; after any failure there is a new one."""
        patience = self._patience if patience is None else patience
        running = asyncio.ensure_future(self._work(await self._open(), work))
        try:
            await asyncio.wait({running}, timeout=patience)
            if not running.done():
                raise TimeoutError(f"no answer within {patience} s")
            return running.result()
        except BaseException:
            self.hang_up()  # before the cancel: asyncpg would first tell the server of it, and wait for that
            running.cancel()
            running.add_done_callback(_hear)
            raise

    def hang_up(self) -> None:
        """Discard the connection as it is, without a word to the server."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def close(self) -> None:
        """Say goodbye to the server, if it listens."""
        if self._connection is not None:
            with suppress(Exception):
                await self._connection.close(timeout=self._patience)
            self.hang_up()

    async def _open(self) -> "tuple[Connection, bool]":
        """The connection, and whether it is a new one."""
        if self._connection is not None and not self._connection.is_closed():
            return self._connection, False
        self._connection = await asyncpg.connect(
            self._dsn,
            timeout=self._connect,
            server_settings=self._session,
            target_session_attrs=SessionAttribute.read_write,
        )
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
    """Let TCP notice within seconds that the server is gone; the driver has no setting for it."""
    given = connection._transport.get_extra_info("socket")  # type: ignore[union-attr]
    if given is None or given.family not in {socket.AF_INET, socket.AF_INET6}:
        return
    with socket.fromfd(given.fileno(), given.family, socket.SOCK_STREAM) as own:  # options belong to both copies
        own.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, IDLE)
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, INTERVAL)
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, PROBES)
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, USER_TIMEOUT_MS)


def _hear(call: "asyncio.Future[Result]") -> None:
    """Take note of what became of a call that nobody waits for any more."""
    if not call.cancelled():
        call.exception()

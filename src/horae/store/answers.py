"""A deadline around every call to PostgreSQL on a connection of the pool.

A socket may die without a word, and then nothing ever comes. So what is not answered in time takes its connection
with it, and so does a call that nobody waits for any more: a connection on which something is still open goes to no
one else.
"""

import asyncio
import select
from collections.abc import Awaitable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

import asyncpg

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Connection = asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]

Result = TypeVar("Result")
PATIENCE: Final = 6.0
"""Seconds: the server itself cuts a statement off after 5, so who has not answered by now is not there."""
STILL: Final = 0.1
"""Seconds by which a timer comes late where the event loop stood still: then not the server was slow, but we."""
USELESS: Final = (asyncio.CancelledError, asyncpg.ReadOnlySQLTransactionError)
"""Errors after which a connection is of no use: its call goes on without us, or the primary is elsewhere now."""


async def answered(connection: "Connection", call: Awaitable[Result], seconds: float | None = None) -> Result:
    """What the call answers, in time; otherwise its connection is discarded, and a TimeoutError says so."""
    loop = asyncio.get_running_loop()
    patience = PATIENCE if seconds is None else seconds
    given_up = False
    late: asyncio.TimerHandle

    def look() -> None:
        nonlocal given_up, late
        if loop.time() - late.when() > STILL:
            late = loop.call_later(patience, look)
        else:
            given_up = True
            discard(connection)

    late = loop.call_later(patience, look)
    try:
        return await call
    except USELESS:
        discard(connection)
        raise
    except Exception as error:
        if given_up:  # the driver has several words for it, depending on where it stood
            raise TimeoutError(f"no answer within {patience:g} s") from error
        raise
    finally:
        late.cancel()


def discard(connection: "Connection") -> None:
    """Close it as it is, without a word to the server."""
    with suppress(asyncpg.InterfaceError):  # asyncpg may have noticed meanwhile, and taken it back itself
        connection.terminate()


def is_lost(connection: "Connection") -> bool:
    """Whether the connection has ended: after an error that may also mean something else."""
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:  # its pool has taken it back meanwhile
        return True


def arrived(connection: "Connection") -> bool:
    """Whether something waits to be read. asyncpg has no public way to its socket; without one we do not know."""
    transport = getattr(connection, "_transport", None)
    socket = transport.get_extra_info("socket") if transport is not None else None
    if socket is None or socket.fileno() < 0:
        return False
    look = select.poll()
    look.register(socket.fileno(), select.POLLIN)
    return bool(look.poll(0))

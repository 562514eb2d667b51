"""A deadline for every call to PostgreSQL on a connection of the pool.

A socket may die silently, and then no answer ever comes. So the connection of a call that is not answered in time is
discarded. The same applies to a cancelled call: a connection with an open call is never given to another caller.

Nobody tells the server to cancel the call. A cancel request would end the wait of a commit for its standby: the row
becomes visible although no standby has it, and another request could be answered with it.
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
ANSWER_TIMEOUT_S: Final = 6.0
"""The server cancels a statement after 5 s, so a server that has not answered after 6 s is unreachable."""
LOOP_STALL_S: Final = 0.1
"""A timer that is later than this shows that our event loop stood still, not that the server is slow."""
USELESS: Final = (asyncio.CancelledError, asyncpg.ReadOnlySQLTransactionError)
"""Errors after which a connection is unusable: its call still runs on the server, or the primary is elsewhere now."""


async def wait_for_answer(connection: "Connection", call: Awaitable[Result], seconds: float | None = None) -> Result:
    """The result of `call`, in time. Otherwise the connection is discarded and a TimeoutError is raised."""
    loop = asyncio.get_running_loop()
    patience = ANSWER_TIMEOUT_S if seconds is None else seconds
    given_up = False
    late: asyncio.TimerHandle

    def look() -> None:
        nonlocal given_up, late
        if loop.time() - late.when() > LOOP_STALL_S:
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
        if given_up:  # the driver raises different errors, depending on its state
            raise TimeoutError(f"no answer within {patience:g} s") from error
        raise
    finally:
        late.cancel()


def discard(connection: "Connection") -> None:
    """Close a connection without telling the server."""
    with suppress(asyncpg.InterfaceError):  # asyncpg may have noticed and released it itself
        connection.terminate()


def is_lost(connection: "Connection") -> bool:
    """Whether the connection has ended, after an error that may also have another cause."""
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:  # its pool has released it meanwhile
        return True


def has_unread_data(connection: "Connection") -> bool:
    """Whether unread data has arrived. asyncpg has no public access to its socket; without one this returns False."""
    transport = getattr(connection, "_transport", None)
    socket = transport.get_extra_info("socket") if transport is not None else None
    if socket is None or socket.fileno() < 0:
        return False
    look = select.poll()
    look.register(socket.fileno(), select.POLLIN)
    return bool(look.poll(0))

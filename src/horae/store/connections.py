"""Connections of a pool that are still there.

A pool notices the end of an idle connection only when the event loop comes round to it. Until then it hands the dead
one out, and a statement fails that never reached the server. Such a connection is thrown away, and another is taken;
a pool has `most` of them.
"""

import select
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING

import asyncpg

from horae.store.tx import GONE

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy


@asynccontextmanager
async def fresh(
    pool: "asyncpg.Pool[asyncpg.Record]", most: int
) -> AsyncIterator["PoolConnectionProxy[asyncpg.Record]"]:
    """A connection that nothing has arrived on. What arrives unasked is its end, and looking costs no round trip."""
    async with AsyncExitStack() as held:
        for left in reversed(range(most + 1)):
            connection = await held.enter_async_context(pool.acquire())
            if not left or not _ended(connection):
                break
            _discard(connection)
            await held.aclose()
        yield connection


@asynccontextmanager
async def begun(
    pool: "asyncpg.Pool[asyncpg.Record]", most: int
) -> AsyncIterator["PoolConnectionProxy[asyncpg.Record]"]:
    """A connection with an open transaction: that it could be opened shows that it lives."""
    async with AsyncExitStack() as held:
        for left in reversed(range(most + 1)):
            connection = await held.enter_async_context(fresh(pool, most))
            try:
                await held.enter_async_context(connection.transaction())
            except GONE:
                _discard(connection)
                await held.aclose()
                if not left:
                    raise
            else:
                break
        yield connection


def _discard(connection: "PoolConnectionProxy[asyncpg.Record]") -> None:
    with suppress(asyncpg.InterfaceError):  # asyncpg may have noticed meanwhile, and taken it back itself
        connection.terminate()


def _ended(connection: "PoolConnectionProxy[asyncpg.Record]") -> bool:
    """Whether something waits to be read. asyncpg has no public way to its socket; without one we do not know."""
    transport = getattr(connection, "_transport", None)
    socket = transport.get_extra_info("socket") if transport is not None else None
    if socket is None:
        return False
    look = select.poll()
    look.register(socket.fileno(), select.POLLIN)
    return bool(look.poll(0))

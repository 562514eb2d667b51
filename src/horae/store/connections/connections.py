"""Takes live connections from a pool.

A pool notices that an idle connection has ended only when the event loop gets to it. Until then it hands out the dead
connection, and a statement fails that never reached the server. Such a connection is discarded and another one is
taken, up to `most` times, the size of the pool. A caller that gets no connection in time gets an error.

Every transaction is READ COMMITTED, whatever the server's default is, because the row decides races. A pool that
connects directly asks each new connection for the primary. A pooler may change the server behind a connection at any
time, so there each transaction asks, in the round trip that opens it.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final

import asyncpg

from horae.runtime.clock import boottime
from horae.store.connections import deadlines
from horae.store.connections.deadlines import discard, has_unread_data, wait_for_answer
from horae.store.connections.held_connections import hold_connection
from horae.store.connections.pool_waits import PoolWaits
from horae.store.connections.reachability import Reach
from horae.store.tx import GONE

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Pool = asyncpg.Pool[asyncpg.Record]
    Pooled = PoolConnectionProxy[asyncpg.Record]

BEGIN: Final = "begin isolation level read committed"
BEGIN_ON_PRIMARY: Final = f"{BEGIN}; select where not pg_is_in_recovery()"
ON_REPLICA: Final = "SELECT 0"
"""The answer of a replica to an opening that asks for the primary."""


@asynccontextmanager
async def idle_connection(pool: "Pool", most: int, reach: Reach, waits: PoolWaits) -> AsyncIterator["Pooled"]:
    """A connection on which no data waits.

    1. Record that this task holds a connection, and take one from the pool. If that fails although the pool could have
       opened another connection, the cell is down.
    2. Unrequested data means that the server has ended the connection. This check costs no round trip. Discard such a
       connection and take the next one.
    3. After a timeout during the block, close all idle connections: they are probably dead, too.
    """
    async with AsyncExitStack() as held:
        held.enter_context(hold_connection())
        for left in reversed(range(most + 1)):
            began = boottime()
            try:
                connection = await held.enter_async_context(
                    pool.acquire(timeout=reach.connecting_s(deadlines.ANSWER_TIMEOUT_S))
                )
            except GONE as error:
                if pool.get_size() < most:  # otherwise all are in use, which says nothing about the server
                    reach.mark_down(error, connecting=True)
                waits.timeouts += 1
                raise
            finally:
                waits.add(boottime() - began)
            if not left or not has_unread_data(connection):
                break
            discard(connection)
            await held.aclose()
            held.enter_context(hold_connection())
        try:
            yield connection
        except TimeoutError:
            discard_idle_connections(pool)
            raise


@asynccontextmanager
async def transaction_connection(
    pool: "Pool", most: int, reach: Reach, waits: PoolWaits, opening: str = BEGIN
) -> AsyncIterator["Pooled"]:
    """A connection with an open transaction. That it could be opened proves that the connection is alive.

    1. Take a connection and open a transaction on it.
    2. If that fails, nothing was written: discard the connection and try the next one. After a timeout, close all idle
       connections first.
    3. When all `most + 1` tries have failed, the cell is down: raise.
    """
    async with AsyncExitStack() as held:
        for left in reversed(range(most + 1)):
            connection = await held.enter_async_context(idle_connection(pool, most, reach, waits))
            try:
                await held.enter_async_context(_transaction(connection, opening))
            except GONE as error:
                discard(connection)
                await held.aclose()
                if isinstance(error, TimeoutError):
                    discard_idle_connections(pool)
                if not left:
                    reach.mark_down(error)
                    raise
            else:
                break
        yield connection


def discard_idle_connections(pool: "Pool") -> None:
    """Close every idle connection: when one does not answer, the others often do not either.

    If a firewall dropped them all, each would otherwise cost a caller the whole timeout.
    """
    for holder in pool._holders:  # type: ignore[attr-defined]  # not public; asyncpg closes idle ones the same way
        if holder._con is not None and holder._in_use is None:
            holder._con.terminate()


@asynccontextmanager
async def _transaction(connection: "Pooled", opening: str) -> AsyncIterator[None]:
    """Begin, and commit or roll back at the end of the block, each in time and in one round trip.

    Raises if the opening asked for the primary and reached a replica.
    """
    if await wait_for_answer(connection, connection.execute(opening)) == ON_REPLICA:
        raise asyncpg.ReadOnlySQLTransactionError("this server is a replica")
    try:
        yield
    except BaseException:
        with suppress(*GONE):  # if the connection is lost, the server rolls back by itself
            await wait_for_answer(connection, connection.execute("rollback"))
        raise
    await wait_for_answer(connection, connection.execute("commit"))

"""Connections of a pool that are still there.

A pool notices the end of an idle connection only when the event loop comes round to it. Until then it hands the dead
one out, and a statement fails that never reached the server. Such a connection is thrown away, and another is taken;
a pool has `most` of them. Whoever gets none in time hears of it: nobody waits for ever.

Every transaction is READ COMMITTED: races are decided by the row, whatever a server has as its default. A pool that
connects by itself asks each new connection for the primary. A pooler may change the server behind a connection at any
time, so there each transaction asks, in the round trip that opens it.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final

import asyncpg

from horae.store import answers
from horae.store.answers import answered, arrived, discard
from horae.store.holding import holding
from horae.store.reach import Reach
from horae.store.tx import GONE

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Pool = asyncpg.Pool[asyncpg.Record]
    Pooled = PoolConnectionProxy[asyncpg.Record]

BEGIN: Final = "begin isolation level read committed"
BEGIN_ON_PRIMARY: Final = f"{BEGIN}; select where not pg_is_in_recovery()"
ON_REPLICA: Final = "SELECT 0"
"""What an opening that asks for the primary answers on a replica."""


@asynccontextmanager
async def fresh(pool: "Pool", most: int, reach: Reach) -> AsyncIterator["Pooled"]:
    """A connection that nothing has arrived on. What arrives unasked is its end, and looking costs no round trip."""
    async with AsyncExitStack() as held:
        held.enter_context(holding())
        for left in reversed(range(most + 1)):
            try:
                connection = await held.enter_async_context(pool.acquire(timeout=reach.connecting_s(answers.PATIENCE)))
            except GONE as error:
                if pool.get_size() < most:  # else all are in use: that says nothing of the server
                    reach.lose(error, connecting=True)
                raise
            if not left or not arrived(connection):
                break
            discard(connection)
            await held.aclose()
            held.enter_context(holding())
        try:
            yield connection
        except TimeoutError:
            forsake(pool)
            raise


@asynccontextmanager
async def begun(pool: "Pool", most: int, reach: Reach, opening: str = BEGIN) -> AsyncIterator["Pooled"]:
    """A connection with an open transaction: that it could be opened shows that it lives."""
    async with AsyncExitStack() as held:
        for left in reversed(range(most + 1)):
            connection = await held.enter_async_context(fresh(pool, most, reach))
            try:
                await held.enter_async_context(_transaction(connection, opening))
            except GONE as error:
                discard(connection)
                await held.aclose()
                if isinstance(error, TimeoutError):
                    forsake(pool)
                if not left:
                    reach.lose(error)
                    raise
            else:
                break
        yield connection


def forsake(pool: "Pool") -> None:
    """Close every idle connection as it is: one that does not answer is seldom alone.

    Where a firewall forgot them all, each would cost someone the whole patience before it is found out.
    """
    for holder in pool._holders:  # type: ignore[attr-defined]  # no public way; asyncpg itself closes idle ones so
        if holder._con is not None and holder._in_use is None:
            holder._con.terminate()


@asynccontextmanager
async def _transaction(connection: "Pooled", opening: str) -> AsyncIterator[None]:
    """Begin, and at the end of the block commit or roll back, each in time and in one round trip.

    Raises where the opening asked for the primary and met a replica: what a replica says decides nothing.
    """
    if await answered(connection, connection.execute(opening)) == ON_REPLICA:
        raise asyncpg.ReadOnlySQLTransactionError("this server is a replica")
    try:
        yield
    except BaseException:
        with suppress(*GONE):  # where it is gone the server rolls back by itself
            await answered(connection, connection.execute("rollback"))
        raise
    await answered(connection, connection.execute("commit"))

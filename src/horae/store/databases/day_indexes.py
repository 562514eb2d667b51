"""Builds an index for the days of history that were there before it: one day at a time, without blocking anybody.

PostgreSQL cannot build an index of a partitioned table concurrently. So a migration creates it over no day, and this
builds a part for each day and attaches it; the last one makes the index valid.
"""

from typing import TYPE_CHECKING

from horae.store.statements import sql

if TYPE_CHECKING:
    from horae.store.connections.deadlines import Connection


async def missing(connection: "Connection") -> list[str]:
    """The tables of days without a part of the index, newest first."""
    return [row["partition"] for row in await connection.fetch(sql("databases/day_indexes/missing"))]


async def drop_rest(connection: "Connection", partition: str) -> None:
    """Drop what an interrupted build has left."""
    await connection.execute(sql("databases/day_indexes/drop_rest").format(partition=partition))


async def build(connection: "Connection", partition: str) -> None:
    """Build the part of one day. It waits for transactions that are older, and nobody waits for it."""
    await connection.execute(sql("databases/day_indexes/build").format(partition=partition))


async def attach(connection: "Connection", partition: str) -> None:
    """Attach the part of one day. Writers of that day wait for a moment; use a short `lock_timeout`."""
    await connection.execute(sql("databases/day_indexes/attach").format(partition=partition))

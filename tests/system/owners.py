"""Who owns which shards, watched from outside: the database's own rows, five times a second."""

import asyncio
import time
from collections.abc import Collection
from contextlib import suppress
from typing import NamedTuple
from uuid import UUID

import asyncpg

from tests.system.cluster import Cluster

PERIOD = 0.2
OWNERS = "select owner, array_agg(shard_id) as shards from shard where state = 'ACTIVE' group by owner"
LOST = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)


class Seen(NamedTuple):
    """Every shard of a cell with its owner, at a time."""

    at: float
    owners: dict[int, UUID | None]


class OwnerWatch:
    """Keeps what changed; a cell that does not answer is looked at again when it does."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.seen: dict[str, list[Seen]] = {cell.name: [] for cell in cluster.cells}
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._watch(cell.name, cell.dsn)) for cell in self.cluster.cells]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def owned(self, incarnation: UUID, at: float) -> set[int]:
        """The shards in its name at a time, in all cells."""
        return {
            shard for seen in self.seen.values() for shard, owner in _last(seen, at).items() if owner == incarnation
        }

    def moved_at(self, shards: Collection[int], gone: Collection[UUID], since: float) -> float | None:
        """When the last of these shards had an owner that is none of the gone; None: it has not yet."""
        last = since
        for seen in self.seen.values():
            mine = set(shards) & set(_last(seen, time.time()))
            left = mine
            for one in seen:
                if one.at >= since and left:
                    left = {shard for shard in left if one.owners.get(shard) in {None, *gone}}
                    last = max(last, one.at)
            if left:
                return None
        return last

    async def _watch(self, cell: str, dsn: str) -> None:
        while True:
            with suppress(*LOST):
                connection = await asyncpg.connect(dsn, timeout=3)
                try:
                    while True:
                        self._keep(cell, await connection.fetch(OWNERS, timeout=3))
                        await asyncio.sleep(PERIOD)
                finally:
                    connection.terminate()
            await asyncio.sleep(PERIOD)

    def _keep(self, cell: str, rows: list[asyncpg.Record]) -> None:
        found = {shard: row["owner"] for row in rows for shard in row["shards"]}
        if not self.seen[cell] or self.seen[cell][-1].owners != found:
            self.seen[cell].append(Seen(time.time(), found))


def _last(seen: list[Seen], at: float) -> dict[int, UUID | None]:
    return next((one.owners for one in reversed(seen) if one.at <= at), {})

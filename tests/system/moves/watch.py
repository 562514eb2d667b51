"""Looks at both cells of a move all the time: how long no cell was active, and whether ever two were."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import asyncpg

LOOK_INTERVAL_S = 0.05
STATE = "select state from shard where shard_id = $1"
LOST = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError)


class ShardWatch:
    """One shard in the source and in the target of its move."""

    def __init__(self, shard: int, source: str, target: str) -> None:
        self._shard = shard
        self._connections: dict[str, asyncpg.Connection[asyncpg.Record] | None] = {target: None, source: None}
        self.closed_s = 0.0
        self.times_two_active = 0
        self._closed_since: float | None = None

    async def run(self) -> None:
        """Look again and again. The target is asked first: what it says is older than what the source says."""
        while True:
            states = [await self._state(dsn) for dsn in self._connections]
            self.times_two_active += states == ["ACTIVE", "ACTIVE"]
            now = time.monotonic()
            if "ACTIVE" in states:
                self._open(now)
            elif None not in states and self._closed_since is None:
                self._closed_since = now
            await asyncio.sleep(LOOK_INTERVAL_S)

    def _open(self, now: float) -> None:
        if self._closed_since is not None:
            self.closed_s += now - self._closed_since
            self._closed_since = None

    async def _state(self, dsn: str) -> str | None:
        """The state of the shard in a cell; None while the cell does not answer."""
        try:
            connection = self._connections[dsn]
            if connection is None:
                connection = self._connections[dsn] = await asyncpg.connect(dsn, timeout=2)
            state: str = await connection.fetchval(STATE, self._shard, timeout=2)
        except LOST:
            self._connections[dsn] = None
            return None
        return state

    async def close(self) -> None:
        for connection in self._connections.values():
            if connection is not None:
                with suppress(*LOST):
                    await connection.close(timeout=2)


@asynccontextmanager
async def watching(shard: int, source: str, target: str) -> AsyncIterator[ShardWatch]:
    """Look at a shard while the block lasts."""
    watch = ShardWatch(shard, source, target)
    going = asyncio.create_task(watch.run())
    try:
        yield watch
    finally:
        going.cancel()
        with suppress(asyncio.CancelledError):
            await going
        await watch.close()

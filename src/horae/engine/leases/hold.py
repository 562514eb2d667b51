"""What a node may act on in one cell, and for how long: written by the thread that keeps the lease, read by all."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Collection
from typing import NamedTuple

from horae.runtime.telemetry import log
from horae.store.cells import Cell

Tell = Callable[[Cell, list[int], list[int]], Awaitable[None]]


class LeaseHold(NamedTuple):
    """Shards, and the tick until which they count. Swapped as one, so that other threads read it without a lock."""

    shards: frozenset[int] = frozenset()
    valid_until: float = 0.0


class Holding:
    """The hold in force. It ends by itself: first for whoever reads it, by the tick, then the engine is told."""

    def __init__(self, cell: Cell, tell: Tell) -> None:
        self.cell = cell
        self.hold = LeaseHold()
        self._tell = tell
        self._expiry: asyncio.TimerHandle | None = None
        self._telling: asyncio.Future[None] | None = None

    @property
    def shards(self) -> frozenset[int]:
        """What was held last, whether it still counts or not."""
        return self.hold.shards

    async def renew(self, shards: Collection[int], valid_until: float) -> None:
        """From now on these, until that tick."""
        self._end_at(valid_until)
        await self._swap(LeaseHold(frozenset(shards), valid_until))

    async def have(self, shards: Collection[int]) -> None:
        """From now on these, for no longer than before."""
        await self._swap(LeaseHold(frozenset(shards), self.hold.valid_until))

    async def end(self) -> None:
        """Nothing any more, at once."""
        if self._expiry is not None:
            self._expiry.cancel()
        await self._swap(LeaseHold())

    async def _swap(self, hold: LeaseHold) -> None:
        if hold.shards and hold.valid_until <= self.cell.clock.ticks():
            raise TimeoutError("the lease ran out before its renewal was answered")
        before, self.hold = self.hold.shards, hold
        gained, lost = hold.shards - before, before - hold.shards
        if gained or lost:
            await self._tell(self.cell, sorted(gained), sorted(lost))

    def _end_at(self, tick: float) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
        if tick < math.inf:
            left = tick - self.cell.clock.ticks()
            self._expiry = asyncio.get_running_loop().call_later(left, self._ran_out)

    def _ran_out(self) -> None:
        before, self.hold = self.hold.shards, LeaseHold()
        log.error("lease.ran_out", cell=self.cell.name, shards=len(before))
        self._telling = asyncio.ensure_future(self._tell(self.cell, [], sorted(before)))

"""The shards that a node may work on in one cell, and until when. The lease thread writes it, every thread reads it."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Collection
from typing import NamedTuple

from horae.runtime.telemetry import log
from horae.store.cells import Cell

OnChange = Callable[[Cell, list[int], list[int]], Awaitable[None]]


class LeaseHold(NamedTuple):
    """The leased shards, and the tick until which the lease is valid.

    It is replaced as a whole, so that other threads read it without a lock.
    """

    shards: frozenset[int] = frozenset()
    valid_until: float = 0.0


class CurrentHold:
    """The hold in force.

    When it runs out, every reader sees that by the tick. A timer then reports the lost shards to the engine.
    """

    def __init__(self, cell: Cell, on_change: OnChange) -> None:
        self.cell = cell
        self.hold = LeaseHold()
        self._on_change = on_change
        self._expiry: asyncio.TimerHandle | None = None
        self._changes: asyncio.Future[None] | None = None

    @property
    def shards(self) -> frozenset[int]:
        """The shards of the last hold, even if its tick has passed."""
        return self.hold.shards

    async def renew(self, shards: Collection[int], valid_until: float) -> None:
        """Hold these shards until that tick."""
        self._end_at(valid_until)
        await self._swap(LeaseHold(frozenset(shards), valid_until))

    async def hold_shards(self, shards: Collection[int]) -> None:
        """Hold these shards, until the same tick as before."""
        await self._swap(LeaseHold(frozenset(shards), self.hold.valid_until))

    async def end(self) -> None:
        """Hold no shard any more, at once."""
        if self._expiry is not None:
            self._expiry.cancel()
        await self._swap(LeaseHold())

    async def _swap(self, hold: LeaseHold) -> None:
        if hold.shards and hold.valid_until <= self.cell.clock.ticks():
            raise TimeoutError("the lease ran out before its renewal was answered")
        before, self.hold = self.hold.shards, hold
        gained, lost = hold.shards - before, before - hold.shards
        if gained or lost:
            await self._on_change(self.cell, sorted(gained), sorted(lost))

    def _end_at(self, tick: float) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
        if tick < math.inf:
            left = tick - self.cell.clock.ticks()
            self._expiry = asyncio.get_running_loop().call_later(left, self._expire)

    def _expire(self) -> None:
        before, self.hold = self.hold.shards, LeaseHold()
        log.error("lease.expired", cell=self.cell.name, shards=len(before))
        self._changes = asyncio.ensure_future(self._on_change(self.cell, [], sorted(before)))

"""Keeps a node's lease in one cell: the heartbeat, the cell's clock, and the shards dealt to it.

Lives in the thread of `Leases`, on a connection of its own. It fails closed: a lease counts from the tick its renewal
was sent, an error leaves it to run out, and what it held is given up in memory before the database's term ends.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

from horae.domain.leases import plan
from horae.engine.leases.hold import Holding, Tell
from horae.engine.leases.strays import Strays
from horae.runtime.chance import fraction
from horae.runtime.telemetry import log
from horae.store import clock as clocks
from horae.store import leases
from horae.store.cells import Cell
from horae.store.leases import Peer, Renewal
from horae.store.line import CONNECT, Line
from horae.store.tx import Tx

Result = TypeVar("Result")
BEAT, SOON, MARGIN, STEP = 1 / 4, 1 / 16, 1 / 8, 1 / 80
"""In TTLs: between heartbeats, while something is still to come, what the lease ends early, between two portions."""
PORTION: Final = 256


class Who(NamedTuple):
    """One incarnation. The name is for people; nothing goes by it."""

    incarnation: UUID
    name: str
    ttl: timedelta


class Keeper:
    """One cell's lease. `holding` is what other threads look at."""

    def __init__(self, cell: Cell, who: Who, tell: Tell, *, enforced: bool = True) -> None:
        self.cell = cell
        self.who = who
        self.holding = Holding(cell, tell)
        self.looked = asyncio.Event()
        self._enforced = enforced
        self._ttl = who.ttl.total_seconds()
        self._strays = Strays(self._ttl)
        self._line = Line(cell.dsn, "lease", patience=self._ttl * BEAT, connect=min(CONNECT, self._ttl / 2))
        self._draining = False
        self._failing = False

    async def keep(self) -> None:
        """Until cancelled. A round that fails is logged and tried again soon; the lease runs out by itself."""
        while True:
            pause = self._ttl * SOON * (0.5 + fraction())
            if self.cell.clock.was_read:  # else the cell was down at the start, and has not joined yet
                pause = await self._try(pause)
            self.looked.set()
            await asyncio.sleep(pause)

    async def _try(self, pause: float) -> float:
        """One round; returns after how many seconds to come again. Only the first of several failures is told."""
        try:
            pause = await self.once()
        except Exception as error:
            if not self._failing:
                log.warning("lease.not_renewed", cell=self.cell.name, error=repr(error))
            self._failing = True
        else:
            self._failing = False
        return pause

    async def once(self) -> float:
        """Renew, look, and move towards the deal; returns after how many seconds to come again."""
        sent, renewal = await self._renew()
        if not self.looked.is_set():
            await self._call(leases.forget)
        if self._draining:
            await self._call(self._drain)  # again: a take that was cut off may have come through since
            return self._ttl * BEAT
        peers, owners = renewal.peers, renewal.owners
        if not self._enforced:
            await self.holding.renew(owners, math.inf)
            return self._ttl * BEAT
        living = {peer.incarnation for peer in peers}
        dealt_in = {peer.incarnation for peer in peers if not peer.draining}
        found = plan(owners, dealt_in, living, self.who.incarnation)
        await self.holding.renew(found.keep | found.give, sent + self._ttl * (1 - MARGIN))
        await self._give(found.give - self._strays.kept(sent))
        await self._take(found.take)
        await self._inherit(found.inherit)
        await self._adopt(found.strays, sent)
        return self._pause(peers, settled=found.settled)

    async def drain(self) -> None:
        """Hand the shards back and take no others. The heartbeat goes on, for what is still in flight."""
        self._draining = True
        await self.holding.end()
        await self._call(self._drain)

    async def leave(self) -> None:
        """Hand everything back and say goodbye."""
        self._draining = True
        await self.holding.end()
        await self._call(lambda tx: leases.release(tx, self.who.incarnation))
        await self._line.close()

    def hang_up(self) -> None:
        """Leave the connection as it is: the end of the process does not wait for it."""
        self._line.hang_up()

    async def _renew(self) -> tuple[float, Renewal]:
        """Say that we live, read the cell's clock and peers; returns the tick at which that was sent, and those."""

        async def beat(tx: Tx) -> tuple[float, Renewal]:
            sent = self.cell.clock.ticks()  # only now: the connection may have taken its time
            return sent, await leases.renew(tx, *self.who, draining=self._draining)

        sent, renewal = await self._call(beat)
        told = renewal.told
        told.set(self.cell.clock, sent)
        if not self.cell.clock.trusted:
            log.error("clock.jumped", cell=self.cell.name, advice="look at it, then run `horae cells trust-clock`")
        if self.cell.clock.trusted is not (told.doubt is None):
            await self._call(self._say_doubt)
        return sent, renewal

    async def _say_doubt(self, tx: Tx) -> None:
        """Nodes that start now have not seen the clock jump, or come back."""
        clock = self.cell.clock
        await clocks.doubt(tx, None if clock.trusted else clock.ahead)

    async def _drain(self, tx: Tx) -> int:
        return await leases.drain(tx, self.who.incarnation)

    async def _give(self, shards: Collection[int]) -> None:
        """The engine lets go of them first; then their next owner may find them."""
        if shards:
            await self.holding.have(self.holding.shards.difference(shards))
            await self._call(lambda tx: leases.give_back(tx, self.who.incarnation, sorted(shards)))

    async def _take(self, shards: Collection[int]) -> Sequence[int]:
        if not shards:
            return ()
        taken = await self._call(lambda tx: leases.take(tx, self.who.incarnation, sorted(shards)))
        await self.holding.have(self.holding.shards.union(taken))
        return list(taken)

    async def _inherit(self, shards: Collection[int]) -> None:
        """A dead node's shards in growing portions: each brings sweeps and rescues, and all at once make a storm."""
        left, portion = sorted(shards), PORTION
        while left:
            await asyncio.sleep(self._ttl * STEP * (0.5 + fraction()))
            await self._take(left[:portion])
            left, portion = left[portion:], portion * 2

    async def _adopt(self, strays: Collection[int], tick: float) -> None:
        self._strays.keep(await self._take(self._strays.overdue(strays, tick, fraction())), tick)

    def _pause(self, peers: Sequence[Peer], *, settled: bool) -> float:
        """Until the next heartbeat, or until a peer that was not heard of for long may be inherited from."""
        beat = self._ttl * (BEAT if settled else SOON) * (0.9 + 0.1 * fraction())
        others = [peer.remaining.total_seconds() for peer in peers if peer.incarnation != self.who.incarnation]
        return min(beat, min(others, default=beat) + self._ttl * STEP)

    async def _call(self, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """By the database's own time, even one that jumped: it dates the terms that are compared."""
        return await self._line.call(lambda connection: work(Tx(connection, self.cell.clock.told())))

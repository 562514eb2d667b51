"""Keeps a node's lease in one cell: renews the term, reads the cell's clock, takes and gives back shards.

It runs in the thread of `Leases`, on its own connection. It fails closed: a lease is valid from the tick at which its
renewal was sent, a failed renewal lets it run out, and in memory it ends before the database's term does.
"""

import asyncio
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

from horae.domain.nodes.leases import plan
from horae.domain.restores.generations import NodeMark
from horae.engine.leases.hold import CurrentHold, OnChange
from horae.engine.leases.unclaimed_shards import UnclaimedShards
from horae.runtime.randomness import fraction
from horae.runtime.telemetry import log
from horae.runtime.waker import Waker
from horae.store.cells import Cell
from horae.store.connections import admission
from horae.store.connections.direct_connection import CONNECT_TIMEOUT_S, DirectConnection
from horae.store.databases import clock as clocks
from horae.store.nodes import leases
from horae.store.nodes.leases import Peer, Renewal
from horae.store.tx import Tx

Result = TypeVar("Result")
HEARTBEAT_TTLS: Final = 1 / 4
"""The pause between two heartbeats."""
RETRY_TTLS: Final = 1 / 16
"""The pause between two rounds while shards are missing, or after a failure."""
EARLY_END_TTLS: Final = 1 / 8
"""How long before the database's term this node regards its lease as ended."""
PORTION_PAUSE_TTLS: Final = 1 / 80
"""The pause between two portions of a dead node's shards."""
PORTION: Final = 256
"""Shards of dead nodes that are taken first. Each further portion is twice as large."""


class NodeIdentity(NamedTuple):
    """The identity of one process start. Only `incarnation` identifies it; `name` is for people."""

    incarnation: UUID
    name: str
    ttl: timedelta


class Keeper:
    """The lease of one cell. Other threads read `holding` and `living`, the number of nodes that are alive.

    `looked` is set after the first round. `open_shards` are the shards that the cell held in the last round.
    `taken_over` counts the shards that were taken from dead nodes.
    """

    def __init__(self, cell: Cell, identity: NodeIdentity, on_change: OnChange, *, enforced: bool = True) -> None:
        self.cell = cell
        self.identity = identity
        self.holding = CurrentHold(cell, on_change)
        self.looked = asyncio.Event()
        self.open_shards: frozenset[int] | None = None
        self.living = 0
        self.taken_over = 0
        self._enforced = enforced
        self._ttl = identity.ttl.total_seconds()
        self._unclaimed = UnclaimedShards(self._ttl)
        self._line = DirectConnection(
            cell.dsn, "lease", patience=self._ttl * HEARTBEAT_TTLS, connect=min(CONNECT_TIMEOUT_S, self._ttl / 2)
        )
        self._draining = False
        self._failing = False
        self._waker = Waker()
        self._on_change = on_change

    async def keep(self) -> None:
        """Run rounds until cancelled. A failed round is logged and repeated soon; meanwhile the lease may run out."""
        while True:
            pause = self._ttl * RETRY_TTLS * (0.5 + fraction())
            if self.cell.clock.was_read:  # otherwise the cell was down at the start and has not joined yet
                pause = await self._try(pause)
            self.looked.set()
            await self._waker.wait(pause)

    def prompt(self) -> None:
        """Run the next round at once: a shard may have moved to this cell."""
        self._waker.wake()

    async def _try(self, pause: float) -> float:
        """Run one round; returns the seconds until the next. Of several failures in a row only the first is logged."""
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
        """Run one round; returns the seconds until the next.

        1. Renew the term. The same statement reads the cell's clock, the living nodes and the owners of all shards. The
           first round also deletes nodes that have been dead for a day.
        2. While draining, release the shards again, and stop here.
        3. Compare the owners with the distribution among the nodes that live and do not drain.
        4. Hold the shards that the rows give to this node, until 7/8 of the TTL after the renewal was sent.
        5. Give back the shards that belong to another node. Shards from step 8 are kept for a while.
        6. Take our shards that are free.
        7. Take our shards that name a dead node, in growing portions.
        8. Take shards of other nodes that stayed free for longer than a TTL.

        Without `enforced` every open shard is held for ever, and steps 3 to 8 are left out.
        """
        sent, renewal = await self._renew()
        if not self.looked.is_set():
            await self._call(leases.forget)
        if self._draining:
            await self._call(self._drain)  # again: a `take` that was cancelled may have committed meanwhile
            return self._ttl * HEARTBEAT_TTLS
        peers, owners = renewal.peers, renewal.owners
        self.living = len(peers)
        if (here := frozenset(owners)) != self.open_shards:  # a shard has moved to this cell, or left it
            self.open_shards = here
            await self._on_change(self.cell, [], [])
        if not self._enforced:
            await self.holding.renew(owners, math.inf)
            return self._ttl * HEARTBEAT_TTLS
        living = {peer.incarnation for peer in peers}
        dealt_in = {peer.incarnation for peer in peers if not peer.draining}
        found = plan(owners, dealt_in, living, self.identity.incarnation)
        await self.holding.renew(found.keep | found.give, sent + self._ttl * (1 - EARLY_END_TTLS))
        await self._release(found.give - self._unclaimed.kept_shards(sent))
        await self._take(found.take)
        if inherited := await self._inherit(found.inherit):
            self.taken_over += len(inherited)
            await self._log_takeover(Counter(owners[shard] for shard in inherited))
        await self._take_unclaimed(found.unclaimed, sent)
        return self._pause(peers, settled=found.settled)

    async def drain(self) -> None:
        """Release all shards and take no others. Heartbeats go on, so that calls in flight are not rescued."""
        self._draining = True
        await self.holding.end()
        await self._call(self._drain)

    async def leave(self) -> None:
        """Release all shards and delete the node's row."""
        self._draining = True
        await self.holding.end()
        if (key := self._line.cell_key) is not None:
            admission.forget(key, self.identity.incarnation)
        await self._call(lambda tx: leases.release(tx, self.identity.incarnation))
        await self._line.close()

    def drop_connection(self) -> None:
        """Drop the connection without closing it: the end of the process does not wait for the server."""
        self._line.drop_connection()

    async def _renew(self) -> tuple[float, Renewal]:
        """Renew the term and set the cell's clock; returns the tick of sending, and what the renewal read."""

        async def beat(tx: Tx) -> tuple[float, Renewal]:
            sent = self.cell.clock.ticks()  # read here: opening the connection may have taken long
            return sent, await leases.renew(tx, *self.identity, draining=self._draining)

        sent, renewal = await self._call(beat)
        if (key := self._line.cell_key) is not None:
            admission.remember(key, NodeMark(self.identity.incarnation, renewal.seen_at))
        reading = renewal.reading
        reading.apply_to(self.cell.clock, sent)
        if not self.cell.clock.trusted:
            log.error("clock.jumped", cell=self.cell.name, advice="look at it, then run `horae cell trust-clock`")
        if self.cell.clock.trusted is not (reading.doubt is None):
            await self._call(self._record_doubt)
        return sent, renewal

    async def _record_doubt(self, tx: Tx) -> None:
        """Record in the cell whether its clock is doubted: a node that starts now has not seen the jump."""
        clock = self.cell.clock
        await clocks.doubt(tx, None if clock.trusted else clock.ahead)

    async def _drain(self, tx: Tx) -> int:
        return await leases.drain(tx, self.identity.incarnation)

    async def _release(self, shards: Collection[int]) -> None:
        """Stop the engine's work on the shards first, then release their rows for the next owner."""
        if shards:
            await self.holding.hold_shards(self.holding.shards.difference(shards))
            await self._call(lambda tx: leases.give_back(tx, self.identity.incarnation, sorted(shards)))

    async def _take(self, shards: Collection[int]) -> Sequence[int]:
        if not shards:
            return ()
        taken = await self._call(lambda tx: leases.take(tx, self.identity.incarnation, sorted(shards)))
        await self.holding.hold_shards(self.holding.shards.union(taken))
        return list(taken)

    async def _inherit(self, shards: Collection[int]) -> list[int]:
        """Take shards of dead nodes in growing portions: each shard causes scans and rescues, which take time."""
        left, portion, taken = sorted(shards), PORTION, list[int]()
        while left:
            await asyncio.sleep(self._ttl * PORTION_PAUSE_TTLS * (0.5 + fraction()))
            taken += await self._take(left[:portion])
            left, portion = left[portion:], portion * 2
        return taken

    async def _log_takeover(self, shards_of: Counter[UUID | None]) -> None:
        """Log from which dead nodes how many shards were taken."""
        known = {node.incarnation: node for node in await self._call(leases.nodes)}
        for incarnation, many in shards_of.items():
            dead = known.get(incarnation) if incarnation is not None else None
            log.warning(
                "lease.taken_over",
                cell=self.cell.name,
                shards=many,
                by=self.identity.name,
                from_node=dead.name if dead else f"{incarnation}",
                last_seen=dead.seen_at.isoformat(timespec="seconds") if dead else None,
            )

    async def _take_unclaimed(self, unclaimed: Collection[int], tick: float) -> None:
        """Take shards that another node should have taken more than a TTL ago."""
        self._unclaimed.keep(await self._take(self._unclaimed.overdue(unclaimed, tick, fraction())), tick)

    def _pause(self, peers: Sequence[Peer], *, settled: bool) -> float:
        """Seconds until the next heartbeat, or until the term of another node ends, if that is earlier."""
        beat = self._ttl * (HEARTBEAT_TTLS if settled else RETRY_TTLS) * (0.9 + 0.1 * fraction())
        others = [peer.remaining.total_seconds() for peer in peers if peer.incarnation != self.identity.incarnation]
        return min(beat, min(others, default=beat) + self._ttl * PORTION_PAUSE_TTLS)

    async def _call(self, work: Callable[[Tx], Awaitable[Result]]) -> Result:
        """Run statements with the database's own time, even if that clock jumped: it has issued the terms."""
        return await self._line.call(lambda connection: work(Tx(connection, self.cell.clock.database_time())))

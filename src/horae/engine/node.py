"""One scheduler process: it leases shards in every cell, fires, sends, settles and rescues."""

import asyncio
from datetime import timedelta

from horae.delivery.push import Sender
from horae.engine.admission.gatekeeper import Gatekeeper
from horae.engine.post import Post
from horae.runtime import chance
from horae.store import leases
from horae.store.cells import Store

SLOTS = 1000


class Node:
    """One process over all cells. Its identity is new at every start, whatever the host is called."""

    def __init__(self, store: Store, name: str, ttl: timedelta, sender: Sender, *, slots: int = SLOTS) -> None:
        self.store = store
        self.name = name
        self.ttl = ttl
        self.incarnation = chance.token()
        clock = store.cells[0].clock
        self.gatekeeper = Gatekeeper(slots, now=lambda: clock.now().timestamp())
        self._turning = False
        self.posts = [
            Post(cell, self.incarnation, self.gatekeeper, sender, lambda: True, self.turn) for cell in store.cells
        ]

    async def once(self) -> int:
        """Hold the leases and do what is due in every cell; returns how much that was."""
        done = 0
        for post in self.posts:
            await self._hold(post)
            done += await post.once()
        return done

    async def leave(self) -> None:
        """Hand everything back."""
        for post in self.posts:
            async with post.cell.tx() as tx:
                await leases.release(tx, self.incarnation)
            post.hold(())

    def turn(self) -> None:
        """Someone may pass now: look once, however many ask for it in this moment."""
        if not self._turning:
            self._turning = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._turning = False
        self.gatekeeper.dispatch()

    async def _hold(self, post: Post) -> None:
        await post.cell.sync_clock()
        async with post.cell.tx() as tx:
            await leases.heartbeat(tx, self.incarnation, self.name, self.ttl)
            post.hold(await leases.take(tx, self.incarnation, self.store.shards_of(post.cell)))

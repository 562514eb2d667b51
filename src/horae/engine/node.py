"""One scheduler process: it leases the shards of every cell, fires, dispatches and rescues."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from horae.delivery.client import Client
from horae.delivery.push import Sender
from horae.engine.definitions import Definitions
from horae.engine.dispatch import Dispatcher
from horae.engine.fire import Firer
from horae.engine.rescue import Rescuer
from horae.engine.settle import Settler
from horae.engine.territory import Territory
from horae.runtime import chance
from horae.runtime.telemetry import log
from horae.store import leases
from horae.store.cells import Cell, Store


class Post:
    """A node's work in one cell, over the shards it holds there."""

    def __init__(self, cell: Cell, owner: UUID, name: str, ttl: timedelta, sender: Sender) -> None:
        self.cell = cell
        self.owner = owner
        self.name = name
        self.ttl = ttl
        self.territory = Territory()
        definitions = Definitions()
        self.settler = Settler(cell)
        self.dispatcher = Dispatcher(cell, self.territory, owner, definitions, self.settler, sender)
        self.firer = Firer(cell, self.territory, owner, definitions, self.dispatcher.expect)
        self.rescuer = Rescuer(cell, self.territory, definitions, self.settler)

    async def hold(self, wanted: Sequence[int]) -> None:
        """Renew the lease, read the clock, and take what is free of the wanted shards."""
        await self.cell.sync_clock()
        async with self.cell.tx() as tx:
            await leases.heartbeat(tx, self.owner, self.name, self.ttl)
            held = await leases.take(tx, self.owner, wanted)
        if set(held) - self.territory.shards:
            for front in (*self.firer.fronts.values(), *self.dispatcher.fronts.values()):
                front.reset()
        self.territory.hold(held)

    async def once(self) -> int:
        """Rescue, fire and dispatch once; returns how much there was to do."""
        if not self.cell.clock.trusted:
            log.error("clock.jumped", cell=self.cell.name)
            return 0
        return await self.rescuer.once() + await self.firer.once() + await self.dispatcher.once()

    async def leave(self) -> None:
        """Hand the shards back at once."""
        async with self.cell.tx() as tx:
            await leases.release(tx, self.owner)
        self.territory.hold(())


class Node:
    """One process over all cells. Its identity is new at every start, whatever the host is called."""

    def __init__(self, store: Store, name: str, ttl: timedelta, sender: Sender | None = None) -> None:
        self.store = store
        self.sender = sender or Sender(Client())
        self.incarnation = chance.token()
        self.posts = [Post(cell, self.incarnation, name, ttl, self.sender) for cell in store.cells]

    async def once(self) -> int:
        """Hold the leases and do what is due in every cell; returns how much that was."""
        done = 0
        for post in self.posts:
            await post.hold(self.store.shards_of(post.cell))
            done += await post.once()
        return done

    async def leave(self) -> None:
        """Hand everything back."""
        for post in self.posts:
            await post.leave()
        await self.sender.client.close()

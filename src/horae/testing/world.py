"""The server behind a test, in its own loop: rows, a node that works when told to, doors, time from event to event."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import date, datetime, timedelta
from typing import Final

from horae.boot.dev.door import Door, door
from horae.boot.serving import client_of
from horae.domain.errors import NotFound
from horae.domain.ids import Prefix, public
from horae.domain.outcomes import Success
from horae.domain.workers import Claimed, Failed, Finish, Report
from horae.engine.node import Node
from horae.runtime.settings import Settings
from horae.service import tenants, workers
from horae.service.context import Context
from horae.store import clock, coming
from horae.store.cells import Store
from horae.testing.calls import Call
from horae.testing.sending import Remembering
from horae.upkeep.copies import Copier
from horae.upkeep.partitions import Partitioner

FOR_EVER: Final = timedelta(days=3650)
"""How long its lease lasts: nobody else is there, and a test may move time by years."""
WORKER: Final = "horae.testing"
Handler = Callable[[Call], Report | None]


class World:
    """One tenant's server. Nothing happens in it by itself: `settle` does what is due, `advance` moves time."""

    def __init__(self, ctx: Context, node: Node, sender: Remembering, door: Door) -> None:
        self.ctx = ctx
        self.sender = sender
        self.door = door
        self.time = self.now()
        self.handlers: dict[str, Handler] = {}
        self.taken: list[Call] = []
        self._node = node
        self._copier, self._partitioner = Copier(ctx.store), Partitioner(ctx.store)
        self._day: date | None = None

    def now(self) -> datetime:
        """What the cells' clocks show: the time that stands, and the moments that were spent since."""
        return self.ctx.store.cells[0].clock.now()

    async def advance(self, to: datetime, collect: Callable[[], None]) -> int:
        """From event to event until a time; each is settled before the next. Returns how many there were."""
        events = 0
        await self.hold()
        await self.settle(collect)
        while (at := await self._coming(self.time)) is not None and at <= to:
            self.time = at  # not what the clock shows: a slow machine may have gone past the next event by now
            await self.hold()
            await self.settle(collect)
            events += 1
        self.time = to
        await self.hold()
        await self.settle(collect)
        return events

    async def hold(self) -> None:
        """Take back the moments that were spent since: what is done next is done at the time that stands."""
        await self.move(self.time)

    async def settle(self, collect: Callable[[], None]) -> None:
        """Do everything that is due now, and what follows from it, until there is nothing more."""
        await self._copier.once()
        while await self._node.drain() + await self._work():
            collect()
        collect()

    async def move(self, to: datetime) -> None:
        """Set time to a moment, in every cell at once."""
        by = to - self.now()
        for cell in self.ctx.store.cells:
            async with cell.tx() as tx:
                await clock.move(tx, by)
            await cell.sync_clock()
        if self._day != to.date():
            self._day = to.date()
            await self._partitioner.once()

    async def _coming(self, after: datetime) -> datetime | None:
        found = []
        for cell in self.ctx.store.cells:
            async with cell.statement() as tx:
                found.append(await coming.first(tx, after))
        return min((at for at in found if at is not None), default=None)

    async def _work(self) -> int:
        """Let the test's own workers take what waits in their queues."""
        done = 0
        for queue, handler in self.handlers.items():
            for claimed in await workers.claim(self.ctx, queue, WORKER):
                said = self._said(claimed, handler)
                await workers.finish(self.ctx, [Finish(claimed.instance_id, claimed.attempt, claimed.token, said)])
                done += 1
        return done

    def _said(self, claimed: Claimed, handler: Handler) -> Report:
        call = Call(
            job=claimed.job,
            fire_time=claimed.fire_time,
            attempt=claimed.attempt,
            idempotency_key=claimed.idempotency_key,
            instance=public(Prefix.INSTANCE, claimed.instance_id),
            at=self.now(),
            key=claimed.key,
            payload=claimed.payload,
        )
        self.taken.append(call)
        try:
            return handler(call) or Success()
        except Exception as error:
            return Failed(f"{type(error).__name__}: {error}")


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[World]:
    """A world on migrated cells, with its tenant and an open door."""
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(Store.of(settings.all_cells()))
        try:
            tenant = await tenants.find(store, settings.tenant)
        except NotFound:
            tenant = await tenants.create(store, settings.tenant, WORKER)
        ctx = Context.of(store, tenant, WORKER)
        sender = Remembering(client_of(settings))
        node = Node(store, WORKER, FOR_EVER, sender)
        stack.push_async_callback(node.leave)
        opened = await stack.enter_async_context(door(settings, ctx))
        yield World(ctx, node, sender, opened)

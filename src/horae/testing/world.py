"""The server of a test, in its own event loop: rows, a node, the API, and a clock that moves from event to event."""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import date, datetime, timedelta
from typing import Any, Final, TypeVar

from horae.boot.dev.api_server import DevServer, dev_server
from horae.boot.senders import client_of
from horae.domain.errors import NotFound
from horae.domain.ids import Prefix, public
from horae.domain.instances.outcomes import Success
from horae.domain.workers.workers import ClaimedAttempt, FailureReport, Finish, Report
from horae.engine.allowances import Allowances
from horae.engine.node import Node
from horae.runtime.settings import Settings
from horae.service.context import Context, PlatformContext
from horae.service.tenants import tenants
from horae.service.workers import workers
from horae.store.databases import clock, partitions
from horae.store.nodes import next_due
from horae.store.nodes.next_due import NextEvent
from horae.store.store import Store
from horae.testing.sending import RememberingSender
from horae.upkeep.copies import Copier
from horae_client.testing.calls import ReceivedCall

LEASE_TTL: Final = timedelta(days=3650)
"""The duration of the node's lease: there is no other node, and a test may move time by years."""
WORKER: Final = "horae.testing"
Result = TypeVar("Result")
Handler = Callable[[ReceivedCall], Report | None]


class World:
    """The server of one tenant. Nothing runs by itself: `settle` does what is due, `advance` moves the clock."""

    def __init__(
        self, ctx: Context, node: Node, sender: RememberingSender, server: DevServer, at: datetime | None = None
    ) -> None:
        """`at`: its first time; without it the present time, in whole seconds."""
        self.ctx = ctx
        self.sender = sender
        self.server = server
        self.time = self.now().replace(microsecond=0) if at is None else at
        self._written_until = self.time
        self.handlers: dict[str, Handler] = {}
        self.taken: list[ReceivedCall] = []
        self._node = node
        self._copier = Copier(ctx.store)
        self._day: date | None = None

    def now(self) -> datetime:
        """The time of the cells' clocks: `time`, plus the real time since the clock was set."""
        return self.ctx.store.cells[0].clock.now()

    async def advance(self, to: datetime, collect: Callable[[], None]) -> int:
        """Move the clock from event to event up to a time; returns the number of events.

        1. Set the clock back to `time`, and settle what is due.
        2. Find the next event after `time`. If it is not later than `to`, set the clock to it.
        3. If it was quiet until then, only rows that became due can have work: fire these. If it is not quiet
           afterwards, or was not before, settle everything. Go on with step 2.
        4. Set the clock to `to`, and settle what is due.
        """
        events = 0
        await self.hold()
        await self.settle(collect)
        event = await self._next_event()
        while event.at is not None and event.at <= to:
            self.time = event.at  # not the clock's time: on a slow machine the clock may have passed the next event
            await self.hold()
            if event.quiet:
                await self._copier.once()
                await self._node.fire_due()
                collect()
                event = await self._next_event()
            if not event.quiet:
                await self.settle(collect)
                event = await self._next_event()
            events += 1
        self.time = to
        await self.hold()
        await self.settle(collect)
        return events

    async def run(self, command: Coroutine[Any, Any, Result]) -> Result:
        """Run a command at `time`, however long the test has taken so far."""
        await self.hold()
        try:
            return await command
        finally:
            self.note()

    def note(self) -> None:
        """Remember up to when the last command wrote."""
        self._written_until = self.now()

    async def settle_now(self, collect: Callable[[], None]) -> None:
        """Settle at `time`, and what the last command wrote in the milliseconds that it took."""
        await self.move(max(self.time, self._written_until))
        await self.settle(collect)

    async def hold(self) -> None:
        """Set the clock back to `time`, so that the next step does not depend on how long the test took."""
        await self.move(self.time)

    async def settle(self, collect: Callable[[], None]) -> None:
        """Do everything that is due now, and what follows from it, until nothing is left."""
        await self._copier.once()
        done = True
        while done:
            await self._node.drain()
            collect()
            done = await self._work() > 0
        collect()

    async def move(self, to: datetime) -> None:
        """Set the clock of every cell to a moment."""
        by = to - self.now()
        for cell in self.ctx.store.cells:
            async with cell.statement() as tx:
                await clock.move(tx, by)
            await cell.sync_clock()
        if self._day != to.date():
            self._day = to.date()
            for cell in self.ctx.store.cells:
                await partitions.stock(cell.statement)  # without the duty's warning: a moved clock finds no partitions

    async def _next_event(self) -> NextEvent:
        """The next event of all cells after `time`, and whether it is quiet in all of them until then."""
        found = []
        for cell in self.ctx.store.cells:
            async with cell.statement() as tx:
                found.append(await next_due.next_event(tx, self.time))
        first = min((event.at for event in found if event.at is not None), default=None)
        return NextEvent(first, all(event.quiet for event in found))

    async def _work(self) -> int:
        """Let the workers of the test claim from their queues; returns how many attempts they finished."""
        done = 0
        for queue, handler in self.handlers.items():
            for claimed in await workers.claim(self.ctx, queue, WORKER):
                said = self._report_of(claimed, handler)
                await workers.finish(self.ctx, [Finish(claimed.instance_id, claimed.attempt, claimed.token, said)])
                done += 1
        return done

    def _report_of(self, claimed: ClaimedAttempt, handler: Handler) -> Report:
        call = ReceivedCall(
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
            return FailureReport(f"{type(error).__name__}: {error}")


@asynccontextmanager
async def open_world(settings: Settings, at: datetime | None = None) -> AsyncIterator[World]:
    """A world on migrated cells, with its tenant and a running API server. `at`: its first time."""
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(Store.of(settings.all_cells()))
        try:
            tenant = await tenants.find(store, settings.tenant)
        except NotFound:
            tenant = await tenants.create(PlatformContext(store, WORKER), settings.tenant)
        ctx = Context.of(store, tenant, WORKER)
        allowances = Allowances.of(store)
        sender = RememberingSender(client_of(settings), egress_of=allowances.egress)
        node = Node(store, WORKER, LEASE_TTL, sender, allowances)
        stack.push_async_callback(node.leave)
        opened = await stack.enter_async_context(dev_server(settings, store, ctx))
        yield World(ctx, node, sender, opened, at)

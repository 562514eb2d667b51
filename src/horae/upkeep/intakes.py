"""Consumes the topics of intakes. A message is acknowledged after its change is committed.

The node that holds a tenant's home shard runs its intakes. If two nodes run the same intake, they only do the same work
twice. An intake that fails is closed, and after a pause begins again with the unacknowledged messages.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Final
from uuid import UUID

from horae.delivery.broker_connections import broker_rules
from horae.delivery.brokers import EventSource, source_of
from horae.domain.errors import CountReached, HoraeError, Unavailable
from horae.domain.events.channels import Channel, check_topic
from horae.domain.ids import encode_id, shard_in
from horae.runtime.cancellation import cancel_and_wait, cancellation_requested
from horae.runtime.clock import boottime
from horae.runtime.settings import BrokerSettings
from horae.runtime.sharing import SharedPlaces
from horae.runtime.telemetry import count, log
from horae.service.context import Context
from horae.service.events import intake_batches
from horae.service.events.intake_batches import IntakeMessage, IntakeResult
from horae.service.events.intakes import detail_of
from horae.service.tasks.compensations import caller
from horae.store.connections.each_cell import UNSERVED, Visits
from horae.store.events import channels, intakes
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tx import CUT, GONE

BATCH: Final = 1000
"""Messages in one batch at most."""
BATCHES_AT_ONCE: Final = 2
"""Batches of one cell's intakes that are written at the same time: all other work shares the cell's connections."""
BATCHES_AT_ONCE_OF_TENANT: Final = 1
"""Such batches of one tenant at the same time."""
MESSAGES_WAIT_S: Final = 1.0
"""Seconds that a consumer waits for messages."""
FAILURE_PAUSE_S: Final = 1.0
"""Seconds before an intake that failed begins again."""
BACKLOG_CHECK_INTERVAL_S: Final = 10.0
"""Seconds between two checks of how many messages are left in a topic."""
PASSING: Final[tuple[type[Exception], ...]] = (HoraeError, *GONE, *CUT)
"""Errors after which an intake begins again without a stack trace in the log."""
UNWRITABLE: Final[tuple[type[Exception], ...]] = (*PASSING, *UNSERVED)
"""Errors for which a cell cannot even hold why an intake fails: the log says what the cell lacks."""
Held = Callable[[CellProtocol], Iterable[int]]


class Intakes:
    """A duty: start the intakes that belong to this node, and end the others. Each intake runs in a task of its own."""

    def __init__(self, store: StoreProtocol, brokers: Mapping[str, BrokerSettings], held: Held) -> None:
        self.store, self._brokers, self._held = store, brokers, held
        self._going: dict[tuple[UUID, int], asyncio.Task[None]] = {}
        self._places: dict[str, SharedPlaces] = {
            cell.name: SharedPlaces(BATCHES_AT_ONCE, BATCHES_AT_ONCE_OF_TENANT) for cell in store.cells
        }
        self._visits = Visits("intakes")

    async def once(self) -> int:
        """Start and end intakes. Returns 0: the tasks do the work."""
        ours: dict[tuple[UUID, int], tuple[CellProtocol, Channel]] = {}

        async def visit(cell: CellProtocol) -> None:
            ours.update(await self._of(cell))

        await self._visits.each(self.store.cells, visit)
        self._forget_ended()
        for key in self._going.keys() - ours.keys():
            await cancel_and_wait(self._going.pop(key))
        for key in ours.keys() - self._going.keys():
            self._going[key] = asyncio.create_task(self._run_intake(*ours[key]))
        return 0

    async def close(self) -> None:
        """End all intakes."""
        going, self._going = self._going, {}
        await cancel_and_wait(*going.values())

    def _forget_ended(self) -> None:
        """Forget tasks that have ended by themselves, which none should: their intakes are started again."""
        for key in [key for key, task in self._going.items() if task.done()]:
            task = self._going.pop(key)
            log.error("intake.ended", intake=key[0], exc_info=None if task.cancelled() else task.exception())

    async def _of(self, cell: CellProtocol) -> dict[tuple[UUID, int], tuple[CellProtocol, Channel]]:
        """Returns the intakes of tenants whose home shard this node holds. A new version counts as another intake."""
        held = frozenset(self._held(cell))
        async with cell.statement() as tx:
            found = await channels.active(tx, "intake")
        return {(one.id, one.version): (cell, one) for one in found if shard_in(one.tenant_id) in held}

    async def _run_intake(self, cell: CellProtocol, channel: Channel) -> None:
        full = False
        while not cancellation_requested():
            try:
                await self._take_all(cell, channel, full=full)
            except PASSING as error:
                full = isinstance(error, CountReached)
                log.warning("intake.waiting", intake=channel.name, reason=str(error)[:500])
                await _fail(cell, channel, str(error))
            except (Exception, asyncio.CancelledError) as error:
                if cancellation_requested():  # else a library cancelled it when a connection was lost
                    raise
                log.exception("intake.failed", intake=channel.name)
                await _fail(cell, channel, type(error).__name__)
            await asyncio.sleep(FAILURE_PAUSE_S)

    async def _take_all(self, cell: CellProtocol, channel: Channel, *, full: bool) -> None:
        """Take batch after batch until an error or a cancellation. `full`: check first that messages can be parked."""
        ctx = await caller(self.store, cell, channel.tenant_id)
        ctx = ctx._replace(actor=f"intake/{channel.name}")
        if full:
            await intake_batches.check_room(ctx)
        topic = detail_of(channel).intake.source
        check_topic(broker_rules(self._brokers), ctx.tenant.name, topic)
        source = source_of(self._brokers[topic.broker], topic.topic, f"horae-{encode_id(channel.id)}")
        try:
            await source.open()
            look_at = boottime()
            while not cancellation_requested():  # a cancellation during a batch takes effect after it
                done = await self._batch(cell, ctx, channel, source)
                looks = boottime() >= look_at
                if looks:
                    tenant = (await caller(self.store, cell, channel.tenant_id)).tenant
                    ctx = ctx._replace(tenant=tenant)  # the tenant may have been widened
                    look_at = boottime() + BACKLOG_CHECK_INTERVAL_S
                await _write_progress(cell, channel, done, await _backlog_of(source) if looks else None)
        finally:
            await source.close()

    async def _batch(self, cell: CellProtocol, ctx: Context, channel: Channel, source: EventSource) -> IntakeResult:
        batch = await source.take(BATCH, MESSAGES_WAIT_S)
        if not batch:
            return IntakeResult(0, 0)
        async with self._places[cell.name].of(ctx.tenant.id):
            done = await intake_batches.apply_batch(
                ctx, detail_of(channel), [IntakeMessage(one.body, one.place) for one in batch]
            )
        await source.acknowledge(batch)
        count("intake.parked", done.parked, intake=channel.name)
        return done


async def _backlog_of(source: EventSource) -> int | None:
    """Returns how many messages are left; None where the broker does not say.

    A consumer may lack that right, and RocketMQ's protocol has no question for it.
    """
    try:
        return await source.backlog()
    except Unavailable as error:
        log.info("intake.backlog_unknown", reason=str(error)[:500])
        return None


async def _write_progress(cell: CellProtocol, channel: Channel, done: IntakeResult, waiting: int | None) -> None:
    """Write the progress of an intake."""
    taken = done.changes + done.parked
    if taken or waiting is not None:
        async with cell.tx() as tx:
            await intakes.move(tx, channel.id, channel.tenant_id, taken=taken, parked=done.parked, waiting=waiting)


async def _fail(cell: CellProtocol, channel: Channel, reason: str) -> None:
    """Write why an intake fails, where that is possible. What prevents it must not end the intake."""
    try:
        async with cell.tx() as tx:
            await intakes.move(tx, channel.id, channel.tenant_id, error=reason[:500])
    except Exception as error:
        if not isinstance(error, UNWRITABLE):
            log.exception("intake.failure_not_written", intake=channel.name)

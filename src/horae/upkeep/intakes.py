"""Takes schedule changes from the topics of intakes; what was taken is acknowledged after it is committed.

An intake is worked on by the node that holds its tenant's home shard; two at once would only do the same twice. One
that fails is closed, and begins anew after a pause with what it had not acknowledged.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Final
from uuid import UUID

from horae.delivery.brokers import EventSource, source_of
from horae.delivery.lines import known
from horae.domain.channels import Channel, check_topic
from horae.domain.errors import CountReached, HoraeError, Unavailable
from horae.domain.ids import letters, shard_in
from horae.runtime.clock import boottime
from horae.runtime.ending import ended, told
from horae.runtime.settings import BrokerSettings
from horae.runtime.sharing import SharedPlaces
from horae.runtime.telemetry import count, log
from horae.service import changes_in
from horae.service.changes_in import Came, Done
from horae.service.compensations import caller
from horae.service.context import Context
from horae.service.intakes import standing
from horae.store import channels, intakes
from horae.store.cells import Cell, Store
from horae.store.each import Visits
from horae.store.tx import CUT, GONE

BATCH: Final = 1000
PLACES, PLACES_OF_TENANT = 2, 1
"""Batches of intakes at home in one cell that are written at once: the connections of a cell are everybody's."""
WAIT: Final = 1.0
PAUSE: Final = 1.0
LOOK: Final = 10.0
"""Seconds between two looks at what is left in a topic."""
PASSING: Final[tuple[type[Exception], ...]] = (HoraeError, *GONE, *CUT)
Held = Callable[[Cell], Iterable[int]]


class Intakes:
    """A duty: looks which intakes are ours now, begins with those and ends the others. Each goes on by itself."""

    def __init__(self, store: Store, brokers: Mapping[str, BrokerSettings], held: Held) -> None:
        self.store, self._brokers, self._held = store, brokers, held
        self._going: dict[tuple[UUID, int], asyncio.Task[None]] = {}
        self._places: dict[str, SharedPlaces] = {
            cell.name: SharedPlaces(PLACES, PLACES_OF_TENANT) for cell in store.cells
        }
        self._visits = Visits("intakes")

    async def once(self) -> int:
        """Returns 0: what is taken is taken meanwhile."""
        ours: dict[tuple[UUID, int], tuple[Cell, Channel]] = {}

        async def visit(cell: Cell) -> None:
            ours.update(await self._of(cell))

        await self._visits.each(self.store.cells, visit)
        for key in self._going.keys() - ours.keys():
            await ended(self._going.pop(key))
        for key in ours.keys() - self._going.keys():
            self._going[key] = asyncio.create_task(self._go_on(*ours[key]))
        return 0

    async def close(self) -> None:
        """Take no more."""
        going, self._going = self._going, {}
        await ended(*going.values())

    async def _of(self, cell: Cell) -> dict[tuple[UUID, int], tuple[Cell, Channel]]:
        """Those whose tenants are at home in this cell, in a shard of ours; another version of one is another."""
        held = frozenset(self._held(cell))
        async with cell.statement() as tx:
            found = await channels.standing(tx, "intake")
        return {(one.id, one.version): (cell, one) for one in found if shard_in(one.tenant_id) in held}

    async def _go_on(self, cell: Cell, channel: Channel) -> None:
        full = False
        while not told():
            try:
                await self._take_all(cell, channel, full=full)
            except PASSING as error:
                full = isinstance(error, CountReached)
                log.warning("intake.waits", intake=channel.name, reason=str(error)[:500])
                await _fail(cell, channel, str(error))
            except (Exception, asyncio.CancelledError) as error:
                if told():  # else a library cancelled what it lost with a connection
                    raise
                log.exception("intake.failed", intake=channel.name)
                await _fail(cell, channel, type(error).__name__)
            await asyncio.sleep(PAUSE)

    async def _take_all(self, cell: Cell, channel: Channel, *, full: bool) -> None:
        """Batch after batch, until something fails or we are told to end; `full`: see first that there is room."""
        ctx = await caller(self.store, cell, channel.tenant_id)
        ctx = ctx._replace(actor=f"intake/{channel.name}")
        if full:
            await changes_in.check_room(ctx)
        topic = standing(channel).intake.source
        check_topic(known(self._brokers), ctx.tenant.name, topic)
        source = source_of(self._brokers[topic.broker], topic.topic, f"horae-{letters(channel.id)}")
        try:
            await source.open()
            look_at = boottime()
            while not told():  # whoever is told in the middle of a batch ends behind it
                done = await self._batch(cell, ctx, channel, source)
                looks = boottime() >= look_at
                if looks:
                    tenant = (await caller(self.store, cell, channel.tenant_id)).tenant
                    ctx = ctx._replace(tenant=tenant)  # it may have been widened
                    look_at = boottime() + LOOK
                await _tell(cell, channel, done, await _left(source) if looks else None)
        finally:
            await source.close()

    async def _batch(self, cell: Cell, ctx: Context, channel: Channel, source: EventSource) -> Done:
        batch = await source.take(BATCH, WAIT)
        if not batch:
            return Done(0, 0)
        async with self._places[cell.name].of(ctx.tenant.id):
            done = await changes_in.take(ctx, standing(channel), [Came(one.body, one.place) for one in batch])
        await source.done(batch)
        count("intake.parked", done.parked, intake=channel.name)
        return done


async def _left(source: EventSource) -> int | None:
    """How many lie there still; None where the broker does not say: who may take is not always allowed to ask."""
    try:
        return await source.waiting()
    except Unavailable as error:
        log.info("intake.unseen", reason=str(error)[:500])
        return None


async def _tell(cell: Cell, channel: Channel, done: Done, waiting: int | None) -> None:
    """Let people see how far it has come."""
    taken = done.changes + done.parked
    if taken or waiting is not None:
        async with cell.tx() as tx:
            await intakes.move(tx, channel.id, channel.tenant_id, taken=taken, parked=done.parked, waiting=waiting)


async def _fail(cell: Cell, channel: Channel, reason: str) -> None:
    """Let people see what is wrong, where that can be written."""
    with suppress(*PASSING):
        async with cell.tx() as tx:
            await intakes.move(tx, channel.id, channel.tenant_id, error=reason[:500])

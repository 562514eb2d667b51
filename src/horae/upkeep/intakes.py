"""Takes schedule changes from the topics of intakes; what was taken is acknowledged after it is committed.

An intake is worked on by the node that holds its tenant's home shard; two at once would only do the same twice. One
that fails is closed, and begins anew after a pause with what it had not acknowledged.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Final
from uuid import UUID

from horae.delivery.brokers import EventSource, source_of
from horae.delivery.lines import known
from horae.domain.channels import Channel, check_topic
from horae.domain.errors import HoraeError
from horae.domain.ids import letters, shard_in
from horae.runtime.ending import ended, told
from horae.runtime.settings import BrokerSettings
from horae.runtime.telemetry import count, log
from horae.service import changes_in
from horae.service.changes_in import Came
from horae.service.compensations import caller
from horae.service.context import Context
from horae.service.intakes import standing
from horae.store import channels
from horae.store.cells import Cell, Store
from horae.store.tx import CUT, GONE

BATCH: Final = 1000
WAIT: Final = 1.0
PAUSE: Final = 1.0
PASSING: Final[tuple[type[Exception], ...]] = (HoraeError, *GONE, *CUT)
Held = Callable[[Cell], Iterable[int]]


class Intakes:
    """A duty: looks which intakes are ours now, begins with those and ends the others. Each goes on by itself."""

    def __init__(self, store: Store, brokers: Mapping[str, BrokerSettings], held: Held) -> None:
        self.store, self._brokers, self._held = store, brokers, held
        self._going: dict[tuple[UUID, int], asyncio.Task[None]] = {}

    async def once(self) -> int:
        """Returns 0: what is taken is taken meanwhile."""
        ours: dict[tuple[UUID, int], tuple[Cell, Channel]] = {}
        for cell in self.store.cells:
            try:
                ours |= await self._of(cell)
            except GONE:
                log.warning("intake.cell_down", cell=cell.name)
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
        while not told():
            try:
                await self._take_all(cell, channel)
            except PASSING as error:
                log.warning("intake.waits", intake=channel.name, reason=str(error)[:500])
            except (Exception, asyncio.CancelledError):  # a library cancels what it lost with a connection, too
                if told():
                    raise
                log.exception("intake.failed", intake=channel.name)
            await asyncio.sleep(PAUSE)

    async def _take_all(self, cell: Cell, channel: Channel) -> None:
        """Batch after batch, until something fails or we are told to end."""
        ctx = await caller(self.store, cell, channel.tenant_id)
        ctx = ctx._replace(actor=f"intake/{channel.name}")
        topic = standing(channel).intake.source
        check_topic(known(self._brokers), ctx.tenant.name, topic)
        source = source_of(self._brokers[topic.broker], topic.topic, f"horae-{letters(channel.id)}")
        try:
            await source.open()
            while not told():  # whoever is told in the middle of a batch ends behind it
                await self._batch(ctx, channel, source)
        finally:
            await source.close()

    async def _batch(self, ctx: Context, channel: Channel, source: EventSource) -> None:
        batch = await source.take(BATCH, WAIT)
        if not batch:
            return
        done = await changes_in.take(ctx, standing(channel), [Came(one.body, one.place) for one in batch])
        await source.done(batch)
        count("intake.parked", done.parked, intake=channel.name)

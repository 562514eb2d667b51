"""The feed: delivers events to subscriptions, in order per job and at least once.

1. A subscription has a position in each shard block (64 shards). The node that is responsible for a block reads it.
2. Only events below the horizon are read: every transaction below it has ended, so no event can appear there later.
3. A position moves only after the sink has acknowledged the events. A feed that is killed delivers some events again,
   with the same ids.
4. A sink that is down blocks its own subscription only.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final, NamedTuple, Protocol
from uuid import UUID

import msgspec

from horae.domain.errors import Unavailable
from horae.domain.events import cloudevents
from horae.domain.events.channels import Channel, ChannelOwner, Subscription, WebhookAddress
from horae.domain.events.cloudevents import EventRow, OutgoingEvent
from horae.domain.tenants.tenants import SYSTEM
from horae.runtime.clock import boottime
from horae.store.events import channels, feeds
from horae.store.events.feeds import BLOCK, FeedMove, FeedPlace, JobFacts
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tenants import tenants
from horae.store.tx import CUT, Tx
from horae.upkeep.feed_rounds import FeedRounds, Held, places_since
from horae.upkeep.quiet import MAX_TRANSACTION_TIME
from horae.upkeep.spans import next_of

PAGE: Final = 2000
"""Events per page."""
POST: Final = 200
"""Events per page for a webhook, which accepts or refuses a page as a whole."""
JOB_REMEMBERED_S: Final = 5.0
"""Seconds for which the name and labels of a job are remembered."""
IDLE_POSITION_INTERVAL: Final = timedelta(seconds=10)
"""Time after which the position of a subscription without events is written."""
TOO_LONG: Final[tuple[type[Exception], ...]] = (*CUT, TimeoutError)
NOBODY: Final = JobFacts(None, {})
"""The name and labels of an unknown job."""


class Outlet(Protocol):
    """Delivers events to sinks."""

    async def send(
        self, channel: Channel, subscription: Subscription, owner: ChannelOwner, batch: Sequence[OutgoingEvent]
    ) -> None:
        """Deliver events, and wait until all are acknowledged. Raises where the sink refuses or is down."""

    async def keep(self, channel_ids: Iterable[UUID]) -> None:
        """Close what belongs to other channels: those no longer exist."""


class FeedPage(NamedTuple):
    """Events to deliver, and the position of each shard block after their delivery."""

    events: list[OutgoingEvent]
    moves: list[FeedMove]
    more: bool
    until: int


class Feed(FeedRounds[Channel]):
    """A duty: deliver a page of each subscription in each cell. A slow one goes on beside the next rounds."""

    def __init__(self, store: StoreProtocol, outlet: Outlet, held: Held) -> None:
        super().__init__(store, held, "feed")
        self._outlet = outlet
        self._about: dict[UUID, tuple[float, JobFacts]] = {}
        self._names: dict[UUID, str] = {}

    async def _readers(self, tx: Tx) -> Sequence[Channel]:
        return await channels.active(tx, "subscription")

    async def _keep(self, ids: Iterable[UUID]) -> None:
        await self._outlet.keep(ids)

    def _hear_all(self) -> frozenset[UUID]:
        return frozenset(id_ for id_, name in self._names.items() if name == SYSTEM)

    async def _step(self, cell: CellProtocol, reader: Channel, blocks: list[int]) -> int:
        """Read a page, deliver its events, then move the positions."""
        channel, wanted = reader, msgspec.convert(reader.body, Subscription)
        async with self._turn(cell):
            owner = await self._owner(cell, channel.tenant_id)
            read = await self._read(cell, channel, wanted, blocks, owner.name)
        self._quiet[cell.name].record_caught_up(channel, blocks, None)  # until the events are delivered
        if read.events:
            await self._outlet.send(channel, wanted, owner, read.events)
        if read.moves:
            async with self._turn(cell), cell.tx() as tx:
                await feeds.move(tx, channel.id, read.moves, None if read.more else tx.now - MAX_TRANSACTION_TIME)
        if not read.more:
            self._quiet[cell.name].record_caught_up(channel, blocks, read.until)
        return len(read.events) or int(read.more)

    async def _read(
        self, cell: CellProtocol, channel: Channel, wanted: Subscription, blocks: list[int], tenant: str
    ) -> FeedPage:
        """Read the next page of a subscription, and compute the positions after its delivery.

        1. Read the horizon first. A transaction that ends later belongs to the next page.
        2. Read the position of each shard block, and choose a span of transactions: from the lowest position, as long
           as `Strides` says, at most to the horizon or to the start of a range to skip.
        3. Read a page of events of the span. A full page ends after its last whole transaction. A timeout shortens the
           next span.
        4. Drop the events that their shard block has already passed, and the events that the filter of the subscription
           excludes by event name or by label.
        5. Every position moves to the end of the span. An idle subscription writes its positions only once in
           `IDLE_POSITION_INTERVAL`.
        """
        async with cell.tx() as tx:
            horizon = await feeds.horizon(tx)  # before the page is read
            # A cell that was added later, or was down then, is read from when the subscription was made.
            places = await places_since(tx, channel.id, channel.tenant_id, blocks, channel.created_at, horizon)
            key, most = (cell.name, channel.id), POST if isinstance(wanted.sink, WebhookAddress) else PAGE
            since, until = next_of(places, horizon, self._strides.of(key))
            await feeds.wide(tx)
            only = None if tenant == SYSTEM else channel.tenant_id
            at = min(place.at for place in places)
            began_at = boottime()
            try:
                found = await feeds.page(tx, (since, until), at, blocks, only, most)
            except TOO_LONG:
                self._strides.shrink(key)
                raise
            if len(found) >= most:
                until = found[-1].xid + 1  # whole transactions only
            self._strides.learn(key, until - since, len(found), most, boottime() - began_at)
            stood = {place.block: place for place in places}
            new = [one for one in found if one.xid >= stood[one.shard // BLOCK].xid and wanted.wants(one.event)]
            about = await self._jobs(tx, {one.job_id for one in new if one.job_id is not None})
            new = [one for one in new if wanted.covers(_about(about, one).labels)]
            idle = (
                not new
                and tx.now - max(place.moved_at for place in places) < IDLE_POSITION_INTERVAL
                and until >= horizon
            )
        sent = [one.shard // BLOCK for one in new]
        moves = [] if idle else [position_after(place, until, sent.count(place.block)) for place in places]
        events = [cloudevents.outgoing_event(cell.name, one, _about(about, one).name) for one in new]
        return FeedPage(events, moves, until < horizon, until)

    async def _jobs(self, tx: Tx, ids: set[UUID]) -> dict[UUID, JobFacts]:
        """Returns names and labels of jobs, at most `JOB_REMEMBERED_S` old."""
        now = boottime()
        unknown = [id_ for id_ in ids if id_ not in self._about or self._about[id_][0] < now - JOB_REMEMBERED_S]
        if unknown:
            if len(self._about) > 100_000:
                self._about.clear()
            self._about |= {id_: (now, about) for id_, about in (await feeds.jobs(tx, unknown)).items()}
        return {id_: self._about[id_][1] for id_ in ids if id_ in self._about}

    async def _owner(self, cell: CellProtocol, tenant_id: UUID) -> ChannelOwner:
        """Returns the name of a tenant, which never changes, and its current egress rules. Raises if it is unknown."""
        async with cell.statement() as tx:
            if tenant_id not in self._names and (known := await tenants.known(tx, tenant_id)) is not None:
                self._names[tenant_id] = known[0].name
            allowance = (await tenants.allowances(tx, [tenant_id])).get(tenant_id)
        if allowance is None or tenant_id not in self._names:
            raise Unavailable("the tenant is not known here yet")
        return ChannelOwner(self._names[tenant_id], allowance.egress)


def _about(known: dict[UUID, JobFacts], one: EventRow) -> JobFacts:
    return known.get(one.job_id, NOBODY) if one.job_id is not None else NOBODY


def position_after(place: FeedPlace, until: int, sent: int) -> FeedMove:
    """Returns the position of a shard block after everything below `until` is delivered."""
    xid, skip_from, skip_to = max(place.xid, until), place.skip_from, place.skip_to
    if skip_from is not None and skip_to is not None and xid >= skip_from:
        xid, skip_from, skip_to = max(xid, skip_to), None, None
    return FeedMove(place.block, place.revision, xid, skip_from, skip_to, sent)

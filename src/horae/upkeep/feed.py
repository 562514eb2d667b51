"""The feed: delivers events to subscriptions, in order per job and at least once.

1. A subscription has a position in each shard block (64 shards). The node that is responsible for a block reads it.
2. Only events below the horizon are read: every transaction below it has ended, so no event can appear there later.
3. A position moves only after the sink has acknowledged the events. A feed that is killed delivers some events again,
   with the same ids.
4. A sink that is down blocks its own subscription only.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final, NamedTuple, Protocol
from uuid import UUID

import msgspec

from horae.domain.errors import HoraeError, Unavailable
from horae.domain.events import cloudevents
from horae.domain.events.channels import Channel, ChannelOwner, Subscription, WebhookAddress
from horae.domain.events.cloudevents import EventRow, OutgoingEvent
from horae.domain.tenants.tenants import SYSTEM
from horae.runtime.cancellation import cancel_and_wait
from horae.runtime.clock import boottime
from horae.runtime.setbacks import Setbacks
from horae.runtime.telemetry import log
from horae.store.connections.each_cell import Visits
from horae.store.events import channels, feeds
from horae.store.events.feeds import BLOCK, BLOCKS, FeedMove, FeedPlace, JobFacts
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tenants import tenants
from horae.store.tx import CUT, GONE, Tx
from horae.upkeep.quiet import MAX_TRANSACTION_TIME, QuietSubscriptions
from horae.upkeep.spans import Strides, next_of

PAGE: Final = 2000
"""Events per page."""
POST: Final = 200
"""Events per page for a webhook, which accepts or refuses a page as a whole."""
JOB_REMEMBERED_S: Final = 5.0
"""Seconds for which the name and labels of a job are remembered."""
IDLE_POSITION_INTERVAL: Final = timedelta(seconds=10)
"""Time after which the position of a subscription without events is written."""
ROUND_TIMEOUT_S: Final = 1.0
"""Seconds that a round waits for its steps at most."""
OTHER_STEPS_WAIT_S: Final = 0.05
"""Seconds that a round waits for other steps after one has delivered events."""
TOO_LONG: Final[tuple[type[Exception], ...]] = (*CUT, TimeoutError)
NOBODY: Final = JobFacts(None, {})
"""The name and labels of an unknown job."""
Held = Callable[[CellProtocol], Iterable[int]]


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


class Feed:
    """A duty: deliver a page of each subscription in each cell. A slow one goes on beside the next rounds."""

    def __init__(self, store: StoreProtocol, outlet: Outlet, held: Held) -> None:
        self.store, self._outlet, self._held = store, outlet, held
        self._going: dict[tuple[str, UUID], asyncio.Task[int]] = {}
        self._quiet: dict[str, QuietSubscriptions] = {}
        self._database: dict[str, asyncio.Lock] = {}
        self._strides = Strides()
        self._setbacks = Setbacks()
        self._about: dict[UUID, tuple[float, JobFacts]] = {}
        self._names: dict[UUID, str] = {}
        self._visits = Visits("feed")

    async def once(self) -> int:
        """Run a step of each subscription that may have events. Returns how many events were delivered."""
        standing: dict[str, set[UUID]] = {}

        async def visit(cell: CellProtocol) -> None:
            standing[cell.name] = await self._begin(cell)

        await self._visits.each(self.store.cells, visit)
        if len(standing) == len(self.store.cells):  # else a missing cell may still have the channel
            await self._outlet.keep(set().union(*standing.values()))
            self._strides.keep({(name, id_) for name, ids in standing.items() for id_ in ids})
        return await self._settle()

    async def close(self) -> None:
        """Cancel the running steps."""
        await cancel_and_wait(*self._going.values())

    async def _settle(self) -> int:
        """Wait for steps to end. Returns how many events they delivered.

        A step that delivered events ends the wait soon: its subscription has more events, and must not wait for a slow
        sink.
        """
        delivered, until = 0, boottime() + ROUND_TIMEOUT_S
        while self._going and (left_s := until - boottime()) > 0:
            steps = self._going.values()
            done, _ = await asyncio.wait(steps, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
            self._going = {key: task for key, task in self._going.items() if task not in done}
            delivered += sum(task.result() for task in done)
            if delivered:
                until = min(until, boottime() + OTHER_STEPS_WAIT_S)
        return delivered

    async def _begin(self, cell: CellProtocol) -> set[UUID]:
        """Query a cell once for all subscriptions, and start a step of each that may have events. Returns all ids."""
        blocks = blocks_of(self._held(cell), self.store.shards_of(cell))
        quiet = self._quiet.setdefault(cell.name, QuietSubscriptions())
        async with cell.tx() as tx:
            found = await channels.active(tx, "subscription")
            look = await quiet.look(tx, blocks) if found and blocks else None
        if look is not None:
            platform = frozenset(id_ for id_, name in self._names.items() if name == SYSTEM)
            busy = quiet.busy(look, found, blocks, platform)
            for channel in found:
                key = cell.name, channel.id
                if channel.id in busy and key not in self._going and self._setbacks.may_try(_try_of(cell, channel)):
                    self._going[key] = asyncio.create_task(self._step_or_log(cell, channel, blocks))
        return {channel.id for channel in found}

    async def _step_or_log(self, cell: CellProtocol, channel: Channel, blocks: list[int]) -> int:
        """Run a step of one subscription in one cell. A failure is logged, and tried again after a pause."""
        key = _try_of(cell, channel)
        try:
            done = await self._step(cell, channel, blocks)
            self._setbacks.record_success(key)
            return done
        except GONE as error:
            log.warning("feed.cell_down", cell=cell.name, reason=str(error))
        except HoraeError as error:
            self._setbacks.record_failure(key)
            await self._record_failure(cell, channel, blocks, str(error)[:500])
        except CUT:
            self._setbacks.record_failure(key)
            await self._record_failure(
                cell, channel, blocks, "the database took too long; fewer events are read the next time"
            )
        except Exception:
            self._setbacks.record_failure(key)
            log.exception("feed.failed", subscription=channel.name)
        return 0

    async def _record_failure(self, cell: CellProtocol, channel: Channel, blocks: list[int], reason: str) -> None:
        """Log and write why a subscription waits, where that is possible."""
        log.warning("feed.waiting", subscription=channel.name, reason=reason)
        with suppress(*GONE, *CUT):
            async with self._turn(cell), cell.tx() as tx:
                await feeds.fail(tx, channel.id, blocks, reason)

    async def _step(self, cell: CellProtocol, channel: Channel, blocks: list[int]) -> int:
        """Read a page, deliver its events, then move the positions."""
        wanted = msgspec.convert(channel.body, Subscription)
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
            places = await self._places(tx, channel, blocks, horizon)
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
        moves = [] if idle else [_position_after(place, until, sent.count(place.block)) for place in places]
        events = [cloudevents.outgoing_event(cell.name, one, _about(about, one).name) for one in new]
        return FeedPage(events, moves, until < horizon, until)

    def _turn(self, cell: CellProtocol) -> asyncio.Lock:
        """The lock of a cell: all steps together use one connection at a time, because other work shares the pool."""
        return self._database.setdefault(cell.name, asyncio.Lock())

    async def _places(self, tx: Tx, channel: Channel, blocks: list[int], horizon: int) -> list[FeedPlace]:
        """Returns the position of each shard block. A subscription without positions here begins at the horizon."""
        places = await feeds.positions(tx, channel.id, blocks)
        if len(places) < len(blocks):
            await feeds.begin(tx, channel.id, channel.tenant_id, blocks, horizon)
            places = await feeds.positions(tx, channel.id, blocks)
        return places

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


def blocks_of(held: Iterable[int], here: Sequence[int]) -> list[int]:
    """Returns the shard blocks of this node.

    A block belongs to the node that holds the first open shard of this cell at or after the start of the block. So
    every block has exactly one such shard, even if all its own shards have moved away: the events they left are still
    delivered.
    """
    mine, first = frozenset(held), sorted(here)
    if not first:
        return []
    found = []
    for block in BLOCKS:
        start = next((shard for shard in first if shard >= block * BLOCK), first[0])
        if start in mine:
            found.append(block)
    return found


def _try_of(cell: CellProtocol, channel: Channel) -> tuple[str, UUID, int]:
    """The key under which failures are remembered. A subscription that was changed is tried at once."""
    return cell.name, channel.id, channel.version


def _about(known: dict[UUID, JobFacts], one: EventRow) -> JobFacts:
    return known.get(one.job_id, NOBODY) if one.job_id is not None else NOBODY


def _position_after(place: FeedPlace, until: int, sent: int) -> FeedMove:
    """Returns the position of a shard block after everything below `until` is delivered."""
    xid, skip_from, skip_to = max(place.xid, until), place.skip_from, place.skip_to
    if skip_from is not None and skip_to is not None and xid >= skip_from:
        xid, skip_from, skip_to = max(xid, skip_to), None, None
    return FeedMove(place.block, place.revision, xid, skip_from, skip_to, sent)

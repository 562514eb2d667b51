"""The feed: everything that happens, told to whoever subscribed to it, in order per job and at least once.

Each subscription goes over the blocks of shards that this node looks after, below the horizon of transactions. Its
place moves only after its sink has acknowledged what was read: a feed that is killed tells some events again, with the
ids they had before. A sink that is down holds back its own subscription only.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final, NamedTuple, Protocol
from uuid import UUID

import msgspec

from horae.domain import cloudevents
from horae.domain.channels import Channel, Owner, Subscription, Webhook
from horae.domain.cloudevents import Happened, Told
from horae.domain.errors import HoraeError, Unavailable
from horae.domain.tenants import SYSTEM
from horae.runtime.clock import boottime
from horae.runtime.ending import ended
from horae.runtime.setbacks import Setbacks
from horae.runtime.telemetry import log
from horae.store import channels, feeds, tenants
from horae.store.cells import Cell, Store
from horae.store.each import Visits
from horae.store.feeds import BLOCK, BLOCKS, About, Move, Place
from horae.store.tx import CUT, GONE, Tx
from horae.upkeep.quiet import LATE, QuietSubscriptions
from horae.upkeep.spans import Strides, next_of

PAGE: Final = 2000
POST: Final = 200
"""A webhook takes a page in one post, or none of it."""
KNOWN: Final = 5.0
IDLE: Final = timedelta(seconds=10)
"""A place where nothing happened is written so seldom."""
WAIT: Final = 1.0
TOGETHER_S: Final = 0.05
"""Seconds that other steps have to end after one that told something: a round looks once for all of them."""
TOO_LONG: Final[tuple[type[Exception], ...]] = (*CUT, TimeoutError)
NOBODY: Final = About(None, {})
Held = Callable[[Cell], Iterable[int]]


class Outlet(Protocol):
    """Where subscriptions lead."""

    async def send(self, channel: Channel, subscription: Subscription, owner: Owner, batch: Sequence[Told]) -> None:
        """Tell, and wait until all is acknowledged. Raises a refusal where that cannot be."""

    async def keep(self, channel_ids: Iterable[UUID]) -> None:
        """Let go of what led to channels that are gone."""


class Read(NamedTuple):
    """A look: what happened, and where each block stands when all of it is told."""

    events: list[Told]
    moves: list[Move]
    more: bool
    until: int


class Feed:
    """A duty: a page of every subscription in every cell. A slow one is waited for a second, and goes on by itself."""

    def __init__(self, store: Store, outlet: Outlet, held: Held) -> None:
        self.store, self._outlet, self._held = store, outlet, held
        self._going: dict[tuple[str, UUID], asyncio.Task[int]] = {}
        self._quiet: dict[str, QuietSubscriptions] = {}
        self._database: dict[str, asyncio.Lock] = {}
        self._strides = Strides()
        self._setbacks = Setbacks()
        self._about: dict[UUID, tuple[float, About]] = {}
        self._names: dict[UUID, str] = {}
        self._visits = Visits("feed")

    async def once(self) -> int:
        """Returns how many events were told; more than none: there may be more."""
        standing: dict[str, set[UUID]] = {}

        async def visit(cell: Cell) -> None:
            standing[cell.name] = await self._begin(cell)

        await self._visits.each(self.store.cells, visit)
        if len(standing) == len(self.store.cells):  # else what leads nowhere is not known
            await self._outlet.keep(set().union(*standing.values()))
            self._strides.keep({(name, id_) for name, ids in standing.items() for id_ in ids})
        return await self._settle()

    async def close(self) -> None:
        """End what is under way."""
        await ended(*self._going.values())

    async def _settle(self) -> int:
        """Wait for steps to end, and return how many events they told.

        A step that told something ends the wait soon: its subscription has more to tell, and waits for no slow sink.
        """
        told, until = 0, boottime() + WAIT
        while self._going and (left_s := until - boottime()) > 0:
            steps = self._going.values()
            done, _ = await asyncio.wait(steps, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
            self._going = {key: task for key, task in self._going.items() if task not in done}
            told += sum(task.result() for task in done)
            if told:
                until = min(until, boottime() + TOGETHER_S)
        return told

    async def _begin(self, cell: Cell) -> set[UUID]:
        """One look for all subscriptions; then a step of each that may have something to be told."""
        blocks = blocks_of(self._held(cell), self.store.shards_of(cell))
        quiet = self._quiet.setdefault(cell.name, QuietSubscriptions())
        async with cell.tx() as tx:
            found = await channels.standing(tx, "subscription")
            look = await quiet.look(tx, blocks) if found and blocks else None
        if look is not None:
            platform = frozenset(id_ for id_, name in self._names.items() if name == SYSTEM)
            busy = quiet.busy(look, found, blocks, platform)
            for channel in found:
                key = cell.name, channel.id
                if channel.id in busy and key not in self._going and self._setbacks.may_try(key):
                    self._going[key] = asyncio.create_task(self._alone(cell, channel, blocks))
        return {channel.id for channel in found}

    async def _alone(self, cell: Cell, channel: Channel, blocks: list[int]) -> int:
        """One subscription in one cell; what fails is told of, and tried again after a pause."""
        key = cell.name, channel.id
        try:
            done = await self._step(cell, channel, blocks)
            self._setbacks.succeeded(key)
            return done
        except GONE as error:
            log.warning("feed.cell_down", cell=cell.name, reason=str(error))
        except HoraeError as error:
            await self._tell_why(cell, channel, blocks, str(error)[:500])
        except CUT:
            self._setbacks.failed(key)
            await self._tell_why(
                cell, channel, blocks, "the database took too long; fewer events are read the next time"
            )
        except Exception:
            self._setbacks.failed(key)
            log.exception("feed.failed", subscription=channel.name)
        return 0

    async def _tell_why(self, cell: Cell, channel: Channel, blocks: list[int], reason: str) -> None:
        """Let people see why nothing is told now, where that can be written."""
        log.warning("feed.waits", subscription=channel.name, reason=reason)
        with suppress(*GONE, *CUT):
            async with self._turn(cell), cell.tx() as tx:
                await feeds.fail(tx, channel.id, blocks, reason)

    async def _step(self, cell: Cell, channel: Channel, blocks: list[int]) -> int:
        wanted = msgspec.convert(channel.body, Subscription)
        async with self._turn(cell):
            owner = await self._owner(cell, channel.tenant_id)
            read = await self._read(cell, channel, wanted, blocks, owner.name)
        self._quiet[cell.name].caught_up(channel, blocks, None)  # until it is told
        if read.events:
            await self._outlet.send(channel, wanted, owner, read.events)
        if read.moves:
            async with self._turn(cell), cell.tx() as tx:
                await feeds.move(tx, channel.id, read.moves, None if read.more else tx.now - LATE)
        if not read.more:
            self._quiet[cell.name].caught_up(channel, blocks, read.until)
        return len(read.events) or int(read.more)

    async def _read(self, cell: Cell, channel: Channel, wanted: Subscription, blocks: list[int], tenant: str) -> Read:
        async with cell.tx() as tx:
            horizon = await feeds.horizon(tx)  # before the look: what ends meanwhile is for the next
            places = await self._places(tx, channel, blocks, horizon)
            key, most = (cell.name, channel.id), POST if isinstance(wanted.sink, Webhook) else PAGE
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
                until = found[-1].xid + 1  # whole transactions: the last is not cut
            self._strides.learn(key, until - since, len(found), most, boottime() - began_at)
            stood = {place.block: place for place in places}
            new = [one for one in found if one.xid >= stood[one.shard // BLOCK].xid and wanted.wants(one.event)]
            about = await self._jobs(tx, {one.job_id for one in new if one.job_id is not None})
            new = [one for one in new if wanted.covers(_about(about, one).labels)]
            idle = not new and tx.now - max(place.moved_at for place in places) < IDLE and until >= horizon
        sent = [one.shard // BLOCK for one in new]
        moves = [] if idle else [_moved(place, until, sent.count(place.block)) for place in places]
        events = [cloudevents.told(cell.name, one, _about(about, one).name) for one in new]
        return Read(events, moves, until < horizon, until)

    def _turn(self, cell: Cell) -> asyncio.Lock:
        """One connection of a cell at a time, however many subscriptions take a step: the pool is everybody's."""
        return self._database.setdefault(cell.name, asyncio.Lock())

    async def _places(self, tx: Tx, channel: Channel, blocks: list[int], horizon: int) -> list[Place]:
        """Where each block stands. A cell that was away when the subscription was made begins now."""
        places = await feeds.positions(tx, channel.id, blocks)
        if len(places) < len(blocks):
            await feeds.begin(tx, channel.id, channel.tenant_id, blocks, horizon)
            places = await feeds.positions(tx, channel.id, blocks)
        return places

    async def _jobs(self, tx: Tx, ids: set[UUID]) -> dict[UUID, About]:
        """Names and labels, as they were a few seconds ago."""
        now = boottime()
        unknown = [id_ for id_ in ids if id_ not in self._about or self._about[id_][0] < now - KNOWN]
        if unknown:
            if len(self._about) > 100_000:
                self._about.clear()
            self._about |= {id_: (now, about) for id_, about in (await feeds.jobs(tx, unknown)).items()}
        return {id_: self._about[id_][1] for id_ in ids if id_ in self._about}

    async def _owner(self, cell: Cell, tenant_id: UUID) -> Owner:
        """The name never changes. Where its webhooks may lead is read for each step; the unknown is not allowed."""
        async with cell.statement() as tx:
            if tenant_id not in self._names and (known := await tenants.known(tx, tenant_id)) is not None:
                self._names[tenant_id] = known[0].name
            allowance = (await tenants.allowances(tx, [tenant_id])).get(tenant_id)
        if allowance is None or tenant_id not in self._names:
            raise Unavailable("the tenant is not known here yet")
        return Owner(self._names[tenant_id], allowance.egress)


def blocks_of(held: Iterable[int], here: Sequence[int]) -> list[int]:
    """The blocks that are ours: of each, who holds the first shard that is open here at or behind its beginning.

    Every block has exactly one such shard, also one whose shards have all moved away: what they left is still told.
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


def _about(known: dict[UUID, About], one: Happened) -> About:
    return known.get(one.job_id, NOBODY) if one.job_id is not None else NOBODY


def _moved(place: Place, until: int, sent: int) -> Move:
    """Where a block stands when everything below `until` is told."""
    xid, skip_from, skip_to = max(place.xid, until), place.skip_from, place.skip_to
    if skip_from is not None and skip_to is not None and xid >= skip_from:
        xid, skip_from, skip_to = max(xid, skip_to), None, None
    return Move(place.block, place.revision, xid, skip_from, skip_to, sent)

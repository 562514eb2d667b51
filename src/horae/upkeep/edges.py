"""Follows edges: starts a job when an instance of another job has ended.

1. The edges of all cells are read every `EDGES_REMEMBERED_S`; those of a cell that is down stay as they were.
2. An edge has a position in each shard block of each cell, as a subscription. It begins at the time at which the edge
   was made.
3. Only ends below the horizon are read: every transaction below it has ended, so none can appear there later.
4. What an end starts has an idempotency key made of the ended instance. A position moves only after everything was
   started or refused for good. A node that is killed in between starts it again, which changes nothing.
5. An end that cannot be followed now holds back its own edge only; one that never can leaves JOB_START_REFUSED.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.errors import Conflict, HoraeError, NotFound
from horae.domain.ids import Prefix, public
from horae.domain.jobs.edges import STATES_OF, Edge, EndedInstance, circle_of, circle_text
from horae.runtime.clock import boottime
from horae.runtime.telemetry import count, log
from horae.service.context import Context
from horae.service.jobs import starts
from horae.service.jobs.edges import source_of
from horae.service.refusals import is_final, refusal_of
from horae.service.tasks.compensations import caller
from horae.store.connections.each_cell import Visits
from horae.store.events import feeds
from horae.store.events.feeds import BLOCK, FeedMove, FeedPlace
from horae.store.jobs import edges
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tx import CUT, GONE, Tx
from horae.upkeep.feed import IDLE_POSITION_INTERVAL, TOO_LONG, position_after
from horae.upkeep.feed_rounds import FeedRounds, Held, places_since
from horae.upkeep.quiet import MAX_TRANSACTION_TIME
from horae.upkeep.spans import next_of

PAGE: Final = 200
"""Ended instances per page."""
TASKS_AT_ONCE: Final = 4
"""Tasks that one step of an edge puts at the same time; a cell has ten connections for this process."""
EDGES_REMEMBERED_S: Final = 2.0
"""Seconds for which the edges of a cell are remembered: a new edge begins in the past, so none of its ends is lost."""
ACTOR: Final = "edge"
"""The actor of what an edge starts, in the audit log."""
LONGEST_REASON: Final = 500


class EndedPage(NamedTuple):
    """Ended instances to follow, and the position of each shard block after that."""

    ended: list[EndedInstance]
    moves: list[FeedMove]
    more: bool
    until: int


class EdgeFollower(FeedRounds[Edge]):
    """A duty: follow a page of each edge in each cell."""

    def __init__(self, store: StoreProtocol, held: Held) -> None:
        super().__init__(store, held, "edges")
        self._edges: dict[str, list[Edge]] = {}
        self._circles: dict[UUID, str] = {}
        self._learned_at: float | None = None
        self._learning = Visits("edges")

    async def once(self) -> int:
        """Follow each edge whose tenant had an end. Returns how many ends were followed."""
        if self._learned_at is None or boottime() >= self._learned_at + EDGES_REMEMBERED_S:
            await self._learning.each(self.store.cells, self._learn)
            self._circles = circles_of(self._all())
            self._learned_at = boottime()
        return await super().once() if self._all() else await self._settle()

    async def _learn(self, cell: CellProtocol) -> None:
        async with cell.statement() as tx:
            self._edges[cell.name] = await edges.active(tx)

    def _all(self) -> list[Edge]:
        return [edge for found in self._edges.values() for edge in found]

    async def _readers(self, tx: Tx) -> Sequence[Edge]:
        return self._all()

    async def _step(self, cell: CellProtocol, reader: Edge, blocks: list[int]) -> int:
        """Read a page, start what its ends start, then move the positions."""
        if reader.id in self._circles:
            raise Conflict(f"jobs start each other without end, so none is started: {self._circles[reader.id]}")
        ctx = await caller(self.store, cell, reader.tenant_id, ACTOR)
        source_id = await self._source_id(ctx, reader)
        async with self._turn(cell):
            read = await self._read(cell, reader, source_id, blocks)
        self._quiet[cell.name].record_caught_up(reader, blocks, None)  # until everything is started
        refusal = await self._start_all(ctx, reader, read.ended)
        if read.moves:
            async with self._turn(cell), cell.tx() as tx:
                at = None if read.more else tx.now - MAX_TRANSACTION_TIME
                await edges.move(tx, reader, read.moves, at, refusal, has_started=bool(read.ended))
        if not read.more:
            self._quiet[cell.name].record_caught_up(reader, blocks, read.until)
        return len(read.ended) or int(read.more)

    async def _record_failure(self, cell: CellProtocol, reader: Edge, blocks: list[int], reason: str) -> None:
        with suppress(*GONE, *CUT):
            async with self._turn(cell), cell.tx() as tx:
                horizon = await feeds.horizon(tx)
                await _places(tx, reader, blocks, horizon)  # a new edge that fails at once has none for the reason
        await super()._record_failure(cell, reader, blocks, reason)

    async def _source_id(self, ctx: Context, edge: Edge) -> UUID | None:
        """Returns the id of the job that is followed; None where it was removed: then there is nothing to follow."""
        try:
            return (await source_of(ctx, edge.after)).id
        except NotFound:
            return None
        except Exception as error:
            refusal = refusal_of(error)
            if refusal is None:
                raise
            raise refusal from error

    async def _read(self, cell: CellProtocol, edge: Edge, source_id: UUID | None, blocks: list[int]) -> EndedPage:
        """Read the next page of an edge, and compute the positions after it, in the same way as the feed does."""
        async with cell.tx() as tx:
            horizon = await feeds.horizon(tx)  # before the page is read
            places = await _places(tx, edge, blocks, horizon)
            key = cell.name, edge.id
            since, until = next_of(places, horizon, self._strides.of(key))
            found: list[EndedInstance] = []
            if source_id is None:
                until = horizon
            else:
                await feeds.wide(tx)
                at, began_at = min(place.at for place in places), boottime()
                states = STATES_OF[edge.after.on]
                try:
                    found = await edges.ended(tx, (since, until), at, blocks, edge, source_id, states, PAGE)
                except TOO_LONG:
                    self._strides.shrink(key)
                    raise
                if len(found) >= PAGE:
                    until = found[-1].xid + 1  # whole transactions only
                self._strides.learn(key, until - since, len(found), PAGE, boottime() - began_at)
            stood = {place.block: place for place in places}
            new = [one for one in found if one.xid >= stood[one.shard // BLOCK].xid]
            moved_at = max(place.moved_at for place in places)
            idle = not new and tx.now - moved_at < IDLE_POSITION_INTERVAL and until >= horizon
        sent = [one.shard // BLOCK for one in new]
        moves = [] if idle else [position_after(place, until, sent.count(place.block)) for place in places]
        return EndedPage(new, moves, until < horizon, until)

    async def _start_all(self, ctx: Context, edge: Edge, ended: Sequence[EndedInstance]) -> str | None:
        """Start what each end starts. Returns why one of them started nothing, if that is for good.

        Tasks are put several at the same time, instances one after another: in the order in which they ended.
        Raises after all were tried if one cannot be started now: the page is then followed again.
        """
        room = asyncio.Semaphore(TASKS_AT_ONCE if edge.is_keyed else 1)

        async def one(end: EndedInstance) -> str | HoraeError | None:
            async with room:
                return await self._start(ctx, edge, end)

        said = await asyncio.gather(*map(one, ended))
        for answer in said:
            if isinstance(answer, HoraeError):
                raise answer
        return next((answer for answer in reversed(said) if isinstance(answer, str)), None)

    async def _start(self, ctx: Context, edge: Edge, end: EndedInstance) -> str | HoraeError | None:
        """Start what one end starts. Returns the reason of a refusal, or an error that may pass."""
        try:
            await starts.start(ctx, edge, end)
        except Exception as error:
            refusal = refusal_of(error)
            if refusal is None:
                raise
            return await self._refuse(ctx, edge, end, refusal) if is_final(refusal) else refusal
        return None

    async def _refuse(self, ctx: Context, edge: Edge, one: EndedInstance, error: HoraeError) -> str:
        """Log and record an end that can never be followed. Returns the reason as the edge shows it."""
        ended, reason = public(Prefix.INSTANCE, one.instance_id), str(error)[:LONGEST_REASON]
        log.warning("edges.refused", job=edge.job_id, after=edge.after.job, instance=one.instance_id, reason=reason)
        count("edges.refused", 1)
        await starts.refuse(ctx, edge, one, error.code, reason)
        return f"refused for {ended}: {error.code}: {reason}"


def circles_of(found: Sequence[Edge]) -> dict[UUID, str]:
    """Returns the edges of circles, each with its circle. Two requests at the same time can close one."""
    sources: dict[UUID, dict[str, str]] = defaultdict(dict)
    for edge in found:
        sources[edge.tenant_id][edge.name] = edge.after.job
    circles = {edge.id: circle_of(edge.name, sources[edge.tenant_id]) for edge in found}
    return {id_: circle_text(circle) for id_, circle in circles.items() if circle}


async def _places(tx: Tx, edge: Edge, blocks: list[int], horizon: int) -> list[FeedPlace]:
    """Returns the position of each shard block. An edge without positions here begins when it was made."""
    return await places_since(tx, edge.id, edge.tenant_id, blocks, edge.after.since or tx.now, horizon)

"""The rounds in which events are read: a step of each reader that may have some, in each cell.

A reader is a subscription, or an edge between jobs. A slow or failing one goes on beside the next rounds, and holds
back no other.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final, Generic, TypeVar
from uuid import UUID

from horae.domain.errors import HoraeError
from horae.runtime.cancellation import cancel_and_wait
from horae.runtime.clock import boottime
from horae.runtime.setbacks import Setbacks
from horae.runtime.telemetry import log
from horae.store.connections.each_cell import Visits
from horae.store.events import feeds
from horae.store.events.feeds import BLOCK, BLOCKS, FeedPlace
from horae.store.protocol import CellProtocol, StoreProtocol
from horae.store.tx import CUT, GONE, Tx
from horae.upkeep.quiet import FeedReader, QuietSubscriptions
from horae.upkeep.spans import Strides

ROUND_TIMEOUT_S: Final = 1.0
"""Seconds that a round waits for its steps at most."""
OTHER_STEPS_WAIT_S: Final = 0.05
"""Seconds that a round waits for other steps after one has delivered events."""
Held = Callable[[CellProtocol], Iterable[int]]
Reader = TypeVar("Reader", bound=FeedReader)


class FeedRounds(ABC, Generic[Reader]):
    """A duty: run a step of each reader in each cell."""

    def __init__(self, store: StoreProtocol, held: Held, duty: str) -> None:
        self.store, self._held = store, held
        self._going: dict[tuple[str, UUID], asyncio.Task[int]] = {}
        self._quiet: dict[str, QuietSubscriptions] = {}
        self._database: dict[str, asyncio.Lock] = {}
        self._strides = Strides()
        self._setbacks = Setbacks()
        self._visits = Visits(duty)

    @abstractmethod
    async def _readers(self, tx: Tx) -> Sequence[Reader]:
        """Returns all readers that a cell should serve now."""

    @abstractmethod
    async def _step(self, cell: CellProtocol, reader: Reader, blocks: list[int]) -> int:
        """Deliver a page of a reader. Returns how many events it had, or 1 where there may be more."""

    async def _keep(self, ids: Iterable[UUID]) -> None:
        """Forget what belongs to other readers: those no longer exist."""

    def _hear_all(self) -> frozenset[UUID]:
        """Returns the tenants whose readers get the events of all tenants."""
        return frozenset()

    async def once(self) -> int:
        """Run a step of each reader that may have events. Returns how many events were delivered."""
        standing: dict[str, set[UUID]] = {}

        async def visit(cell: CellProtocol) -> None:
            standing[cell.name] = await self._begin(cell)

        await self._visits.each(self.store.cells, visit)
        if len(standing) == len(self.store.cells):  # else a missing cell may still have the reader
            await self._keep(set().union(*standing.values()))
            self._strides.keep({(name, id_) for name, ids in standing.items() for id_ in ids})
        return await self._settle()

    async def close(self) -> None:
        """Cancel the running steps."""
        await cancel_and_wait(*self._going.values())

    async def _settle(self) -> int:
        """Wait for steps to end. Returns how many events they delivered.

        A step that delivered events ends the wait soon: its reader has more events, and must not wait for a slow
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
        """Query a cell once for all readers, and start a step of each that may have events. Returns all ids."""
        blocks = blocks_of(self._held(cell), self.store.shards_of(cell))
        quiet = self._quiet.setdefault(cell.name, QuietSubscriptions())
        async with cell.tx() as tx:
            found = await self._readers(tx)
            look = await quiet.look(tx, blocks) if found and blocks else None
        if look is not None:
            busy = quiet.busy(look, found, blocks, self._hear_all())
            for reader in found:
                key = cell.name, reader.id
                if reader.id in busy and key not in self._going and self._setbacks.may_try(_try_of(cell, reader)):
                    self._going[key] = asyncio.create_task(self._step_or_log(cell, reader, blocks))
        return {reader.id for reader in found}

    async def _step_or_log(self, cell: CellProtocol, reader: Reader, blocks: list[int]) -> int:
        """Run a step of one reader in one cell. A failure is logged, and tried again after a pause."""
        key = _try_of(cell, reader)
        try:
            done = await self._step(cell, reader, blocks)
            self._setbacks.record_success(key)
            return done
        except GONE as error:
            log.warning("feed.cell_down", cell=cell.name, reason=str(error))
        except HoraeError as error:
            self._setbacks.record_failure(key)
            await self._record_failure(cell, reader, blocks, str(error)[:500])
        except CUT:
            self._setbacks.record_failure(key)
            await self._record_failure(
                cell, reader, blocks, "the database took too long; fewer events are read the next time"
            )
        except Exception:
            self._setbacks.record_failure(key)
            log.exception("feed.failed", subscription=reader.name)
        return 0

    async def _record_failure(self, cell: CellProtocol, reader: Reader, blocks: list[int], reason: str) -> None:
        """Log and write why a reader waits, where that is possible."""
        log.warning("feed.waiting", subscription=reader.name, reason=reason)
        with suppress(*GONE, *CUT):
            async with self._turn(cell), cell.tx() as tx:
                await feeds.fail(tx, reader.id, blocks, reason)

    def _turn(self, cell: CellProtocol) -> asyncio.Lock:
        """The lock of a cell: all steps together use one connection at a time, because other work shares the pool."""
        return self._database.setdefault(cell.name, asyncio.Lock())


async def places_since(
    tx: Tx, reader_id: UUID, tenant_id: UUID, blocks: list[int], since: datetime, horizon: int
) -> list[FeedPlace]:
    """Returns the position of each shard block. A reader without positions here begins at a time."""
    places = await feeds.positions(tx, reader_id, blocks)
    if len(places) < len(blocks):
        marks = await feeds.transactions_between(tx, since, tx.now)
        await feeds.begin(tx, reader_id, tenant_id, blocks, min(marks.since, horizon), since)
        places = await feeds.positions(tx, reader_id, blocks)
    return places


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


def _try_of(cell: CellProtocol, reader: FeedReader) -> tuple[str, UUID, int]:
    """The key under which failures are remembered. A reader that was changed is tried at once."""
    return cell.name, reader.id, reader.version

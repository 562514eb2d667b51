"""Drops the days of history, events, results and logs that are over their term, whole.

1. A day is kept for `kept` days after it has ended; a day of logs for `logs_kept` days.
2. A subscription that has not been sent a day, or a compensation that was not relayed, holds the day back, with a
   warning in each round, for `held` days at most.
3. After that the day is dropped all the same: an error is logged, and each tenant gets an event and an audit row with
   the day that its subscription has missed.
4. With an archive, a day of history is never dropped before the archive has exactly its rows. That is checked before
   the day is detached, and again when nobody can write to it any more.
"""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Final

from horae.domain.errors import NewerRelease
from horae.runtime.telemetry import log
from horae.service.context import Context
from horae.service.events import subscriptions
from horae.store.cells import Cell
from horae.store.connections.each_cell import Visits
from horae.store.databases import archived_days, days
from horae.store.databases.days import Day, DayState, Reader
from horae.store.store import Store
from horae.store.tenants import tenants
from horae.upkeep.archive import DayArchiver

if TYPE_CHECKING:
    from horae.store.connections.deadlines import Connection

ROUND_TIMEOUT_S: Final = 600.0
"""Seconds that one round may take in a cell."""
UNREAD: Final = frozenset({days.RESULTS, days.LOGS})
"""The days that no subscription reads and no archive has."""
DETACH_TIMEOUT_S: Final = 10.0
"""Seconds that one round waits for transactions that use a day."""


class HeldDays:
    """The days that one round leaves in a cell, and for whom; `missed` has what tenants know already."""

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._all_readers = readers
        self._days: set[date] = set()
        self._readers: set[Reader] = set()
        self._unrelayed = 0
        self._unarchived = ""
        self.missed: set[tuple[Reader, date]] = set()

    def readers_of(self, day: Day) -> list[Reader]:
        """Returns the subscriptions that have not been sent all of a day."""
        return [reader for reader in self._all_readers if reader.sent_until < day.end]

    def add(self, day: Day, readers: Iterable[Reader], unrelayed: int) -> None:
        """A day stays."""
        self._days.add(day.day)
        self._readers.update(readers)
        self._unrelayed += unrelayed

    def add_unarchived(self, day: Day, reason: str) -> None:
        """A day stays, because it is not archived."""
        self._days.add(day.day)
        self._unarchived = self._unarchived or reason

    def warn(self, cell: Cell) -> None:
        """Warn once of all days that stay, if there are any."""
        if self._days:
            log.warning(
                "days.held_back",
                cell=cell.name,
                oldest=f"{min(self._days)}",
                days=len(self._days),
                subscriptions=sorted({reader.name for reader in self._readers}),
                unrelayed=self._unrelayed,
                archive=self._unarchived,
            )


class DayDropper:
    """A duty: drop the days of every cell that are over their term."""

    def __init__(
        self,
        store: Store,
        kept: timedelta,
        held: timedelta,
        archiver: DayArchiver | None = None,
        logs_kept: timedelta | None = None,
    ) -> None:
        """`logs_kept`: how long days of logs are kept, if not as long as all others."""
        self.store, self.kept, self.held, self._archiver = store, kept, held, archiver
        self.logs_kept = kept if logs_kept is None else logs_kept
        self._visits = Visits("daydropper")

    async def once(self) -> int:
        """Visit each cell once. Returns how many tables were dropped."""
        return await self._visits.each(self.store.cells, self._drop_days)

    async def _drop_days(self, cell: Cell) -> int:
        async with asyncio.timeout(ROUND_TIMEOUT_S), cell.direct(owner=True) as connection:
            if not await days.lock(connection):
                return 0
            now, dropped, waiting = cell.clock.now(), 0, HeldDays(await days.readers(connection))
            for day in await days.listing(connection):
                kept = self.logs_kept if day.parent == days.LOGS else self.kept
                if day.end > now - kept or not await self._may_go(cell, connection, day, waiting):
                    continue
                try:
                    detached = await _detach(connection, day, now)
                except TimeoutError:
                    log.warning("days.postponed", cell=cell.name, table=day.partition)
                    break
                if not await self._is_archived(connection, detached, waiting):
                    continue
                await self._drop(connection, detached, now)
                log.info("days.dropped", cell=cell.name, table=day.partition, bytes=day.bytes)
                dropped += 1
            waiting.warn(cell)
            return dropped

    async def _may_go(self, cell: Cell, connection: "Connection", day: Day, waiting: "HeldDays") -> bool:
        """Whether nothing needs a day any more, or it was held back for long enough."""
        if day.state != DayState.ATTACHED or day.parent in UNREAD:
            return True
        readers = waiting.readers_of(day)
        unrelayed = await days.unrelayed(connection, day.begin, day.end) if day.parent == days.EVENTS else 0
        if not readers and not unrelayed:
            return await self._is_archived(connection, day, waiting)
        if day.end > cell.clock.now() - self.kept - self.held:
            waiting.add(day, readers, unrelayed)
            return False
        if not await self._is_archived(connection, day, waiting):
            return False
        names = [reader.name for reader in readers]
        log.error("days.dropped_unread", cell=cell.name, table=day.partition, subscriptions=names, unrelayed=unrelayed)
        for reader in readers:
            if (reader, day.day) not in waiting.missed:
                await self._record_missed_day(cell, reader, day)
                waiting.missed.add((reader, day.day))
        return True

    async def _is_archived(self, connection: "Connection", day: Day, waiting: "HeldDays") -> bool:
        """Whether a day may be dropped as far as the archive is concerned."""
        if self._archiver is None or day.parent != days.HISTORY:
            return True
        reason = await self._archiver.why_unsafe(connection, day)
        if reason:
            waiting.add_unarchived(day, reason)
        return not reason

    async def _drop(self, connection: "Connection", day: Day, now: datetime) -> None:
        """Drop a detached day."""
        if self._archiver is not None and day.parent == days.HISTORY:
            await archived_days.record_drop(connection, day.day, now)
        await days.drop(connection, day)

    async def _record_missed_day(self, cell: Cell, reader: Reader, day: Day) -> None:
        """Record that a subscription misses a day. The day is also dropped where its tenant cannot be read."""
        try:
            async with cell.statement() as tx:
                known = await tenants.known(tx, reader.tenant_id)
        except NewerRelease as error:
            facts = {"cell": cell.name, "tenant": reader.tenant_id, "subscription": reader.name}
            log.error("days.missed_not_recorded", day=str(day.day), reason=str(error), **facts)
            return
        if known is not None:
            ctx = Context.of(self.store, known[0], "horae")
            await subscriptions.record_missed_day(ctx, reader.name, day.day)


async def _detach(connection: "Connection", day: Day, now: datetime) -> Day:
    """Detach a day, from whichever step an earlier round has reached. Returns it as it is then."""
    if day.state == DayState.ATTACHED:
        await days.record_drop(connection, now, day)
        await days.mark(connection, day)
        await days.detach(connection, day, DETACH_TIMEOUT_S)
    elif day.state == DayState.DETACHING:
        await days.finish_detach(connection, day, DETACH_TIMEOUT_S)
    return day._replace(state=DayState.DETACHED)

"""Measures how each cell grows, so that a full disk is known days before."""

from datetime import datetime
from typing import TYPE_CHECKING

from horae.domain.health.growth import DaysHeldBack, DaySize, Growth, RetentionTerms, over_term
from horae.store.cells import Cell
from horae.store.connections.each_cell import Visits
from horae.store.databases import days, partitions
from horae.store.databases.days import Day, DayState
from horae.store.health import growth
from horae.store.store import Store
from horae.store.tx import Tx
from horae.upkeep.archive import DayArchiver
from horae.upkeep.archive_lag import archive_lag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from horae.store.connections.deadlines import Connection


class GrowthMeter:
    """A duty: measure every cell and keep the last measurement in it.

    `disk_bytes` is the space of each cell by its name, as far as the deployment says it. `terms`: how long the nodes
    keep what. `archiver`: the duty of this node that archives days; None without an archive.
    """

    def __init__(
        self,
        store: Store,
        kept_days: int,
        disk_bytes: "Mapping[str, int]",
        terms: RetentionTerms | None = None,
        archiver: DayArchiver | None = None,
    ) -> None:
        self.store, self.kept_days, self.disk_bytes = store, kept_days, disk_bytes
        self.terms, self._archiver = terms, archiver
        self._visits = Visits("growthmeter")

    async def once(self) -> int:
        """Visit each cell once. Returns 0: there is never more to do before the next round."""
        return await self._visits.each(self.store.cells, self._measure)

    async def _measure(self, cell: Cell) -> int:
        async with cell.direct(owner=True) as connection:
            now, archiver = cell.clock.now(), self._archiver
            sizes = await growth.days(connection, now)
            lag = None
            if archiver is not None:
                lag = await archive_lag(connection, now, sizes, archiver.failures.get(cell.name, ""))
            measured = Growth(
                measured_at=now,
                kept_days=self.kept_days,
                days_ahead=await partitions.days_ahead(Tx(connection, now)),
                database_bytes=await growth.database_bytes(connection),
                disk_bytes=self.disk_bytes.get(cell.name),
                days=sizes,
                tables=await growth.tables(connection),
                held=await self._held(connection, now, sizes),
                terms=self.terms,
                lag=lag,
            )
            await growth.write(connection, measured)
        return 0

    async def _held(self, connection: "Connection", now: datetime, sizes: "Sequence[DaySize]") -> DaysHeldBack | None:
        """The days that are over their term and needed by a subscription or a compensation; None if there are none."""
        late = [Day(days.HISTORY, one.day, DayState.ATTACHED, 0) for one in sizes]
        late = [day for day in late if over_term(day.day, now, self.kept_days)]
        if not late:
            return None
        readers = [one.name for one in await days.readers(connection) if one.sent_until < late[-1].end]
        unrelayed = await days.unrelayed(connection, late[0].begin, late[-1].end)
        if not readers and not unrelayed:
            return None
        return DaysHeldBack(len(late), late[0].day, tuple(sorted(set(readers))), unrelayed)

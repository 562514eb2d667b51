"""Feeds the agenda from the rows: ahead to the horizon, and behind for what was committed late or not announced.

Ahead, each row is read once: every class has a mark in memory that only moves forward. A row may be written behind its
mark by a transaction that began earlier, or by a caller whose wake-up was lost. So every look also reads what should
have fired already and has not, back to further than any transaction may last, and an unbounded sweep runs at takeover
and every 60 s.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import product
from typing import Final

from horae.domain.instances import Lane, Priority
from horae.domain.timers import Timer
from horae.engine.agenda import Agenda
from horae.engine.territory import Class, Read, Territory
from horae.store.cells import Cell
from horae.store.looks import BEGINNING, Look, Mark

HORIZON: Final = timedelta(seconds=60)
SLACK: Final = timedelta(seconds=30)
LOOK: Final = timedelta(seconds=4.5)
SWEEP: Final = timedelta(seconds=60)
BUSY: Final = 1000
EVERY_CLASS: Final = tuple(product(Priority, Lane))
FIRSTS: Final = tuple((priority, Lane.FIRST) for priority in Priority)


class Shelf:
    """One kind of rows, cursors or instances, read class by class in the order of time."""

    def __init__(self, cell: Cell, read: Read, classes: Sequence[Class], agenda: Agenda) -> None:
        self.cell = cell
        self.read = read
        self.agenda = agenda
        self.marks = {class_: Mark(*class_) for class_ in classes}
        self._reached = dict.fromkeys(classes, BEGINNING)

    def passed(self, timer: Timer) -> bool:
        """Whether its class has been read so far ahead: then nothing but the writer himself knows of it in time."""
        class_ = timer.priority, timer.lane
        return timer.at <= max(self.marks[class_].at, self._reached[class_])

    async def ahead(self, look: Look) -> None:
        """Move the marks to the end of the look, or as far as there is room."""
        for mark in await self._pages(look, list(self.marks.values())):
            self.marks[mark.priority, mark.lane] = mark

    async def behind(self, low: datetime, look: Look) -> None:
        """Read from a time on, wherever the marks are."""
        await self._pages(look, [mark.before(low) for mark in self.marks.values()], even_if_full=True)

    def reset(self) -> None:
        """Read everything again. What was passed before stays passed: a row written just now may miss the look."""
        self._reached |= {class_: mark.at for class_, mark in self.marks.items() if mark.at > self._reached[class_]}
        self.marks = {class_: Mark(*class_) for class_ in self.marks}

    async def _pages(self, look: Look, marks: list[Mark], *, even_if_full: bool = False) -> list[Mark]:
        done: list[Mark] = []
        while marks and (even_if_full or not self.agenda.full):
            if look.only is None:
                look = look._replace(without=[*self.agenda.deep, *self.agenda.held])
            elif look.only in self.agenda.deep:
                break  # as many as it may have are here again
            async with self.cell.statement() as tx:
                page = await self.read(tx, look, marks)
            self.agenda.offer(page.timers)
            going: list[Mark] = []
            for mark in marks:
                last = page.more.get((mark.priority, mark.lane))
                if last is None:
                    done.append(mark.through(look.until))
                else:
                    going.append(mark.at_timer(last))
            marks = going
        return done + marks


class Feeder:
    """A duty: look every few seconds, and when woken."""

    def __init__(
        self, cell: Cell, territory: Territory, agenda: Agenda, waiting: Callable[[], int] = lambda: 0
    ) -> None:
        self.cell = cell
        self.territory = territory
        self.agenda = agenda
        self.waiting = waiting
        self.cursors = Shelf(cell, territory.cursors, FIRSTS, agenda)
        self.instances = Shelf(cell, territory.instances, EVERY_CLASS, agenda)
        self.shelves: tuple[Shelf, ...] = (self.cursors, self.instances)
        self._named: tuple[datetime, datetime] | None = None
        self._looked_at = self._swept_at = BEGINNING
        self._was_cut = False

    async def once(self) -> int:
        """One look at what was named; every few seconds also ahead, behind, and where a backlog has room again."""
        if not self.territory.shards:
            return 0
        now = self.cell.clock.now()
        await self._look_at_named(now)
        if now - self._looked_at >= LOOK or self._cut():
            await self._ahead(now)
            if now - self._looked_at >= (SLACK if self.waiting() > BUSY else LOOK):
                await self._behind(now)
        await self._refill(now)
        return int(self._cut())

    async def look(self) -> None:
        """A whole look, whatever the time."""
        if self.territory.shards:
            now = self.cell.clock.now()
            await self._ahead(now)
            await self._behind(now)
            await self._refill(now)

    def name(self, earliest: datetime, latest: datetime) -> None:
        """Someone wrote rows that are due between these times: look at them next."""
        if self._named is not None:
            earliest, latest = min(earliest, self._named[0]), max(latest, self._named[1])
        self._named = (earliest, latest)

    def follow(self, timer: Timer) -> None:
        """A timer that this node itself has just written: needed here only where the mark has passed it already."""
        shelf = self.instances if timer.fired is None else self.cursors
        if shelf.passed(timer):
            self.agenda.offer((timer,))

    def reset(self) -> None:
        """Read everything again, soon: shards were taken over, or jobs go on that had been held."""
        for shelf in self.shelves:
            shelf.reset()
        self._looked_at = self._swept_at = BEGINNING
        self.agenda.hungry()

    def _cut(self) -> bool:
        """Whether the last look ahead stopped for lack of room, and there is room now."""
        return self._was_cut and not self.agenda.full

    async def _ahead(self, now: datetime) -> None:
        for shelf in self.shelves:
            await shelf.ahead(Look(now + HORIZON))
        self._was_cut = any(mark.at < now + HORIZON for shelf in self.shelves for mark in shelf.marks.values())

    async def _look_at_named(self, now: datetime) -> None:
        named, self._named = self._named, None
        if named is not None:
            for shelf in self.shelves:
                await shelf.behind(named[0], Look(min(named[1], now + HORIZON)))

    async def _behind(self, now: datetime) -> None:
        """What should have fired and has not. While much is waiting it is the same rows again: `once` waits longer."""
        if self._swept_at == BEGINNING:  # the marks came from the beginning just now
            self._looked_at = self._swept_at = now
            return
        low = BEGINNING if now - self._swept_at >= SWEEP else self._looked_at - SLACK
        for shelf in self.shelves:
            await shelf.behind(low, Look(now))
        self._looked_at = now
        if low is BEGINNING:
            self._swept_at = now

    async def _refill(self, now: datetime) -> None:
        for tenant_id in [tenant for tenant in self.agenda.deep if self.agenda.has_room(tenant)]:
            low = self.agenda.deep.pop(tenant_id)
            look = Look(now + HORIZON, only=tenant_id)
            for shelf in self.shelves:
                await shelf.behind(low, look)

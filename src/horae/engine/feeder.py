"""Feeds the agenda from the rows: ahead to the horizon, and behind for what was committed late or not announced.

Ahead, each row is read once: every class has a mark in memory that only moves forward. A row may be written behind its
mark by a transaction that began earlier, or by a caller whose wake-up was lost. So while a node works, every look also
reads what should have fired already and has not, back to further than any transaction may last, and an unbounded sweep
runs at takeover and every 60 s.

An idle node sleeps to the earliest time it knows:

1. With an empty agenda a look is a glance: one statement reads the earliest time of all that waits. Where that lies
   beyond the horizon, the marks move to the horizon unread, and the feeder sleeps until half a horizon before it.
2. A row that is written meanwhile is announced: by `follow` where this node wrote it, by a wake where another did. A
   wake is sent for times up to `wakes.HORIZON` ahead, which is more than the longest safety period and a horizon.
3. What lies further ahead is found by the next safety look, a horizon before it is due or earlier.
4. Timers that were forgotten undone, and rows that PostgreSQL counted without a look since, end the sleep.
5. What escapes all this is found by the safety look, which reads from the beginning.

A look reads deep groups (see the agenda) up to their bookmarks, each by itself; what lies behind a bookmark is read
when there is room for it.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Final
from uuid import UUID

from horae.domain.instances import Lane, Priority
from horae.domain.timers import Timer
from horae.engine.agenda import Agenda, Group
from horae.engine.territory import Class, Read, Territory
from horae.store.cells import Cell
from horae.store.looks import BEGINNING, Look, Mark

HORIZON: Final = timedelta(seconds=60)
SLACK: Final = timedelta(seconds=30)
LEAD: Final = HORIZON / 2
"""So long before the earliest known time the feeder looks ahead."""
LOOK: Final = timedelta(seconds=4.5)
SWEEP: Final = timedelta(seconds=60)
BUSY: Final = 1000
MICROSECOND: Final = timedelta(microseconds=1)
EVERY_CLASS: Final = tuple(product(Priority, Lane))
FIRSTS: Final = tuple((priority, Lane.FIRST) for priority in Priority)
NEVER: Final = datetime(9000, 1, 1, tzinfo=UTC)


class Shelf:
    """One kind of rows, cursors or instances, read class by class in the order of time."""

    def __init__(
        self, cell: Cell, read: Read, classes: Sequence[Class], agenda: Agenda, *, cursors: bool = False
    ) -> None:
        self.holds_cursors = cursors
        self.cell = cell
        self.read = read
        self.agenda = agenda
        self.marks = {class_: Mark(*class_) for class_ in classes}
        self._reached = dict.fromkeys(classes, BEGINNING)
        self._resets = 0

    def passed(self, timer: Timer) -> bool:
        """Whether its class has been read so far ahead: then nothing but the writer himself knows of it in time."""
        class_ = timer.priority, timer.lane
        return timer.at <= max(self.marks[class_].at, self._reached[class_])

    async def ahead(self, look: Look) -> None:
        """Move the marks to the end of the look, or as far as there is room. A reset during the look wins."""
        resets = self._resets
        self.pass_by(look.until)
        moved = await self._pages(look, list(self.marks.values()))
        if resets == self._resets:
            self.marks |= {(mark.priority, mark.lane): mark for mark in moved}

    def pass_by(self, until: datetime) -> None:
        """A look up to a time begins: a row that is written from now on may miss it, and its writer follows it."""
        self._reached |= {class_: until for class_, at in self._reached.items() if at < until}

    def skip_to(self, until: datetime) -> None:
        """Move the marks there unread: a glance saw that nothing is due before."""
        self.marks |= {class_: mark.through(until) for class_, mark in self.marks.items() if mark.at < until}

    async def behind(self, low: datetime, look: Look) -> None:
        """Read from a time on, wherever the marks are."""
        await self._pages(look, [mark.before(low) for mark in self.marks.values()], even_if_full=True)

    def reset(self) -> None:
        """Read everything again. What was passed before stays passed: a row written just now may miss the look."""
        self._resets += 1
        self._reached |= {class_: mark.at for class_, mark in self.marks.items() if mark.at > self._reached[class_]}
        self.marks = {class_: Mark(*class_) for class_ in self.marks}

    async def fill(self, group: Group, low: datetime, until: datetime) -> None:
        """Read a group by itself from a time on, until it gets a bookmark, or an earlier one than it had."""
        tenant_id, priority, lane, _ = group
        look, mark = Look(until, only=tenant_id), Mark(priority, lane).before(low)
        bookmark = self.agenda.deep.get(group)
        while self.agenda.deep.get(group) == bookmark:
            async with self.cell.statement() as tx:
                page = await self.read(tx, look, [mark])
            self.agenda.offer(page.timers)
            last = page.more.get((priority, lane))
            if last is None:
                return
            mark = mark.at_timer(last)

    async def _pages(self, look: Look, marks: list[Mark], *, even_if_full: bool = False) -> list[Mark]:
        await self._fill_to_bookmarks(look.until, marks)
        done: list[Mark] = []
        while marks and (even_if_full or not self.agenda.full):
            going: list[Mark] = []
            for without, part in self._left_out(marks):
                async with self.cell.statement() as tx:
                    page = await self.read(tx, look._replace(without=without), part)
                self.agenda.offer(page.timers)
                for mark in part:
                    last = page.more.get((mark.priority, mark.lane))
                    if last is None:
                        done.append(mark.through(look.until))
                    else:
                        going.append(mark.at_timer(last))
            marks = going
        return done + marks

    async def _fill_to_bookmarks(self, until: datetime, marks: Sequence[Mark]) -> None:
        low = {(mark.priority, mark.lane): mark.at for mark in marks}
        for group, bookmark in list(self.agenda.deep.items()):
            tenant_id, priority, lane, is_cursor = group
            last = min(until, bookmark - MICROSECOND)
            if is_cursor is self.holds_cursors and tenant_id not in self.agenda.held and low[priority, lane] < last:
                await self.fill(group, low[priority, lane], last)

    def _left_out(self, marks: list[Mark]) -> list[tuple[list[UUID], list[Mark]]]:
        """The marks of a page with the tenants whose rows are left out there: marks of several only where some are."""
        deep, held = self.agenda.deep, self.agenda.held
        if not deep:
            return [([*held], marks)]
        parts: dict[tuple[UUID, ...], list[Mark]] = {}
        for mark in marks:
            kind = (mark.priority, mark.lane, self.holds_cursors)
            parts.setdefault(tuple(group[0] for group in deep if group[1:] == kind), []).append(mark)
        return [([*tenants, *held], part) for tenants, part in parts.items()]


class Feeder:
    """A duty: look every few seconds while there is work, when woken, and before the earliest known time."""

    def __init__(
        self,
        cell: Cell,
        territory: Territory,
        agenda: Agenda,
        waiting: Callable[[], int] = lambda: 0,
        safety: timedelta = LOOK,
    ) -> None:
        self.cell = cell
        self.territory = territory
        self.agenda = agenda
        self.waiting = waiting
        self.safety = safety
        self.cursors = Shelf(cell, territory.cursors, FIRSTS, agenda, cursors=True)
        self.instances = Shelf(cell, territory.instances, EVERY_CLASS, agenda)
        self.shelves: tuple[Shelf, ...] = (self.cursors, self.instances)
        self._named: tuple[datetime, datetime] | None = None
        self._looked_at = self._swept_at = self._planned_at = BEGINNING
        self._announced = NEVER
        self._was_cut = False
        self._resets = self._written = 0
        self._followed_up = (0, 0)

    async def once(self) -> int:
        """One look at what was named; where it is time also ahead, behind, and where a backlog has room again."""
        if not self.territory.shards:
            return 0
        now = self.cell.clock.now()
        await self._look_at_named(now)
        if now < self._looked_at - LOOK:
            self.reset()  # the cell's clock went back
        if self._restless():
            if now - self._looked_at >= LOOK or self._cut():
                await self._look_again(now)
        elif now >= min(self._planned_at, self._announced - LEAD):
            await self._look_ahead(now)
        await self._refill(now)
        return int(self._cut())

    async def look(self) -> None:
        """A whole look, whatever the time."""
        if self.territory.shards:
            now = self.cell.clock.now()
            await self._look_at_named(now)
            if not await self._ahead(now):
                await self._behind(now)
            await self._refill(now)

    def suspect(self) -> None:
        """Rows were written, by whomever: one of them may not have been announced."""
        self._written += 1

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
        else:
            self._announced = min(self._announced, timer.at)

    def reset(self) -> None:
        """Read everything again, soon: shards were taken over, or jobs go on that had been held."""
        for shelf in self.shelves:
            shelf.reset()
        self._resets += 1
        self._looked_at = self._swept_at = BEGINNING
        self.agenda.hungry()

    def _cut(self) -> bool:
        """Whether the last look ahead stopped for lack of room, and there is room now."""
        return self._was_cut and not self.agenda.full

    def _restless(self) -> bool:
        """Whether something happened since the last look that only another look can follow up."""
        return (
            self._followed_up != self._happened()
            or self._was_cut
            or bool(self.agenda.deep)
            or self._swept_at == BEGINNING
        )

    def _happened(self) -> tuple[int, int]:
        return self.agenda.forgotten, self._written

    async def _look_again(self, now: datetime) -> None:
        """A look of a node that works: ahead and behind. With an empty agenda a glance says whether it is needed."""
        overdue = None
        if self._swept_at != BEGINNING and not len(self.agenda):
            first = await self._glance(now)
            if first is None:
                return
            overdue = first if first <= now else None
        if not await self._ahead(now) and now - self._looked_at >= (SLACK if self.waiting() > BUSY else LOOK):
            await self._behind(now, overdue)

    async def _look_ahead(self, now: datetime) -> None:
        """A look of a node that sleeps, at its time. Nothing happened since the last: behind is for the safety look."""
        first, resets = None, self._resets
        if not len(self.agenda):
            first = await self._glance(now)
            if first is None:
                return
        await self._ahead(now)
        if first is not None and first > now and resets == self._resets:
            self._looked_at = self._swept_at = now  # the glance saw that nothing is overdue
        elif first is not None or now - self._swept_at >= self.safety:
            await self._behind(now, first)

    async def _glance(self, now: datetime) -> datetime | None:
        """Read when the next row is due; None: beyond the horizon, and everything up to there counts as read."""
        until, resets, happened = now + HORIZON, self._resets, self._happened()
        for shelf in self.shelves:
            shelf.pass_by(until)
        async with self.cell.statement() as tx:
            first = await self.territory.next_due(tx, [*self.agenda.held])
        if first is not None and first <= until:
            return first
        if resets == self._resets:
            for shelf in self.shelves:
                shelf.skip_to(until)
            self._looked_at = self._swept_at = now
            self._followed_up, self._was_cut = happened, False
            self._plan(now, self.safety if first is None else min(self.safety, first - LEAD - now))
        return None

    async def _ahead(self, now: datetime) -> bool:
        """Move the marks to the horizon; returns whether they came from the beginning, so that nothing lies behind."""
        resets, happened = self._resets, self._happened()
        for shelf in self.shelves:
            await shelf.ahead(Look(now + HORIZON))
        if resets != self._resets:
            return False
        self._was_cut = any(mark.at < now + HORIZON for shelf in self.shelves for mark in shelf.marks.values())
        self._plan(now, min(self.safety, HORIZON - LEAD))
        if self._swept_at != BEGINNING:
            return False
        self._looked_at = self._swept_at = now
        self._followed_up = happened
        return True

    def _plan(self, now: datetime, pause: timedelta) -> None:
        """Look ahead again after a pause; what was announced up to the horizon has just been read."""
        self._planned_at = now + pause
        if self._announced <= now + HORIZON:
            self._announced = NEVER

    async def _look_at_named(self, now: datetime) -> None:
        named, self._named = self._named, None
        if named is None:
            return
        earliest, latest = named
        horizon = now + HORIZON
        if latest > horizon:
            self._announced = min(self._announced, max(earliest, horizon))
        if earliest > horizon:
            return
        try:
            for shelf in self.shelves:
                await shelf.behind(earliest, Look(min(latest, horizon)))
        except BaseException:
            self.name(*named)
            raise

    async def _behind(self, now: datetime, overdue: datetime | None = None) -> None:
        """What should have fired and has not. While much is waiting it is the same rows again: `once` waits longer."""
        if self._swept_at == BEGINNING:
            return  # a reset came during the look: the next one reads everything
        resets, happened = self._resets, self._happened()
        low = BEGINNING if now - self._swept_at >= SWEEP else self._looked_at - SLACK
        for shelf in self.shelves:
            await shelf.behind(low if overdue is None else min(low, overdue), Look(now))
        if resets == self._resets:
            self._looked_at, self._followed_up = now, happened
            if low is BEGINNING:
                self._swept_at = now

    async def _refill(self, now: datetime) -> None:
        """Read on from the bookmarks of the groups that have room again."""
        deep, held = self.agenda.deep, self.agenda.held
        for group in [group for group in deep if group[0] not in held and self.agenda.has_room(group)]:
            low, shelf = deep.pop(group), self.cursors if group[3] else self.instances
            try:
                await shelf.fill(group, low, now + HORIZON)
            except BaseException:
                deep[group] = low
                raise

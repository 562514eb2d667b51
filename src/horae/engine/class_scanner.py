"""Reads one kind of rows, cursors or instances, into the agenda: page by page, each class in the order of time.

A read may be long, so every read is a generator that pauses after each page. Its caller decides when it goes on.
"""

from collections.abc import AsyncIterator, Container, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from horae.domain.instances.instances import Priority
from horae.domain.schedules.timers import Timer
from horae.engine.agenda import Agenda, Group
from horae.engine.territory import Class, Read
from horae.store.cells import Cell
from horae.store.nodes.scans import BEGINNING, ScanMark, ScanRange

ALL_PRIORITIES: Final = frozenset(Priority)
MICROSECOND: Final = timedelta(microseconds=1)
Pages = AsyncIterator[None]
"""A read in progress: one item after each page."""


class ClassScanner:
    """`marks` say how far each class has been read, `_reached` how far a look has at least begun to read it."""

    def __init__(
        self, cell: Cell, read: Read, classes: Sequence[Class], agenda: Agenda, *, cursors: bool = False
    ) -> None:
        self.holds_cursors = cursors
        self.cell = cell
        self.read = read
        self.agenda = agenda
        self.marks = {class_: ScanMark(*class_) for class_ in classes}
        self._reached = dict.fromkeys(classes, BEGINNING)
        self._resets = 0

    def has_passed(self, timer: Timer) -> bool:
        """Whether looks have passed the time of this timer in its class: then only its writer knows of it in time."""
        class_ = timer.priority, timer.lane
        return timer.at <= max(self.marks[class_].at, self._reached[class_])

    async def read_ahead(self, look: ScanRange, priorities: Container[Priority] = ALL_PRIORITIES) -> Pages:
        """Read ahead: move the marks to the end of the look, or as far as there is room. A reset during it wins."""
        resets = self._resets
        moved = {class_: mark for class_, mark in self.marks.items() if class_[0] in priorities}
        self.begin_look(look.until)
        async for _ in self._pages(look, moved):
            yield
        if resets == self._resets:
            self.marks |= moved

    def is_behind(self, until: datetime) -> bool:
        """Whether a class that may be read has not been read up to a time: there was no room for it."""
        withheld = self.agenda.withheld_classes
        return any(mark.at < until for class_, mark in self.marks.items() if class_ not in withheld)

    def begin_look(self, until: datetime) -> None:
        """Note that a look up to this time begins. It may miss rows written from now on, so `follow` offers them."""
        self._reached |= {class_: until for class_, at in self._reached.items() if at < until}

    def skip_to(self, until: datetime) -> None:
        """Move the marks without reading: a glance has shown that nothing is due before this time."""
        self.marks |= {class_: mark.through(until) for class_, mark in self.marks.items() if mark.at < until}

    async def read_from(
        self, low: datetime, look: ScanRange, priorities: Container[Priority] = ALL_PRIORITIES
    ) -> Pages:
        """Read from this time on, whatever the marks say."""
        marks = {class_: mark.before(low) for class_, mark in self.marks.items() if class_[0] in priorities}
        async for _ in self._pages(look, marks, even_if_full=True):
            yield

    def reset(self) -> None:
        """Read everything again. `has_passed` stays true for earlier times: a look may miss a row written just now."""
        self._resets += 1
        self._reached |= {class_: mark.at for class_, mark in self.marks.items() if mark.at > self._reached[class_]}
        self.marks = {class_: ScanMark(*class_) for class_ in self.marks}

    async def fill(self, group: Group, low: datetime, until: datetime) -> Pages:
        """Read one group from a time on, until the end or until its bookmark changes: then the group is full."""
        tenant_id, priority, lane, _ = group
        look, mark = ScanRange(until, only=tenant_id), ScanMark(priority, lane).before(low)
        bookmark = self.agenda.deep.get(group)
        while self.agenda.deep.get(group) == bookmark:
            async with self.cell.statement() as tx:
                page = await self.read(tx, look, [mark])
            self.agenda.offer(page.timers)
            last = page.more.get((priority, lane))
            if last is None:
                return
            mark = mark.at_timer(last)
            yield
        if group in self.agenda.deep:  # another read may have set the bookmark beyond rows that this one has not read
            self.agenda.deep[group] = min(self.agenda.deep[group], mark.at)

    async def _pages(self, look: ScanRange, marks: dict[Class, ScanMark], *, even_if_full: bool = False) -> Pages:
        """Read every class from its mark to the end of the look, and move the marks in place."""
        async for _ in self._fill_to_bookmarks(look.until, marks):
            yield
        going = [class_ for class_ in marks if class_ not in self.agenda.withheld_classes]
        while going and (even_if_full or not self.agenda.full):
            unfinished: list[Class] = []
            for without, part in self._left_out(going):
                async with self.cell.statement() as tx:
                    page = await self.read(tx, look._replace(without=without), [marks[class_] for class_ in part])
                self.agenda.offer(page.timers)
                for class_ in part:
                    last = page.more.get(class_)
                    marks[class_] = marks[class_].through(look.until) if last is None else marks[class_].at_timer(last)
                unfinished += [class_ for class_ in part if class_ in page.more]
                yield
            going = unfinished

    async def _fill_to_bookmarks(self, until: datetime, marks: Mapping[Class, ScanMark]) -> Pages:
        low = {class_: mark.at for class_, mark in marks.items()}
        for group, bookmark in list(self.agenda.deep.items()):
            tenant_id, priority, lane, is_cursor = group
            last = min(until, bookmark - MICROSECOND)
            if (priority, lane) in self.agenda.withheld_classes or (priority, lane) not in low:
                continue
            if is_cursor is self.holds_cursors and tenant_id not in self.agenda.held and low[priority, lane] < last:
                async for _ in self.fill(group, low[priority, lane], last):
                    yield

    def _left_out(self, classes: Sequence[Class]) -> list[tuple[list[UUID], list[Class]]]:
        """The classes of a page, grouped by the tenants to leave out: held ones, and owners of deep groups."""
        deep, held = self.agenda.deep, self.agenda.held
        if not deep:
            return [([*held], list(classes))]
        parts: dict[tuple[UUID, ...], list[Class]] = {}
        for class_ in classes:
            kind = (*class_, self.holds_cursors)
            parts.setdefault(tuple(group[0] for group in deep if group[1:] == kind), []).append(class_)
        return [([*tenants, *held], part) for tenants, part in parts.items()]

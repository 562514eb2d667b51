"""Scans rows into the agenda: ahead up to the horizon, and behind for rows that were committed late or not announced.

A scan is called a *look* here. Ahead, each row is read once: every class has a mark in memory that only moves forward.
A row may still be written behind its mark: by a transaction that began earlier, or by a writer whose wake-up was lost.
So while a node works, every look also reads overdue rows, further back than any transaction may last. A sweep without a
lower bound runs at takeover and every 60 s.

An idle node sleeps until shortly before the earliest time it knows:

1. With an empty agenda a look is a *glance*: one statement reads the earliest due time. If that lies beyond the
   horizon, the marks move to the horizon without reading, and the feeder sleeps until half a horizon before that time.
2. A row that is written meanwhile becomes known: by `announce` if this node writes it, else by a wake.
   A wake is sent for times up to `wakes.WAKE_HORIZON` ahead, which is the longest safety period plus one horizon.
3. Rows that lie further ahead are found by the next safety look, at least a horizon before they are due.
4. The sleep also ends when a timer was forgotten, or when PostgreSQL has counted written rows since the last look.
5. Everything else is found by the safety look, which reads from the beginning.

A look reads each deep group (see `agenda`) separately, up to its bookmark. Rows behind the bookmark are read when the
group has room.

A look may be long: a sweep beside a large backlog reads hundreds of pages. So looks are generators that pause after
each page. A round of the feeder reads at most `PAGES_PER_ROUND`, and the next round goes on from there. A range that is
named meanwhile is read before the next page of the look.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Final

from horae.domain.instances.instances import Lane, Priority
from horae.domain.schedules.timers import Timer
from horae.engine.agenda import Agenda, Group
from horae.engine.class_scanner import ALL_PRIORITIES, ClassScanner, Pages
from horae.engine.territory import Territory
from horae.store.cells import Cell
from horae.store.nodes.scans import BEGINNING, ScanRange

LOOK_AHEAD_HORIZON: Final = timedelta(seconds=60)
"""How far a look reads ahead."""
LOOK_BACK_SLACK: Final = timedelta(seconds=30)
"""How far a look reads back; also the pause between looks behind while many calls wait."""
LOOK_AHEAD_LEAD: Final = LOOK_AHEAD_HORIZON / 2
"""How long before the earliest known time the feeder looks ahead."""
LOOK_INTERVAL: Final = timedelta(seconds=4.5)
"""The pause between two looks of a node that works."""
SWEEP_INTERVAL: Final = timedelta(seconds=60)
"""The pause between two looks behind that read from the beginning."""
BUSY: Final = 1000
"""Waiting calls from which on looks behind are rare: they would read the same rows again."""
PAGES_PER_ROUND: Final = 20
"""Pages of a long look in one round: some 10,000 rows, in well under a second."""
EVERY_CLASS: Final = tuple(product(Priority, Lane))
CRITICAL_ONLY: Final = frozenset({Priority.CRITICAL})
LESS_URGENT: Final = ALL_PRIORITIES - CRITICAL_ONLY
FIRSTS: Final = tuple((priority, Lane.FIRST) for priority in Priority)
NEVER: Final = datetime(9000, 1, 1, tzinfo=UTC)
ENDED: Final = object()


class Feeder:
    """A duty: it looks every few seconds while there is work, when woken, and before the earliest known time.

    - `_named`: a range of due times to read next; `_announced`: the earliest known time beyond the horizon.
    - `_looked_at`, `_swept_at`: the last look behind, and the last one from the beginning.
    - `_planned_at`: the next look ahead of an idle node.
    - `_was_cut`: the last look ahead stopped for lack of room.
    - `_resets`: counts resets, so that a look notices a reset during it.
    - `_followed_up`: the counts of forgotten timers and of written rows at the last complete look.
    """

    def __init__(
        self,
        cell: Cell,
        territory: Territory,
        agenda: Agenda,
        waiting: Callable[[], int] = lambda: 0,
        safety: timedelta = LOOK_INTERVAL,
    ) -> None:
        self.cell = cell
        self.territory = territory
        self.agenda = agenda
        self.waiting = waiting
        self.safety = safety
        self.cursors = ClassScanner(cell, territory.cursors, FIRSTS, agenda, cursors=True)
        self.instances = ClassScanner(cell, territory.instances, EVERY_CLASS, agenda)
        self.scanners: tuple[ClassScanner, ...] = (self.cursors, self.instances)
        self._named: tuple[datetime, datetime] | None = None
        self._looked_at = self._swept_at = self._planned_at = BEGINNING
        self._announced = NEVER
        self._was_cut = False
        self._resets = self._written = 0
        self._followed_up = (0, 0)
        self._round: Pages | None = None

    async def once(self) -> int:
        """Read at most `PAGES_PER_ROUND` pages; returns 1 if the round should be repeated at once."""
        pages, self._round = self._round or self._look(), None  # a look that fails is over
        for _ in range(PAGES_PER_ROUND):
            if await anext(pages, ENDED) is ENDED:
                return int(self._can_read_on())
        self._round = pages
        return 1

    async def look(self) -> None:
        """Do a whole look now, for `drain`."""
        if self.territory.shards:
            now = self.cell.clock.now()
            for look in (self._look_between(now), self._ahead(now), self._behind(now), self._refill(now)):
                async for _ in look:
                    pass

    def note_writes(self) -> None:
        """Note that rows were written by some process: one of them may not have been announced."""
        self._written += 1

    def read_between(self, earliest: datetime, latest: datetime) -> None:
        """Read rows that are due between these times next."""
        if self._named is not None:
            earliest, latest = min(earliest, self._named[0]), max(latest, self._named[1])
        self._named = (earliest, latest)

    def announce(self, timer: Timer) -> None:
        """Announce a timer that this node has just written. If looks have passed its time, it is offered at once."""
        scanner = self.instances if timer.fired is None else self.cursors
        if scanner.has_passed(timer):
            self.agenda.offer((timer,))
        else:
            self._announced = min(self._announced, timer.at)

    def reset(self) -> None:
        """Read everything again soon: shards were gained, a tenant was resumed, or the clock went back."""
        for scanner in self.scanners:
            scanner.reset()
        self._resets += 1
        self._looked_at = self._swept_at = BEGINNING
        self.agenda.on_room()

    def _can_read_on(self) -> bool:
        """Whether the last look ahead stopped for lack of room, and a look would read on now."""
        return self._was_cut and not self.agenda.full and bool(self.territory.shards)

    def _needs_look(self) -> bool:
        """Whether something happened since the last look that makes another look necessary."""
        return (
            self._followed_up != self._count_changes()
            or self._was_cut
            or bool(self.agenda.deep)
            or self._swept_at == BEGINNING
        )

    def _count_changes(self) -> tuple[int, int]:
        return self.agenda.forgotten, self._written

    async def _look(self) -> Pages:
        """One whole look, page by page.

        1. Read the range of times that was named by a wake or by a failed batch.
        2. If the cell's clock went back, start from the beginning.
        3. If something happened since the last look: look ahead and behind, at most every `LOOK_INTERVAL`.
        4. Otherwise look ahead only when the planned time has come, or `LOOK_AHEAD_LEAD` before an announced one.
        5. Read on from the bookmarks of groups that have room again.
        """
        if not self.territory.shards:
            return
        now = self.cell.clock.now()
        async for _ in self._look_between(now):
            yield
        if now < self._looked_at - LOOK_INTERVAL:
            self.reset()  # the cell's clock went back
        async for _ in self._due_looks(now):
            yield
            async for _ in self._look_between(self.cell.clock.now()):
                yield

    async def _due_looks(self, now: datetime) -> Pages:
        if self._needs_look():
            if now - self._looked_at >= LOOK_INTERVAL or self._can_read_on():
                async for _ in self._look_both_ways(now):
                    yield
        elif now >= min(self._planned_at, self._announced - LOOK_AHEAD_LEAD):
            async for _ in self._look_ahead(now):
                yield
        async for _ in self._refill(now):
            yield

    async def _look_both_ways(self, now: datetime) -> Pages:
        """The look of a node that works: ahead and behind. With an empty agenda a glance shows whether it is needed."""
        overdue = None
        if self._swept_at != BEGINNING and not len(self.agenda):
            first = await self._glance(now)
            if first is None:
                return
            overdue = first if first <= now else None
        async for _ in self._ahead(now):
            yield
        if now - self._looked_at >= (LOOK_BACK_SLACK if self.waiting() > BUSY else LOOK_INTERVAL):
            async for _ in self._behind(now, overdue):
                yield

    async def _look_ahead(self, now: datetime) -> Pages:
        """The look of a node that sleeps, at its planned time.

        Nothing happened since the last look, so it looks behind only at the safety look, or if the glance shows an
        overdue row.
        """
        first, resets = None, self._resets
        if not len(self.agenda):
            first = await self._glance(now)
            if first is None:
                return
        async for _ in self._ahead(now):
            yield
        if first is not None and first > now and resets == self._resets:
            self._looked_at = self._swept_at = now  # the glance saw that nothing is overdue
        elif first is not None or now - self._swept_at >= self.safety:
            async for _ in self._behind(now, first):
                yield

    async def _glance(self, now: datetime) -> datetime | None:
        """Read when the next row is due; None if beyond the horizon: then all rows up to the horizon count as read."""
        until, resets, happened = now + LOOK_AHEAD_HORIZON, self._resets, self._count_changes()
        for scanner in self.scanners:
            scanner.begin_look(until)
        async with self.cell.statement() as tx:
            first = await self.territory.next_due(tx, [*self.agenda.held])
        if first is not None and first <= until:
            return first
        if resets == self._resets:
            for scanner in self.scanners:
                scanner.skip_to(until)
            self._looked_at = self._swept_at = now
            self._followed_up, self._was_cut = happened, False
            self._plan(now, self.safety if first is None else min(self.safety, first - LOOK_AHEAD_LEAD - now))
        return None

    async def _ahead(self, now: datetime) -> Pages:
        """Look ahead to the horizon. If it reads from the beginning, it counts as a sweep: nothing lies behind it."""
        resets, happened = self._resets, self._count_changes()
        for scanner, priorities in self._reads():
            async for _ in scanner.read_ahead(ScanRange(now + LOOK_AHEAD_HORIZON), priorities):
                yield
        if resets != self._resets:
            return
        self._was_cut = any(scanner.is_behind(now + LOOK_AHEAD_HORIZON) for scanner in self.scanners)
        self._plan(now, min(self.safety, LOOK_AHEAD_HORIZON - LOOK_AHEAD_LEAD))
        if self._swept_at == BEGINNING:
            self._looked_at = self._swept_at = now
            self._followed_up = happened

    def _plan(self, now: datetime, pause: timedelta) -> None:
        """Plan the next look ahead. Announced times up to the horizon have just been read, and are dropped."""
        self._planned_at = now + pause
        if self._announced <= now + LOOK_AHEAD_HORIZON:
            self._announced = NEVER

    async def _look_between(self, now: datetime) -> Pages:
        named, self._named = self._named, None
        if named is None:
            return
        earliest, latest = named
        horizon = now + LOOK_AHEAD_HORIZON
        if latest > horizon:
            self._announced = min(self._announced, max(earliest, horizon))
        if earliest > horizon:
            return
        try:
            for scanner, priorities in self._reads():
                async for _ in scanner.read_from(earliest, ScanRange(min(latest, horizon)), priorities):
                    yield
        except BaseException:
            self.read_between(*named)
            raise

    async def _behind(self, now: datetime, overdue: datetime | None = None) -> Pages:
        """Look behind: read overdue rows.

        It reads from `LOOK_BACK_SLACK` before the last look or, once in `SWEEP_INTERVAL`, from the beginning.
        `overdue`: read from this time at least, because a glance has found an overdue row there.
        """
        if self._swept_at in (BEGINNING, now):
            return  # a reset came during the look ahead, and the next look reads everything; or it has just done so
        resets, happened = self._resets, self._count_changes()
        low = BEGINNING if now - self._swept_at >= SWEEP_INTERVAL else self._looked_at - LOOK_BACK_SLACK
        for scanner, priorities in self._reads():
            async for _ in scanner.read_from(low if overdue is None else min(low, overdue), ScanRange(now), priorities):
                yield
        if resets == self._resets:
            self._looked_at, self._followed_up = now, happened
            if low is BEGINNING:
                self._swept_at = now

    def _reads(self) -> list[tuple[ClassScanner, frozenset[Priority]]]:
        """The reads of a look in their order. Recovery lets every critical row be read before another is looked at."""
        parts = (CRITICAL_ONLY, LESS_URGENT) if self.agenda.critical_first else (ALL_PRIORITIES,)
        return [(scanner, priorities) for priorities in parts for scanner in self.scanners]

    async def _refill(self, now: datetime) -> Pages:
        """Read on from the bookmarks of the groups that have room again, critical ones first."""
        deep, held = self.agenda.deep, self.agenda.held
        ready = [group for group in deep if group[0] not in held and self.agenda.has_room(group)]
        for group in sorted(ready, key=_priority_of):
            low, scanner = deep.pop(group), self.cursors if group[3] else self.instances
            try:
                async for _ in scanner.fill(group, low, now + LOOK_AHEAD_HORIZON):
                    yield
            except BaseException:
                deep[group] = low
                raise


def _priority_of(group: Group) -> Priority:
    return group[1]

"""The shards that a node holds in one cell, and the scans over them: one statement per run of neighbouring shards."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.instances.instances import Lane, Priority
from horae.domain.placement import Run, runs_of
from horae.domain.schedules.timers import Timer
from horae.store.instances import instances
from horae.store.nodes import next_due
from horae.store.nodes.scans import ScanMark, ScanRange
from horae.store.schedules import cursors
from horae.store.tx import Tx

Class = tuple[Priority, Lane]
MAX_GLANCED_ROWS: Final = 200
"""Rows per class that `next_due` reads, so that a node with few shards does not read through rows of other nodes."""


class TimerPage(NamedTuple):
    """The timers of a page, and for each class with more rows the timer after which the next page begins."""

    timers: list[Timer]
    more: dict[Class, Timer]


Read = Callable[[Tx, ScanRange, Sequence[ScanMark]], Awaitable[TimerPage]]


class Territory:
    """Shards as runs of neighbours. Leases give a node neighbouring shards of a cell, so there are few runs.

    A run may include a shard of another cell, of which a move may have left rows here. They are dropped: a scan returns
    no timer of a shard that is not held.
    """

    def __init__(self, shards: Iterable[int] = (), here: Iterable[int] = ()) -> None:
        self.hold(shards, here)

    def hold(self, shards: Iterable[int], here: Iterable[int] = ()) -> None:
        """Hold these shards from now on; `here` are all shards of the cell."""
        self.shards = frozenset(shards)
        self._wide, self._narrow = runs_of(self.shards, here)

    @property
    def runs(self) -> list[Run]:
        """All held shards as runs; a single shard is a run, too."""
        return self._wide + [Run(shard, shard) for shard in self._narrow]

    async def cursors(self, tx: Tx, look: ScanRange, marks: Sequence[ScanMark]) -> TimerPage:
        """Read a page of cursors."""
        found = [await cursors.due(tx, run, look, marks) for run in self._wide]
        if self._narrow:
            found.append(await cursors.due_narrow(tx, self._narrow, look, marks))
        return self._page(found, look.limit)

    async def instances(self, tx: Tx, look: ScanRange, marks: Sequence[ScanMark]) -> TimerPage:
        """Read a page of waiting instances."""
        found = [await instances.due(tx, run, look, marks) for run in self._wide]
        if self._narrow:
            found.append(await instances.due_narrow(tx, self._narrow, look, marks))
        return self._page(found, look.limit)

    async def next_due(self, tx: Tx, without: Sequence[UUID]) -> datetime | None:
        """A time before which nothing in our shards is due, by one statement; None if nothing waits."""
        return await next_due.next_due(tx, self.runs, without, MAX_GLANCED_ROWS)

    def _page(self, found: Sequence[list[Timer]], limit: int) -> TimerPage:
        """Merge the results of several runs. A class continues after the earliest row at which a run was cut off."""
        more: dict[Class, Timer] = {}
        for timers in found:
            if len(timers) < limit:
                continue
            for class_, members in _by_class(timers).items():
                last = members[-1]
                if len(members) == limit and (class_ not in more or _order(last) < _order(more[class_])):
                    more[class_] = last
        return TimerPage([timer for timers in found for timer in timers if timer.shard in self.shards], more)


def _by_class(timers: Iterable[Timer]) -> dict[Class, list[Timer]]:
    classes: dict[Class, list[Timer]] = {}
    for timer in timers:
        classes.setdefault((timer.priority, timer.lane), []).append(timer)
    return classes


def _order(timer: Timer) -> tuple[object, ...]:
    return timer.at, timer.shard, timer.id

"""The shards a node holds in one cell, and the looks over them: one statement per run of neighbours."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from horae.domain.instances import Lane, Priority
from horae.domain.placement import Run, runs_of
from horae.domain.timers import Timer
from horae.store import coming, cursors, instances
from horae.store.looks import Look, Mark
from horae.store.tx import Tx

Class = tuple[Priority, Lane]
MAX_GLANCED_ROWS: Final = 200
"""Of each class: a node that holds few shards does not walk through what belongs to others."""


class Page(NamedTuple):
    """What a look found, and for each class that has more where the next look goes on."""

    timers: list[Timer]
    more: dict[Class, Timer]


Read = Callable[[Tx, Look, Sequence[Mark]], Awaitable[Page]]


class Territory:
    """Shards as looks want them. Leases are dealt in neighbours among the cell's shards, so the runs are few.

    A run may span a shard of another cell. What a move left of it here is passed over: a look returns no timer of a
    shard that is not held.
    """

    def __init__(self, shards: Iterable[int] = (), here: Iterable[int] = ()) -> None:
        self.hold(shards, here)

    def hold(self, shards: Iterable[int], here: Iterable[int] = ()) -> None:
        """From now on, these; `here` are the shards that the cell holds, where those are more."""
        self.shards = frozenset(shards)
        self._wide, self._narrow = runs_of(self.shards, here)

    @property
    def runs(self) -> list[Run]:
        """Everything as runs, narrow ones too."""
        return self._wide + [Run(shard, shard) for shard in self._narrow]

    async def cursors(self, tx: Tx, look: Look, marks: Sequence[Mark]) -> Page:
        """A page of cursors."""
        found = [await cursors.due(tx, run, look, marks) for run in self._wide]
        if self._narrow:
            found.append(await cursors.due_narrow(tx, self._narrow, look, marks))
        return self._page(found, look.limit)

    async def instances(self, tx: Tx, look: Look, marks: Sequence[Mark]) -> Page:
        """A page of waiting instances."""
        found = [await instances.due(tx, run, look, marks) for run in self._wide]
        if self._narrow:
            found.append(await instances.due_narrow(tx, self._narrow, look, marks))
        return self._page(found, look.limit)

    async def next_due(self, tx: Tx, without: Sequence[UUID]) -> datetime | None:
        """A time before which nothing of ours is due, by one statement; None when nothing waits."""
        return await coming.next_due(tx, self.runs, without, MAX_GLANCED_ROWS)

    def _page(self, found: Sequence[list[Timer]], limit: int) -> Page:
        """Several runs as one page of what is held; a class goes on behind the run that was cut off first."""
        more: dict[Class, Timer] = {}
        for timers in found:
            if len(timers) < limit:
                continue
            for class_, members in _by_class(timers).items():
                last = members[-1]
                if len(members) == limit and (class_ not in more or _order(last) < _order(more[class_])):
                    more[class_] = last
        return Page([timer for timers in found for timer in timers if timer.shard in self.shards], more)


def _by_class(timers: Iterable[Timer]) -> dict[Class, list[Timer]]:
    classes: dict[Class, list[Timer]] = {}
    for timer in timers:
        classes.setdefault((timer.priority, timer.lane), []).append(timer)
    return classes


def _order(timer: Timer) -> tuple[object, ...]:
    return timer.at, timer.shard, timer.id

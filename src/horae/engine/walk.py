"""One job, one transaction: a cursor with several verdicts, or none, or whose fires do not run beside each other.

Nearly all fires go by batch; these are worth their own commit. What is refused by the database is refused whole.
"""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from msgspec.structs import replace

from horae.domain.schedule import Fire as Fires
from horae.domain.schedule import Schedule, Step, stops
from horae.domain.timers import Timer
from horae.engine.admission.ready import Ready
from horae.engine.births import fire_row
from horae.engine.overlap import Exclusive
from horae.store import cursors, jobs
from horae.store.cells import Cell
from horae.store.cursors import Fire, skip_row
from horae.store.tx import Tx


class Walked(NamedTuple):
    """The fires that wait or run now, what was released for them to follow, and how many fires were counted."""

    born: list[Fire]
    freed: list[Timer]
    fired: int


class Overtaken(Exception):
    """The cursor has moved; nothing of this walk is kept."""


class Walker:
    """Moves cursors of one cell one by one, verdict after verdict."""

    def __init__(self, cell: Cell, owner: UUID) -> None:
        self.cell = cell
        self.owner = owner

    async def walk(self, ready: Ready, step: Step, schedule: Schedule, *, slot: bool) -> Walked | None:
        """All verdicts of a step, oldest first; None when someone else was faster."""

        async def work(tx: Tx) -> Walked:
            walked = await (self._alone if ready.job.exclusive else self._beside)(tx, ready, step, schedule, slot)
            stood = replace(ready.job, next_fire_at=ready.timer.at)
            if not step.verdicts and not await cursors.revise(tx, stood, ready.job.version, step.wake):
                raise Overtaken
            if step.wake is None:
                await jobs.complete(tx, [ready.job.shard], [ready.job.id])
            return walked

        try:
            return await self.cell.run(work)
        except Overtaken:
            return None

    async def _beside(self, tx: Tx, ready: Ready, step: Step, schedule: Schedule, _slot: bool) -> Walked:
        born: list[Fire] = []
        at, priority = ready.timer, ready.timer.priority
        for verdict, wake in stops(step, schedule):
            if isinstance(verdict, Fires):
                born.append(fire_row(ready, verdict, wake, tx.now))
                moved = await cursors.fire(tx, priority, born[-1:], self.owner)
            else:
                moved = await cursors.skip(tx, priority, [skip_row(at, verdict, wake, tx.now)])
            at = _at(at, wake, moved=bool(moved))
        return Walked(born, [], len(born))

    async def _alone(self, tx: Tx, ready: Ready, step: Step, schedule: Schedule, slot: bool) -> Walked:
        alone, at = Exclusive(tx, ready, self.owner, slot=slot), ready.timer
        if not await alone.begin():
            raise Overtaken
        for verdict, wake in stops(step, schedule):
            if isinstance(verdict, Fires):
                moved = await alone.fire(verdict, wake, at)
            else:
                moved = bool(await cursors.skip(tx, at.priority, [skip_row(at, verdict, wake, tx.now)]))
            at = _at(at, wake, moved=moved)
        return Walked(alone.born, alone.freed, alone.fired)


def _at(at: Timer, wake: datetime | None, *, moved: bool) -> Timer:
    if not moved:
        raise Overtaken
    return at if wake is None else at._replace(at=wake)

"""Cursors with several verdicts, or none, or whose fires do not run beside each other.

Nearly all fires go by batch and are sent at once; what stands here is behind, or is decided alone. So that neither one
statement nor one transaction grows with what was missed, a long walk is made in portions, each of which commits. What
interrupts a walk leaves the cursor where the last portion brought it, and the next look goes on from there.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from msgspec.structs import replace

from horae.domain.outcomes import SkipReason
from horae.domain.schedule import Fire as Fires
from horae.domain.schedule import Schedule, Step, Verdict, stops
from horae.domain.schedule import Skip as Skips
from horae.domain.timers import Timer
from horae.engine.admission.ready import Ready
from horae.engine.births import fire_row, next_timer, timer_of
from horae.engine.overlap import Exclusive
from horae.runtime.batch import halve
from horae.runtime.telemetry import log
from horae.store import cursors, jobs
from horae.store.cells import Cell
from horae.store.cursors import Fire, Move, Skip, skip_row
from horae.store.tx import BAD_ROW, TRY_AGAIN, Tx

ROWS_PER_STATEMENT: Final = 500
VERDICTS_PER_TRANSACTION: Final = 100
"""Of a job whose fires are decided one by one: each takes a statement or two."""
Stop = tuple[Verdict, datetime | None]
"""A verdict, and where its cursor goes from there."""


class Overtaken(Exception):
    """The cursor has moved; nothing of this portion is kept."""


LEFT: tuple[type[Exception], ...] = (*TRY_AGAIN, Overtaken)
"""The cursor is where it was, or where someone else brought it: the next look finds it there."""


class Walk:
    """One cursor on its way: where it stands, and what it has before it."""

    def __init__(self, ready: Ready, step: Step, schedule: Schedule) -> None:
        self.ready = ready
        self.at = ready.timer
        self.wake = step.wake
        self.left: list[Stop] = stops(step, schedule)[::-1]
        self.fired = 0

    def take(self, most: int) -> "Portion":
        """Its next verdicts; none where it has to be moved without any."""
        taken = [self.left.pop() for _ in range(min(most, len(self.left)))]
        return Portion(self, self.at, taken, taken[-1][1] if taken else self.wake)

    def went(self, portion: "Portion", fired: int) -> None:
        """A portion was written."""
        self.fired += fired
        if portion.wake is not None:
            self.at = self.at._replace(at=portion.wake)

    def give_up(self) -> None:
        """Someone else moved it, or it was refused."""
        self.left.clear()


class Portion(NamedTuple):
    """Consecutive verdicts of one cursor, from where it stands to where it goes with them."""

    walk: Walk
    at: Timer
    stops: list[Stop]
    wake: datetime | None

    def rows(self, now: datetime) -> tuple[list[Fire], list[Skip]]:
        """What it leaves behind."""
        ready = self.walk.ready
        fires = [fire_row(ready, verdict, wake, now) for verdict, wake in self.stops if isinstance(verdict, Fires)]
        skips = [skip_row(self.at, verdict, wake, now) for verdict, wake in self.stops if isinstance(verdict, Skips)]
        return fires, skips


class Walker:
    """Moves cursors of one cell. `follow` is told of every timer that this leaves to be due."""

    def __init__(self, cell: Cell, owner: UUID, follow: Callable[[Timer], None]) -> None:
        self.cell = cell
        self.owner = owner
        self.follow = follow

    async def walk(self, walks: Iterable[Walk]) -> None:
        """Walk cursors of one priority to their ends, as many verdicts in each statement as it may hold."""
        together: list[Portion] = []
        room = ROWS_PER_STATEMENT
        for walk in walks:
            while walk.left:
                portion = walk.take(room)
                together.append(portion)
                room -= len(portion.stops)
                if room == 0:
                    await self._write(together)
                    together, room = [], ROWS_PER_STATEMENT
        if together:
            await self._write(together)

    async def walk_alone(self, walk: Walk, *, slot: bool) -> list[Fire]:
        """Walk one cursor with a transaction for each portion; returns the fires that are RUNNING now.

        Its fires do not run beside each other, or it has no verdict at all and only goes on.
        """
        running: list[Fire] = []
        while True:
            portion = walk.take(VERDICTS_PER_TRANSACTION)
            try:
                alone = await self.cell.run(partial(self._move_alone, portion, slot and not running))
            except LEFT:
                return running
            except BAD_ROW as error:
                await self._refuse(portion, str(error))
                return running
            for fire in alone.born:
                if fire.token is not None:
                    running.append(fire)
                elif fire.queue is None:
                    self.follow(timer_of(portion.at, fire))
            for freed in alone.freed:
                self.follow(freed)
            walk.went(portion, alone.fired)
            if not walk.left:
                self._go_on(walk)
                return running

    async def _write(self, portions: Sequence[Portion]) -> None:
        try:
            done = await halve(portions, self._move, BAD_ROW)
        except TRY_AGAIN:
            done = None  # another node is at it too; the next look finds what is left
        went = set() if done is None else {id(portion) for portion in done.results}
        for portion, reason in [] if done is None else done.refused:
            await self._refuse(portion, reason)
        for portion in portions:
            if id(portion) not in went:
                portion.walk.give_up()
            elif not portion.walk.left:
                self._go_on(portion.walk)

    async def _move(self, portions: Sequence[Portion]) -> list[Portion]:
        """One statement, and one more where schedules end with it; returns those that were not overtaken."""
        rows = {portion.at.id: portion.rows(self.cell.clock.now()) for portion in portions}
        moves = [Move(at.shard, at.id, at.version, at.at, wake, len(rows[at.id][0])) for _, at, _, wake in portions]
        fires = [row for fires, _ in rows.values() for row in fires]
        skips = [row for _, skips in rows.values() for row in skips]
        last = any(portion.wake is None for portion in portions)
        async with self.cell.tx() if last else self.cell.statement() as tx:
            moved = await cursors.walk(tx, portions[0].at.priority, moves, fires, skips)
            went = [portion for portion in portions if portion.at.id in moved]
            await self._complete(tx, went)
        for portion in went:
            born, _ = rows[portion.at.id]
            portion.walk.went(portion, len(born))
            for fire in born:
                if fire.queue is None:
                    self.follow(timer_of(portion.at, fire))
        return went

    async def _move_alone(self, portion: Portion, slot: bool, tx: Tx) -> Exclusive:
        ready, at = portion.walk.ready, portion.at
        alone = Exclusive(tx, ready, self.owner, slot=slot)
        if not portion.stops:
            stood = replace(ready.job, next_fire_at=at.at)
            if not await cursors.revise(tx, stood, ready.job.version, portion.wake):
                raise Overtaken
        elif not await alone.begin(at):
            raise Overtaken
        for verdict, wake in portion.stops:
            if isinstance(verdict, Fires):
                moved = await alone.fire(verdict, wake, at)
            else:
                moved = bool(await cursors.skip(tx, at.priority, [skip_row(at, verdict, wake, tx.now)]))
            if not moved:
                raise Overtaken
            at = at if wake is None else at._replace(at=wake)
        await self._complete(tx, [portion])
        return alone

    async def _refuse(self, portion: Portion, reason: str) -> None:
        """One verdict for all fires that are left of a walk that the database refuses."""
        walk, at = portion.walk, portion.at
        verdicts = [verdict for verdict, _ in (*portion.stops, *reversed(walk.left))]
        walk.give_up()
        if not verdicts:
            return
        log.error("fire.refused", job=str(at.job_id), fire_time=at.at.isoformat(), reason=reason)
        last = verdicts[-1]
        until = last.until if isinstance(last, Skips) else last.fire_time
        fires = sum(verdict.fires if isinstance(verdict, Skips) else 1 for verdict in verdicts)
        async with self.cell.tx() as tx:
            refused = Skips(at.at, until, fires, SkipReason.REFUSED)
            if await cursors.skip(tx, at.priority, [skip_row(at, refused, walk.wake, tx.now, reason)]):
                await self._complete(tx, [portion._replace(wake=walk.wake)])

    async def _complete(self, tx: Tx, portions: Sequence[Portion]) -> None:
        over = [portion.at for portion in portions if portion.wake is None]
        if over:
            await jobs.complete(tx, [at.shard for at in over], [at.id for at in over])

    def _go_on(self, walk: Walk) -> None:
        if walk.wake is not None:
            self.follow(next_timer(walk.ready.timer, walk.wake, walk.fired))

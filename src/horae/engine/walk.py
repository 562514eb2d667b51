"""Moves cursors that have several verdicts, or none, or whose fires must not run in parallel.

Nearly all fires are inserted in batches and sent at once (`fire`). The cursors here are behind, or are decided alone. A
long walk is made in portions, and each portion commits, so that no statement and no transaction grows with the number
of missed fires. An interrupted walk leaves the cursor where the last portion put it; the next scan continues there.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from msgspec.structs import replace

from horae.domain.instances.outcomes import SkipReason
from horae.domain.schedules import FireVerdict as Fires
from horae.domain.schedules import Schedule, Step, Verdict, verdicts_with_positions
from horae.domain.schedules import SkipVerdict as Skips
from horae.domain.schedules.timers import Timer
from horae.engine.admission.target import DueCall
from horae.engine.fire_parts import MILLISECOND, fire_row, next_timer, timer_of
from horae.engine.overlap import Exclusive
from horae.runtime.batch import halve
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.jobs import jobs
from horae.store.schedules import cursors
from horae.store.schedules.cursors import CursorMove, FireRow, SkipRow, skip_row
from horae.store.tx import BAD_ROW, TRY_AGAIN, Tx

ROWS_PER_STATEMENT: Final = 500
VERDICTS_PER_TRANSACTION: Final = 100
"""For a job whose fires are decided one by one: each takes one or two statements."""
Stop = tuple[Verdict, datetime | None]
"""A verdict, and the time to which the cursor moves with it; None: the schedule ends."""


class Overtaken(Exception):
    """Another node or a change has moved the cursor. The transaction of this portion is rolled back."""


LEFT: tuple[type[Exception], ...] = (*TRY_AGAIN, Overtaken)
"""Errors after which this portion has changed nothing. The next scan finds the cursor where it is."""


class Walk:
    """The way of one cursor: `at` is where it stands, `left` are the verdicts ahead of it in reverse order."""

    def __init__(self, ready: DueCall, step: Step, schedule: Schedule) -> None:
        self.ready = ready
        self.at = ready.timer
        self.wake = step.wake
        self.left: list[Stop] = verdicts_with_positions(step, schedule)[::-1]
        self.fired = 0

    def take(self, most: int) -> "Portion":
        """The next verdicts as a portion. Without verdicts the portion only moves the cursor."""
        taken = [self.left.pop() for _ in range(min(most, len(self.left)))]
        return Portion(self, self.at, taken, taken[-1][1] if taken else self.wake)

    def move_past(self, portion: "Portion", fired: int) -> None:
        """Move to the end of a portion that was written."""
        self.fired += fired
        if portion.wake is not None:
            self.at = self.at._replace(at=portion.wake)

    def give_up(self) -> None:
        """Drop the rest of the walk: the cursor was moved elsewhere, or the database refused a row."""
        self.left.clear()


class Portion(NamedTuple):
    """Consecutive verdicts of one cursor: from `at`, where it stands, to `wake`, where it goes."""

    walk: Walk
    at: Timer
    stops: list[Stop]
    wake: datetime | None

    def rows(self, now: datetime) -> tuple[list[FireRow], list[SkipRow]]:
        """The rows that this portion inserts: instances, and skipped fires."""
        ready = self.walk.ready
        fires = [fire_row(ready, verdict, wake, now) for verdict, wake in self.stops if isinstance(verdict, Fires)]
        skips = [skip_row(self.at, verdict, wake, now) for verdict, wake in self.stops if isinstance(verdict, Skips)]
        return fires, skips


class Walker:
    """Moves cursors of one cell. `announce` gets every new timer."""

    def __init__(self, cell: Cell, owner: UUID, announce: Callable[[Timer], None]) -> None:
        self.cell = cell
        self.owner = owner
        self.announce = announce

    async def walk(self, walks: Iterable[Walk]) -> None:
        """Walk cursors of one priority to their ends, with up to `ROWS_PER_STATEMENT` verdicts per statement."""
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

    async def walk_alone(self, walk: Walk, *, slot: bool) -> list[FireRow]:
        """Walk one cursor, with one transaction per portion; returns the fires that are RUNNING now.

        This is for fires that must not run in parallel, and for a cursor without a verdict, which only moves.
        """
        running: list[FireRow] = []
        while True:
            portion = walk.take(VERDICTS_PER_TRANSACTION)
            try:
                alone = await self.cell.run(partial(self._move_alone, portion, slot and not running))
            except LEFT:
                return running
            except BAD_ROW as error:
                await self._refuse(portion, str(error))
                return running
            for fire in alone.inserted:
                if fire.token is not None:
                    running.append(fire)
                elif fire.queue is None:
                    self.announce(timer_of(portion.at, fire))
            for freed in alone.freed:
                self.announce(freed)
            self._count(portion)
            now, held = self.cell.clock.now(), MILLISECOND * walk.ready.held_ms
            self.cell.level_counts.count_overlaps(portion.at, alone.skipped, now, held)
            walk.move_past(portion, alone.fired)
            if not walk.left:
                self._announce_next(walk)
                return running

    async def _write(self, portions: Sequence[Portion]) -> None:
        try:
            done = await halve(portions, self._move, BAD_ROW)
        except TRY_AGAIN:
            done = None  # another node moves the same cursors; the next scan finds the rest
        went = set() if done is None else {id(portion) for portion in done.results}
        for portion, reason in [] if done is None else done.refused:
            await self._refuse(portion, reason)
        for portion in portions:
            if id(portion) not in went:
                portion.walk.give_up()
            elif not portion.walk.left:
                self._announce_next(portion.walk)

    async def _move(self, portions: Sequence[Portion]) -> list[Portion]:
        """Write portions by one statement, and one more if schedules end; returns the portions that took effect."""
        rows = {portion.at.id: portion.rows(self.cell.clock.now()) for portion in portions}
        moves = [
            CursorMove(at.shard, at.id, at.version, at.at, wake, len(rows[at.id][0])) for _, at, _, wake in portions
        ]
        fires = [row for fires, _ in rows.values() for row in fires]
        skips = [row for _, skips in rows.values() for row in skips]
        last = any(portion.wake is None for portion in portions)
        async with self.cell.tx() if last else self.cell.statement() as tx:
            moved = await cursors.walk(tx, portions[0].at.priority, moves, fires, skips)
            went = [portion for portion in portions if portion.at.id in moved]
            await self._complete(tx, went)
        for portion in went:
            self._count(portion)
            inserted, _ = rows[portion.at.id]
            portion.walk.move_past(portion, len(inserted))
            for fire in inserted:
                if fire.queue is None:
                    self.announce(timer_of(portion.at, fire))
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
        """The database refuses a row: skip all remaining fires of the walk, recorded as one REFUSED range."""
        walk, at = portion.walk, portion.at
        verdicts = [verdict for verdict, _ in (*portion.stops, *reversed(walk.left))]
        walk.give_up()
        if not verdicts:
            return
        log.error("fire.refused", job=at.job_id, fire_time=at.at.isoformat(), reason=reason)
        last = verdicts[-1]
        until = last.until if isinstance(last, Skips) else last.fire_time
        fires = sum(verdict.fires if isinstance(verdict, Skips) else 1 for verdict in verdicts)
        refused = Skips(at.at, until, fires, SkipReason.REFUSED)
        async with self.cell.tx() as tx:
            if await cursors.skip(tx, at.priority, [skip_row(at, refused, walk.wake, tx.now, reason)]):
                await self._complete(tx, [portion._replace(wake=walk.wake)])
        self.cell.level_counts.count_skip(at, refused, self.cell.clock.now())

    def _count(self, portion: Portion) -> None:
        """Count the missed fires of a portion that was written."""
        verdicts = (verdict for verdict, _ in portion.stops)
        self.cell.level_counts.count_verdicts(portion.at, verdicts, self.cell.clock.now())

    async def _complete(self, tx: Tx, portions: Sequence[Portion]) -> None:
        over = [portion.at for portion in portions if portion.wake is None]
        if over:
            await jobs.complete(tx, [at.shard for at in over], [at.id for at in over])

    def _announce_next(self, walk: Walk) -> None:
        if walk.wake is not None:
            self.announce(next_timer(walk.ready.timer, walk.wake, walk.fired))

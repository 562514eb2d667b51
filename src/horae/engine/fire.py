"""Fires due cursors: asks each schedule for its verdict, then moves cursors and inserts instances in one statement.

1. If several nodes believe that they own a shard, the compare-and-set of the cursor lets one of them through.
2. Every fire that a cursor passes leaves a row: an instance, or a skipped fire.
3. A fire with a slot is inserted as RUNNING and sent at once. Other fires are inserted as waiting.
4. Cursors that are behind, and fires that are decided alone, take longer. They are returned to the dispatcher, which
   handles them separately, so that they do not delay the others.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple
from uuid import UUID

from horae.domain.errors import HoraeError
from horae.domain.instances.instances import Priority
from horae.domain.instances.outcomes import SkipReason
from horae.domain.measures.in_force import MeasuresInForce
from horae.domain.measures.measures import MeasureAction
from horae.domain.schedules import FireVerdict as Fires
from horae.domain.schedules import OnMisfire, Step, advance, skip_until
from horae.domain.schedules import SkipVerdict as Skips
from horae.domain.schedules.advance import ON_TIME_TOLERANCE
from horae.domain.schedules.timers import Timer
from horae.domain.targets.targets import PUSHED
from horae.engine.admission.target import DueCall
from horae.engine.agenda import WRITE_AHEAD
from horae.engine.calendars import Almanac
from horae.engine.fire_parts import Flight, fire_row, flight_of, next_timer, timer_of
from horae.engine.walk import Walk, Walker
from horae.runtime import randomness
from horae.runtime.batch import RefusedRow, halve
from horae.runtime.telemetry import log
from horae.store.cells import Cell
from horae.store.jobs import jobs
from horae.store.schedules import cursors
from horae.store.schedules.cursors import FireRow, SkipRow, skip_row
from horae.store.tx import BAD_ROW, CUT, GONE, TRY_AGAIN, Tx


class DueCursor(NamedTuple):
    """A due cursor, and the step that its schedule computes."""

    ready: DueCall
    step: Step


class FiredBatch(NamedTuple):
    """The result of a batch: calls to send now, fires to decide alone, and cursors that are behind.

    The effect of `unanswered` is unknown: the database did not answer, or an error was raised.
    """

    flights: list[Flight]
    alone: list[DueCall]
    behind: list[DueCall]
    unanswered: list[DueCall]


class Firer:
    """Turns due cursors of one cell into instances. `unread` counts schedules that could not be evaluated."""

    def __init__(
        self,
        cell: Cell,
        owner: UUID,
        announce: Callable[[Timer], None],
        paused_until: Callable[[UUID], datetime | None] = lambda _tenant_id: None,
    ) -> None:
        self.cell = cell
        self.owner = owner
        self.announce = announce
        self.paused_until = paused_until
        self.almanac = Almanac(cell)
        self.walker = Walker(cell, owner, announce)
        self.unread = 0
        self._thinned: set[UUID] | None = None  # the jobs whose next low-priority fire is left out

    def follow_measures(self, measures: MeasuresInForce) -> None:
        """Note whether low-priority fires are thinned from now on."""
        if MeasureAction.THIN_LOW not in measures.platform:
            self._thinned = None
        elif self._thinned is None:
            self._thinned = set()

    async def fire(self, readies: Sequence[DueCall], *, slots: bool) -> FiredBatch:
        """Fire a batch. With slots, due calls are inserted as RUNNING and returned; all others wait in their rows.

        The cursors in `alone` and `behind` are not fired yet. An error in one priority loses no call of another.
        """
        await self._learn_calendars(readies)
        fired = FiredBatch([], [], [], [])
        for priority, batch in _by_priority(readies).items():
            try:
                await self._fire_plain(priority, self._sort(batch, fired), fired.flights, slots=slots)
            except (*GONE, *CUT, *TRY_AGAIN) as error:
                if not self.cell.reach.is_down:  # the log says so once, not for each batch
                    log.warning("fire.postponed", count=len(batch), reason=str(error) or type(error).__name__)
                fired.unanswered.extend(batch)
            except Exception:
                log.exception("fire.failed", count=len(batch))
                fired.unanswered.extend(batch)
        return fired

    async def fire_alone(self, ready: DueCall, *, slot: bool) -> list[Flight]:
        """Fire a job whose fires must not run in parallel. With a slot, one of them may be RUNNING now."""
        await self._learn_calendars([ready])
        one = self._evaluate(ready, self.cell.clock.now())
        if one is None:
            return []
        walk = Walk(ready, one.step, self.almanac.schedule(ready.job))
        running = await self.walker.walk_alone(walk, slot=slot)
        now = self.cell.clock.now()
        return [flight_of(ready, fire, now) for fire in running]

    async def catch_up(self, readies: Sequence[DueCall]) -> None:
        """Move cursors that are behind. Every fire they pass gets a row; a fire that is to run waits in it."""
        await self._learn_calendars(readies)
        for batch in _by_priority(readies).values():
            alone = [ready for ready in batch if ready.job.exclusive]
            await self.walker.walk(self._walks([ready for ready in batch if not ready.job.exclusive], alone))
            for ready in alone:
                await self.fire_alone(ready, slot=False)

    def _walks(self, readies: Sequence[DueCall], alone: list[DueCall]) -> Iterator[Walk]:
        """The walks of cursors, computed lazily because each may be long. Cursors without a verdict go to `alone`."""
        for ready in readies:
            one = self._evaluate(ready, self.cell.clock.now())
            if one is not None and one.step.verdicts:
                yield Walk(ready, one.step, self.almanac.schedule(ready.job))
            elif one is not None:
                alone.append(ready)

    async def _learn_calendars(self, readies: Sequence[DueCall]) -> None:
        if any(ready.job.calendars for ready in readies):
            await self.almanac.learn(ready.job for ready in readies)

    def _sort(self, readies: Sequence[DueCall], fired: FiredBatch) -> list[DueCursor]:
        """The cursors of a batch with exactly one verdict. The others are added to `fired.alone` or `fired.behind`.

        For a job that is late and catches up every missed fire, no verdict is computed here: there may be very many.
        """
        now = self.cell.clock.now()
        late = now - ON_TIME_TOLERANCE
        plain: list[DueCursor] = []
        for ready in readies:
            if ready.job.exclusive or (ready.timer.at < late and _makes_up_for_all(ready)):
                (fired.behind if ready.timer.at < late else fired.alone).append(ready)
            elif (one := self._evaluate(ready, now)) is not None:
                if len(one.step.verdicts) == 1:
                    plain.append(one)
                else:
                    fired.behind.append(ready)
        return plain

    def _evaluate(self, ready: DueCall, now: datetime) -> DueCursor | None:
        """The step of a cursor by its schedule; None if the schedule cannot be evaluated, which is logged.

        Then its zone or calendar is not known here yet, or it raised an error. The cursor stays, and a later scan tries
        again. The other cursors of the batch are not affected.
        """
        try:
            return DueCursor(ready, self._step(ready, now))
        except Exception as error:
            self.unread += 1
            timer, expected = ready.timer, isinstance(error, (HoraeError, LookupError))
            log.error(
                "schedule.unreadable",
                tenant=timer.tenant_id,
                job=timer.job_id,
                version=timer.version,
                reason=str(error),
                exc_info=None if expected else error,
            )
            return None

    def _step(self, ready: DueCall, now: datetime) -> Step:
        """The step of a cursor. Fires before the end of its tenant's pause become one PAUSED range."""
        timer, schedule = ready.timer, self.almanac.schedule(ready.job)
        until = self.paused_until(timer.tenant_id)
        if until is not None and timer.at <= until:
            return skip_until(schedule, timer.at, until, SkipReason.PAUSED, fired=timer.fired or 0)
        if self._thinned is not None and timer.priority == Priority.LOW and self._is_thinned(timer, now):
            return skip_until(schedule, timer.at, timer.at, SkipReason.PEAK, fired=timer.fired or 0)
        return advance(schedule, timer.at, now, fired=timer.fired or 0)

    def _is_thinned(self, timer: Timer, now: datetime) -> bool:
        """Whether this low-priority fire is left out: every second one of a job, if it is on time."""
        assert self._thinned is not None
        if now - timer.at > ON_TIME_TOLERANCE:
            return False
        if timer.id in self._thinned:
            self._thinned.discard(timer.id)
            return True
        self._thinned.add(timer.id)
        return False

    async def _fire_plain(
        self, priority: Priority, reached: Sequence[DueCursor], flights: list[Flight], *, slots: bool
    ) -> None:
        """Write one fire or one skip per cursor, in batches: this is the way of nearly all fires.

        1. Build the rows. A fire that can be sent now gets a token, and is inserted as RUNNING.
        2. Insert the fires. A row that the database refuses becomes a skip.
        3. Add the RUNNING fires to `flights`; follow the timers of waiting fires and of moved cursors.
        4. Write the skips, and follow their cursors.
        """
        now, token = self.cell.clock.now(), randomness.new_token()
        soon = now + WRITE_AHEAD
        fires: list[FireRow] = []
        skips: list[SkipRow] = []
        of: dict[UUID, DueCursor] = {}
        for one in reached:
            timer, job = one.ready.timer, one.ready.job
            [verdict] = one.step.verdicts
            if isinstance(verdict, Fires):
                called = slots and verdict.due_at <= soon and isinstance(job.definition.target, PUSHED)
                fire = fire_row(one.ready, verdict, one.step.wake, now, token if called else None)
                fires.append(fire)
                of[fire.id] = one
            else:
                skip = skip_row(timer, verdict, one.step.wake, now)
                skips.append(skip)
                of[skip.id] = one
        inserted, refused = await self._fire(priority, fires)
        flights += self._flights_of(inserted, of)
        for row, reason in refused:
            skip = _refused_skip(of[row.id].ready.timer, row.fire_time, row.next_fire_at, reason, now)
            skips.append(skip)
            of[skip.id] = of[row.id]
        written = await self._skip(priority, skips)
        for skip in skips:
            if skip.id in written:
                self.cell.level_counts.count_skip(of[skip.id].ready.timer, skip, now)
                self._announce_next(of[skip.id], 0)

    def _flights_of(self, inserted: Sequence[FireRow], of: dict[UUID, DueCursor]) -> list[Flight]:
        flights: list[Flight] = []
        now = self.cell.clock.now()
        late = now - ON_TIME_TOLERANCE
        for fire in inserted:
            one = of[fire.id]
            if fire.fire_time < late:  # missed, and caught up now
                self.cell.level_counts.count_verdicts(one.ready.timer, one.step.verdicts, now)
            if fire.token is not None:
                flights.append(flight_of(one.ready, fire, now))
            elif fire.queue is None:
                self.announce(timer_of(one.ready.timer, fire))
            self._announce_next(one, 1)
        return flights

    def _announce_next(self, one: DueCursor, fired: int) -> None:
        if one.step.wake is not None:
            self.announce(next_timer(one.ready.timer, one.step.wake, fired))

    async def _fire(
        self, priority: Priority, fires: Sequence[FireRow]
    ) -> tuple[list[FireRow], list[RefusedRow[FireRow]]]:
        """Insert a batch of fires; returns the inserted rows, and the refused rows with their reasons."""
        done = await halve(sorted(fires), partial(self._insert, priority), BAD_ROW)
        return done.results, done.refused

    async def _insert(self, priority: Priority, fires: Sequence[FireRow]) -> list[FireRow]:
        """Insert fires by one statement, and one more if schedules end. After a deadlock it is repeated."""
        last = any(fire.next_fire_at is None for fire in fires)

        async def work(tx: Tx) -> list[FireRow]:
            ids = await cursors.fire(tx, priority, fires, self.owner)
            inserted = [fire for fire in fires if fire.id in ids]
            if last:
                await self._complete(tx, inserted)
            return inserted

        return await (self.cell.run if last else self.cell.run_statements)(work)

    async def _skip(self, priority: Priority, skips: Sequence[SkipRow]) -> set[UUID]:
        if not skips:
            return set()

        async def work(tx: Tx) -> set[UUID]:
            skipped = await cursors.skip(tx, priority, sorted(skips))
            await self._complete(tx, (skip for skip in skips if skip.id in skipped))
            return skipped

        return await self.cell.run(work)

    async def _complete(self, tx: Tx, moved: Iterable[FireRow | SkipRow]) -> None:
        over = [row for row in moved if row.next_fire_at is None]
        if over:
            await jobs.complete(tx, [row.shard for row in over], [row.job_id for row in over])


def _by_priority(readies: Sequence[DueCall]) -> dict[Priority, list[DueCall]]:
    found: dict[Priority, list[DueCall]] = {}
    for ready in readies:
        found.setdefault(ready.timer.priority, []).append(ready)
    return found


def _makes_up_for_all(ready: DueCall) -> bool:
    return ready.job.definition.policies.misfire.policy is OnMisfire.ALL


def _refused_skip(timer: Timer, at: datetime, wake: datetime | None, reason: str, now: datetime) -> SkipRow:
    log.error("fire.refused", tenant=timer.tenant_id, job=timer.job_id, fire_time=at.isoformat(), reason=reason)
    return skip_row(timer, Skips(at, at, 1, SkipReason.REFUSED), wake, now, reason)

"""Fire what is due: ask each schedule for its verdict, move the cursor and give birth in one statement.

Whoever else believes to own these shards: the cursor's compare-and-set lets one through. Every fire a cursor passes
leaves a row, born or skipped. A fire with a slot in hand is born RUNNING and goes to its target at once.

Nothing that takes long stands before those: cursors that are behind, and fires that are decided alone, are handed back
to be done as work of their own.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple
from uuid import UUID

from horae.domain.errors import HoraeError
from horae.domain.instances import Priority
from horae.domain.outcomes import SkipReason
from horae.domain.schedule import Fire as Fires
from horae.domain.schedule import OnMisfire, Step, advance, passed
from horae.domain.schedule import Skip as Skips
from horae.domain.schedule.advance import LATE
from horae.domain.targets import PUSHED
from horae.domain.timers import Timer
from horae.engine.admission.ready import Ready
from horae.engine.agenda import AHEAD
from horae.engine.almanac import Almanac
from horae.engine.births import Flight, fire_row, in_flight, next_timer, timer_of
from horae.engine.walk import Walk, Walker
from horae.runtime import chance
from horae.runtime.batch import Refused, halve
from horae.runtime.telemetry import log
from horae.store import cursors, jobs
from horae.store.cells import Cell
from horae.store.cursors import Fire, Skip, skip_row
from horae.store.tx import BAD_ROW, CUT, GONE, TRY_AGAIN, Tx


class Reached(NamedTuple):
    """A due cursor with its job, and what its schedule says."""

    ready: Ready
    step: Step


class FiredBatch(NamedTuple):
    """What came of a batch: calls that can be sent now, fires that are decided alone, and cursors that are behind.

    Of `unanswered` nothing is known: the database did not answer.
    """

    flights: list[Flight]
    alone: list[Ready]
    behind: list[Ready]
    unanswered: list[Ready]


class Firer:
    """Turns due cursors of one cell into instances. `unread` counts those whose schedule could not be read."""

    def __init__(
        self,
        cell: Cell,
        owner: UUID,
        follow: Callable[[Timer], None],
        paused_until: Callable[[UUID], datetime | None] = lambda _tenant_id: None,
    ) -> None:
        self.cell = cell
        self.owner = owner
        self.follow = follow
        self.paused_until = paused_until
        self.almanac = Almanac(cell)
        self.walker = Walker(cell, owner, follow)
        self.unread = 0

    async def fire(self, readies: Sequence[Ready], *, slots: bool) -> FiredBatch:
        """Fire a batch. With slots in hand what is due now is born RUNNING and returned, all else waits in its row.

        `alone` and `behind` were not fired yet. Whatever fails loses no call that was let start before.
        """
        await self._learn_calendars(readies)
        fired = FiredBatch([], [], [], [])
        for priority, batch in _by_priority(readies).items():
            try:
                await self._fire_plain(priority, self._sort(batch, fired), fired.flights, slots=slots)
            except (*GONE, *CUT, *TRY_AGAIN) as error:
                log.warning("fire.postponed", count=len(batch), reason=str(error) or type(error).__name__)
                fired.unanswered.extend(batch)
            except Exception:
                log.exception("fire.failed", count=len(batch))
                fired.unanswered.extend(batch)
        return fired

    async def fire_alone(self, ready: Ready, *, slot: bool) -> list[Flight]:
        """Fire a job whose fires do not run beside each other; with a slot in hand one may be RUNNING now."""
        await self._learn_calendars([ready])
        one = self._ask(ready, self.cell.clock.now())
        if one is None:
            return []
        walk = Walk(ready, one.step, self.almanac.schedule(ready.job))
        running = await self.walker.walk_alone(walk, slot=slot)
        now = self.cell.clock.now()
        return [in_flight(ready, fire, now) for fire in running]

    async def catch_up(self, readies: Sequence[Ready]) -> None:
        """Move cursors that are behind; every fire they have passed has its row then, and waits where it runs."""
        await self._learn_calendars(readies)
        for batch in _by_priority(readies).values():
            alone = [ready for ready in batch if ready.job.exclusive]
            await self.walker.walk(self._walks([ready for ready in batch if not ready.job.exclusive], alone))
            for ready in alone:
                await self.fire_alone(ready, slot=False)

    def _walks(self, readies: Sequence[Ready], alone: list[Ready]) -> Iterator[Walk]:
        """What each has before it, found when it is asked for: it may be much. One without any verdict goes alone."""
        for ready in readies:
            one = self._ask(ready, self.cell.clock.now())
            if one is not None and one.step.verdicts:
                yield Walk(ready, one.step, self.almanac.schedule(ready.job))
            elif one is not None:
                alone.append(ready)

    async def _learn_calendars(self, readies: Sequence[Ready]) -> None:
        if any(ready.job.calendars for ready in readies):
            await self.almanac.learn(ready.job for ready in readies)

    def _sort(self, readies: Sequence[Ready], fired: FiredBatch) -> list[Reached]:
        """Those of a batch whose cursor has one verdict; the others are put where they belong.

        How many fires a job is behind of which each is made up for is not even counted here.
        """
        now = self.cell.clock.now()
        late = now - LATE
        plain: list[Reached] = []
        for ready in readies:
            if ready.job.exclusive or (ready.timer.at < late and _makes_up_for_all(ready)):
                (fired.behind if ready.timer.at < late else fired.alone).append(ready)
            elif (one := self._ask(ready, now)) is not None:
                if len(one.step.verdicts) == 1:
                    plain.append(one)
                else:
                    fired.behind.append(ready)
        return plain

    def _ask(self, ready: Ready, now: datetime) -> Reached | None:
        """What a schedule says.

        One that cannot be read here (its zone or calendar is not known yet), or that fails, waits where it stands: a
        later look asks again. Whatever it raises says nothing about the others of its batch.
        """
        try:
            return Reached(ready, self._step(ready, now))
        except Exception as error:
            self.unread += 1
            timer, expected = ready.timer, isinstance(error, (HoraeError, LookupError))
            log.error(
                "schedule.unreadable",
                job=str(timer.job_id),
                version=timer.version,
                reason=str(error),
                exc_info=None if expected else error,
            )
            return None

    def _step(self, ready: Ready, now: datetime) -> Step:
        """What becomes of where a cursor stands; before the end of its tenant's pause all is one PAUSED range."""
        timer, schedule = ready.timer, self.almanac.schedule(ready.job)
        until = self.paused_until(timer.tenant_id)
        if until is not None and timer.at <= until:
            return passed(schedule, timer.at, until, SkipReason.PAUSED, fired=timer.fired or 0)
        return advance(schedule, timer.at, now, fired=timer.fired or 0)

    async def _fire_plain(
        self, priority: Priority, reached: Sequence[Reached], flights: list[Flight], *, slots: bool
    ) -> None:
        """One fire or one skip per cursor: the way of nearly all, by batch. What can be sent joins the flights."""
        now, token = self.cell.clock.now(), chance.token()
        soon = now + AHEAD
        fires: list[Fire] = []
        skips: list[Skip] = []
        of: dict[UUID, Reached] = {}
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
        born, refused = await self._fire(priority, fires)
        flights += self._send_off(born, of)
        for row, reason in refused:
            skip = _refused(of[row.id].ready.timer, row.fire_time, row.next_fire_at, reason, now)
            skips.append(skip)
            of[skip.id] = of[row.id]
        for id_ in await self._skip(priority, skips):
            self._go_on(of[id_], 0)

    def _send_off(self, born: Sequence[Fire], of: dict[UUID, Reached]) -> list[Flight]:
        flights: list[Flight] = []
        now = self.cell.clock.now()
        for fire in born:
            one = of[fire.id]
            if fire.token is not None:
                flights.append(in_flight(one.ready, fire, now))
            elif fire.queue is None:
                self.follow(timer_of(one.ready.timer, fire))
            self._go_on(one, 1)
        return flights

    def _go_on(self, one: Reached, fired: int) -> None:
        if one.step.wake is not None:
            self.follow(next_timer(one.ready.timer, one.step.wake, fired))

    async def _fire(self, priority: Priority, fires: Sequence[Fire]) -> tuple[list[Fire], list[Refused[Fire]]]:
        """Give birth to a batch; a row that fails on its own comes back with the reason it gave."""
        done = await halve(sorted(fires), partial(self._birth, priority), BAD_ROW)
        return done.results, done.refused

    async def _birth(self, priority: Priority, fires: Sequence[Fire]) -> list[Fire]:
        """One statement, and one more where schedules end with it; again where it collided with someone else's."""
        last = any(fire.next_fire_at is None for fire in fires)

        async def work(tx: Tx) -> list[Fire]:
            ids = await cursors.fire(tx, priority, fires, self.owner)
            born = [fire for fire in fires if fire.id in ids]
            if last:
                await self._complete(tx, born)
            return born

        return await (self.cell.run if last else self.cell.run_statements)(work)

    async def _skip(self, priority: Priority, skips: Sequence[Skip]) -> set[UUID]:
        if not skips:
            return set()

        async def work(tx: Tx) -> set[UUID]:
            told = await cursors.skip(tx, priority, sorted(skips))
            await self._complete(tx, (skip for skip in skips if skip.id in told))
            return told

        return await self.cell.run(work)

    async def _complete(self, tx: Tx, moved: Iterable[Fire | Skip]) -> None:
        over = [row for row in moved if row.next_fire_at is None]
        if over:
            await jobs.complete(tx, [row.shard for row in over], [row.job_id for row in over])


def _by_priority(readies: Sequence[Ready]) -> dict[Priority, list[Ready]]:
    found: dict[Priority, list[Ready]] = {}
    for ready in readies:
        found.setdefault(ready.timer.priority, []).append(ready)
    return found


def _makes_up_for_all(ready: Ready) -> bool:
    return ready.job.definition.policies.misfire.policy is OnMisfire.ALL


def _refused(timer: Timer, at: datetime, wake: datetime | None, reason: str, now: datetime) -> Skip:
    log.error("fire.refused", job=str(timer.job_id), fire_time=at.isoformat(), reason=reason)
    return skip_row(timer, Skips(at, at, 1, SkipReason.REFUSED), wake, now, reason)

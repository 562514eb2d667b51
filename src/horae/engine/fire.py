"""Fire what is due: ask each schedule for its verdict, move the cursor and give birth in one statement.

Whoever else believes to own these shards: the cursor's compare-and-set lets one through. Every fire a cursor passes
leaves a row, born or skipped. A fire with a slot in hand is born RUNNING and goes to its target at once.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple
from uuid import UUID

from horae.domain.errors import HoraeError
from horae.domain.instances import Priority
from horae.domain.outcomes import SkipReason
from horae.domain.schedule import Fire as Fires
from horae.domain.schedule import Skip as Skips
from horae.domain.schedule import Step, Verdict, advance, passed
from horae.domain.targets import PUSHED
from horae.domain.timers import Timer
from horae.engine.admission.ready import Ready
from horae.engine.agenda import AHEAD
from horae.engine.almanac import Almanac
from horae.engine.births import Flight, fire_row, in_flight, next_timer, timer_of
from horae.engine.walk import Walker
from horae.runtime import chance
from horae.runtime.batch import Refused, halve
from horae.runtime.telemetry import log
from horae.store import cursors, jobs
from horae.store.cells import Cell
from horae.store.cursors import Fire, Skip, skip_row
from horae.store.tx import BAD_ROW, TRY_AGAIN, Tx


class Reached(NamedTuple):
    """A due cursor with its job, and what its schedule says."""

    ready: Ready
    step: Step


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
        self.walker = Walker(cell, owner)
        self.unread = 0

    async def fire(self, readies: Sequence[Ready], *, slots: bool) -> list[Flight]:
        """Fire a batch. With slots in hand what is due now is born RUNNING and returned, all else waits in its row."""
        if any(ready.job.calendars for ready in readies):
            async with self.cell.statement() as tx:
                await self.almanac.learn(tx, (ready.job for ready in readies))
        flights: list[Flight] = []
        for priority, batch in _by_priority(readies).items():
            reached = self._ask(batch)
            plain = [one for one in reached if _plain(one)]
            flights += await self._fire_plain(priority, plain, slots=slots)
            if len(plain) < len(reached):
                for one in reached:
                    if not _plain(one):
                        flights += await self._walk(priority, one, slot=slots)
        return flights

    def _ask(self, readies: Sequence[Ready]) -> list[Reached]:
        """What each schedule says.

        One that this release cannot read (a zone that only newer time zone data have) waits where it stands: a later
        look asks again, and a newer node goes on with it.
        """
        now = self.cell.clock.now()
        reached: list[Reached] = []
        for ready in readies:
            timer = ready.timer
            try:
                reached.append(Reached(ready, self._step(ready, now)))
            except (HoraeError, LookupError) as error:
                self.unread += 1
                log.error("schedule.unreadable", job=str(timer.job_id), version=timer.version, reason=str(error))
        return reached

    def _step(self, ready: Ready, now: datetime) -> Step:
        """What becomes of where a cursor stands; before the end of its tenant's pause all is one PAUSED range."""
        timer, schedule = ready.timer, self.almanac.schedule(ready.job)
        until = self.paused_until(timer.tenant_id)
        if until is not None and timer.at <= until:
            return passed(schedule, timer.at, until, SkipReason.PAUSED, fired=timer.fired or 0)
        return advance(schedule, timer.at, now, fired=timer.fired or 0)

    async def _fire_plain(self, priority: Priority, reached: Sequence[Reached], *, slots: bool) -> list[Flight]:
        """One fire or one skip per cursor: the way of nearly all, by batch."""
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
        for row, reason in refused:
            skip = _refused(of[row.id].ready.timer, row.fire_time, row.next_fire_at, reason, now)
            skips.append(skip)
            of[skip.id] = of[row.id]
        for id_ in await self._skip(priority, skips):
            self._go_on(of[id_], 0)
        return self._send_off(born, of)

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
        try:
            done = await halve(sorted(fires), partial(self._birth, priority), BAD_ROW)
        except TRY_AGAIN:
            return [], []  # another node is at it too; the next look finds what is left
        return done.results, done.refused

    async def _birth(self, priority: Priority, fires: Sequence[Fire]) -> list[Fire]:
        last = any(fire.next_fire_at is None for fire in fires)
        async with self.cell.tx() if last else self.cell.statement() as tx:
            ids = await cursors.fire(tx, priority, fires, self.owner)
            born = [fire for fire in fires if fire.id in ids]
            if last:
                await self._complete(tx, born)
            return born

    async def _skip(self, priority: Priority, skips: Sequence[Skip]) -> set[UUID]:
        if not skips:
            return set()
        async with self.cell.tx() as tx:
            told = await cursors.skip(tx, priority, skips)
            await self._complete(tx, (skip for skip in skips if skip.id in told))
            return told

    async def _walk(self, priority: Priority, one: Reached, *, slot: bool) -> list[Flight]:
        """One job in its own transaction; a walk that the database refuses leaves one verdict for all its fires."""
        timer, step = one.ready.timer, one.step
        try:
            walked = await self.walker.walk(one.ready, step, self.almanac.schedule(one.ready.job), slot=slot)
        except TRY_AGAIN:
            return []  # the next look finds it where it is
        except BAD_ROW as error:
            now = self.cell.clock.now()
            await self._skip(priority, [_refused(timer, timer.at, step.wake, str(error), now, step.verdicts)])
            return []
        if walked is None:
            return []
        for fire in walked.born:
            if fire.token is None and fire.queue is None:
                self.follow(timer_of(timer, fire))
        for freed in walked.freed:
            self.follow(freed)
        self._go_on(one, walked.fired)
        now = self.cell.clock.now()
        return [in_flight(one.ready, fire, now) for fire in walked.born if fire.token is not None]

    async def _complete(self, tx: Tx, moved: Iterable[Fire | Skip]) -> None:
        over = [row for row in moved if row.next_fire_at is None]
        if over:
            await jobs.complete(tx, [row.shard for row in over], [row.job_id for row in over])


def _by_priority(readies: Sequence[Ready]) -> dict[Priority, list[Ready]]:
    found: dict[Priority, list[Ready]] = {}
    for ready in readies:
        found.setdefault(ready.timer.priority, []).append(ready)
    return found


def _plain(one: Reached) -> bool:
    return len(one.step.verdicts) == 1 and not one.ready.job.exclusive


def _refused(
    timer: Timer, at: datetime, wake: datetime | None, reason: str, now: datetime, passed: Sequence[Verdict] = ()
) -> Skip:
    log.error("fire.refused", job=str(timer.job_id), fire_time=at.isoformat(), reason=reason)
    last = passed[-1] if passed else None
    until = last.until if isinstance(last, Skips) else last.fire_time if last is not None else at
    fires = sum(verdict.fires if isinstance(verdict, Skips) else 1 for verdict in passed) or 1
    return skip_row(timer, Skips(at, until, fires, SkipReason.REFUSED), wake, now, reason)

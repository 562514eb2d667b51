"""Ends instances that were due and waited too long, whatever held them back.

1. A walk reads everything that is due and waits in the shards of this node: what a gate holds back, what waits for a
   worker, and what waits behind another fire of its job. It reads page by page, some pages in a round.
2. The definition of each instance says how long it may wait. One whose definition is not to be had goes on waiting.
3. The end is written only over a row that is as it was read: a claim, a move or a cancellation in between wins. A claim
   that comes later finds no row, so nothing is sent that has ended.
4. Timers of ended instances that wait at a closed gate are dropped, so that the next probe is a call that can be made.

While nothing that this node pushes waits, a walk over it begins once an hour: what is due and not in memory is of a
paused job or tenant. Queues are walked once a minute, because only their rows know whether something waits in them.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from horae.domain.expiry import WaitingInstance, expire, expires_at
from horae.domain.jobs import Job
from horae.domain.lifecycle import State
from horae.domain.placement import Run
from horae.domain.signals import Ending as Counts
from horae.domain.timers import Timer
from horae.engine.admission.gatekeeper import Gatekeeper
from horae.engine.agenda import Agenda
from horae.engine.feeder import EVERY_CLASS
from horae.engine.territory import Territory
from horae.runtime.telemetry import log
from horae.store import expiry, instances, jobs
from horae.store.cells import Cell
from horae.store.definitions import Definitions
from horae.store.expiry import BlockedMark, Expiration, QueueClass, QueueMark
from horae.store.looks import BEGINNING, Mark
from horae.store.tx import Tx

ROWS_PER_CLASS: Final = 200
"""Rows of each class that one statement reads."""
ROWS_ENDED_AT_ONCE: Final = 500
CLASSES_AT_ONCE: Final = 50
PAGES_PER_ROUND: Final = 20
PUSHED_INTERVAL: Final = timedelta(seconds=10)
IDLE_PUSHED_INTERVAL: Final = timedelta(hours=1)
UNPUSHED_INTERVAL: Final = timedelta(seconds=60)
MAX_NAMES_LOGGED: Final = 3
Waiting = tuple[WaitingInstance, Job]
Pages = AsyncIterator[list[WaitingInstance]]


class Expirer:
    """A duty of a node in one cell. `waiting` says how many are due on this node and were not sent."""

    def __init__(
        self,
        cell: Cell,
        territory: Territory,
        definitions: Definitions,
        gatekeeper: Gatekeeper,
        agenda: Agenda,
        follow: Callable[[Timer], None],
        waiting: Callable[[], int],
    ) -> None:
        self.cell = cell
        self.territory = territory
        self.definitions = definitions
        self.gatekeeper = gatekeeper
        self.agenda = agenda
        self.follow = follow
        self.waiting = waiting
        self._walk: Pages | None = None
        self._pushed_at = self._unpushed_at = BEGINNING

    async def once(self) -> int:
        """Some pages of the walk, until one of them had something to end; returns how many were ended."""
        if not self.territory.shards or not self.cell.clock.trusted:
            return 0
        if self._walk is None:
            self._walk = self._pages(self._begin())
        for _ in range(PAGES_PER_ROUND):
            page = await anext(self._walk, None)
            if page is None:
                self._walk = None
                return 0
            if ended := await self._expire(page):
                return ended
        return 0

    def _begin(self) -> list[Callable[[Run], Pages]]:
        """The walks whose time has come. A clock that was set back counts as time that has passed."""
        now = self.cell.clock.now()
        walks: list[Callable[[Run], Pages]] = []
        if abs(now - self._unpushed_at) >= UNPUSHED_INTERVAL:
            self._unpushed_at = now
            walks += [self._blocked, self._queued]  # what waits behind a fire ends before that fire would release it
        if abs(now - self._pushed_at) >= (PUSHED_INTERVAL if self.waiting() else IDLE_PUSHED_INTERVAL):
            self._pushed_at = now
            walks.append(self._pushed)
        return walks

    async def _pages(self, walks: Sequence[Callable[[Run], Pages]]) -> Pages:
        for run in self.territory.runs:
            for walk in walks:
                async for page in walk(run):
                    yield page

    async def _pushed(self, run: Run) -> Pages:
        marks = {class_: Mark(*class_) for class_ in EVERY_CLASS}
        while marks:
            async with self.cell.statement() as tx:
                page = await expiry.overdue(tx, run, list(marks.values()), ROWS_PER_CLASS)
            rows: dict[tuple[int, int], list[WaitingInstance]] = defaultdict(list)
            for row in page:
                rows[row.priority, row.lane].append(row)
            for class_ in list(marks):
                if len(rows[class_]) < ROWS_PER_CLASS:
                    del marks[class_]
                else:
                    last = rows[class_][-1]
                    marks[class_] = marks[class_]._replace(at=last.due_at, shard=last.shard, id=last.id)
            yield page

    async def _blocked(self, run: Run) -> Pages:
        mark, more = BlockedMark(), True
        while more:
            async with self.cell.statement() as tx:
                page = await expiry.blocked(tx, run, mark, ROWS_PER_CLASS)
            more = len(page) == ROWS_PER_CLASS
            if more:
                mark = BlockedMark(page[-1].shard, page[-1].job_id, page[-1].id)
            yield page

    async def _queued(self, run: Run) -> Pages:
        """A class with more than a page is read to its end before the next ones."""
        mark, more = QueueMark(), True
        while more:
            async with self.cell.statement() as tx:
                rows = await expiry.queued(tx, run, mark, CLASSES_AT_ONCE, ROWS_PER_CLASS)
            found: defaultdict[QueueClass, list[WaitingInstance]] = defaultdict(list)
            for class_, row in rows:
                found[class_] += [row] if row is not None else []
            cut = next((class_ for class_, members in found.items() if len(members) == ROWS_PER_CLASS), None)
            more = cut is not None or len(found) == CLASSES_AT_ONCE
            if cut is not None:
                mark = QueueMark(cut, found[cut][-1].due_at, found[cut][-1].id)
            elif more:
                last = next(reversed(found))
                mark = QueueMark(last, self.cell.clock.now(), UUID(int=(1 << 128) - 1))
            yield [row for members in found.values() for row in members]

    async def _expire(self, page: Sequence[WaitingInstance]) -> int:
        ours = [row for row in page if row.shard in self.territory.shards]
        if not ours:
            return 0
        wanted = {(row.shard, row.job_id, row.job_version) for row in ours}
        known, now = await self.definitions.load_from(self.cell, wanted), self.cell.clock.now()
        over = [
            (row, job)
            for row in ours
            if (job := known.get((row.job_id, row.job_version))) is not None and _is_over(row, job, now)
        ]
        ended = 0
        for first in range(0, len(over), ROWS_ENDED_AT_ONCE):
            ended += await self._end(over[first : first + ROWS_ENDED_AT_ONCE])
        return ended

    async def _end(self, over: Sequence[Waiting]) -> int:
        reasons = {job.id: self.gatekeeper.held_by(job) for _, job in over}
        endings = [Expiration(row, expire(row, job, reasons[job.id])) for row, job in over]

        async def work(tx: Tx) -> tuple[set[UUID], list[Timer]]:
            ended = await expiry.end(tx, endings)
            gone = [(row, job) for row, job in over if row.id in ended]
            singles = [job for _, job in gone if job.single]
            if singles:
                await jobs.complete(tx, [job.shard for job in singles], [job.id for job in singles])
            freed = [(row.shard, job.id) for row, job in gone if job.exclusive]
            blocked = await instances.blocked(tx, freed) if freed else []
            return ended, await instances.release(tx, blocked) if blocked else []

        ended, released = await self.cell.run(work)
        for timer in released:
            self.follow(timer)
        self._count([ending for ending in endings if ending.waiting.id in ended])
        self._drop([(row, job) for row, job in over if row.id in ended])
        return len(ended)

    def _count(self, endings: Sequence[Expiration]) -> None:
        for row, ended in endings:
            how = Counts.DEAD if ended.state == State.DEAD else Counts.SKIPPED
            self.cell.tally.ended(row.tenant_id, row.priority, row.lane, how)

    def _drop(self, gone: Sequence[Waiting]) -> None:
        """Forget the timers of ended instances where they wait first; others fail their claim."""
        if not gone:
            return
        found = {job.id: job for _, job in gone}
        ids = {row.id for row, _ in gone}
        for job in found.values():
            for ready in self.gatekeeper.drop(job, ids):
                self.agenda.forget(ready.timer)
        names = sorted({job.name for job in found.values()})[:MAX_NAMES_LOGGED]
        log.warning("instance.expired", cell=self.cell.name, count=len(gone), jobs=names)


def _is_over(waiting: WaitingInstance, job: Job, now: datetime) -> bool:
    at = expires_at(waiting, job)
    return at is not None and at <= now
